// Signatures: made, judged, and refused with the right reason before anything else is looked at.
#include <doctest/doctest.h>

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <sys/stat.h>

#include <atomic>
#include <thread>

#include "plan/extract.h"
#include "plan/signature.h"
#include "reseal.h"

using namespace hipplan;
using namespace hipplan::plan;
using namespace hipplan::test;

namespace {

constexpr int64_t kNow = 1'800'000'000;  // in January 2027

/// Writes NAME.key.pem and trust/NAME.pem.
void make_key(const ScratchFolder& folder, const std::string& name, const std::string& head = "") {
  EVP_PKEY* key = EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519");
  REQUIRE(key != nullptr);
  const auto save = [&](const std::filesystem::path& path, const std::string& first, auto write) {
    BIO* bio = BIO_new(BIO_s_mem());
    write(bio);
    char* text = nullptr;
    const auto size = static_cast<size_t>(BIO_get_mem_data(bio, &text));
    REQUIRE(write_file(path, as_bytes(first + std::string(text, size))));
    BIO_free(bio);
  };
  std::filesystem::create_directories(folder / "trust");
  save(folder / (name + ".key.pem"), "",
       [&](BIO* to) { PEM_write_bio_PrivateKey(to, key, nullptr, nullptr, 0, nullptr, nullptr); });
  save(folder / ("trust/" + name + ".pem"), head, [&](BIO* to) { PEM_write_bio_PUBKEY(to, key); });
  EVP_PKEY_free(key);
}

PrivateKey key_of(const ScratchFolder& folder, const std::string& name) {
  auto key = PrivateKey::read(folder / (name + ".key.pem"));
  REQUIRE_MESSAGE(key.ok(), (key ? "" : key.error().text()));
  return *key;
}

TrustStore trust_of(const ScratchFolder& folder) {
  auto trust = TrustStore::load(folder / "trust");
  REQUIRE_MESSAGE(trust.ok(), (trust ? "" : trust.error().text()));
  return *trust;
}

Bytes signed_file(const std::vector<PrivateKey>& keys, unsigned plan = 1) {
  WriteOptions options;
  options.sign = [&](const Digest& digest) -> Result<Bytes> {
    std::vector<Signature> all;
    for (const auto& key : keys) all.push_back(*key.sign(digest));
    return encode_signatures(all);
  };
  return file_of({sample_plan(plan)}, options);
}

/// Reason of the refusal, "good" when there is none.
std::string judged(ByteView file, const TrustStore& trust, ByteView detached = {},
                   int64_t now = kNow) {
  const auto set = read_signatures(file, detached, "x");
  if (!set) return set.error().reason;
  const auto result = require_signed(*set, trust, now, "x");
  if (result) return "good";
  CHECK(result.error().code == hipplan::Code::untrusted);
  return result.error().reason;
}

}  // namespace

TEST_CASE("signed files are good to who trusts the key, and keep digest and plan") {
  const ScratchFolder folder;
  make_key(folder, "one");
  make_key(folder, "two");
  const auto one = key_of(folder, "one"), two = key_of(folder, "two");
  const auto trust = trust_of(folder);
  const Bytes plain = file_of({sample_plan(1)});
  CHECK(judged(plain, trust) == "unsigned");
  for (const auto& file : {signed_file({one}), signed_file({two, one})}) {
    CHECK(judged(file, trust) == "good");
    CHECK(Bytes(file.begin(), file.begin() + static_cast<ptrdiff_t>(plain.size())) == plain);
    const auto opened = open_bytes(file);
    REQUIRE(opened);
    CHECK(opened->directory_digest() == open_bytes(plain)->directory_digest());
    CHECK(opened->find(sample_key(1), "gfx942")->value().plan_digest ==
          plan_digest(sample_plan(1)));
  }
  CHECK(signed_file({two, one}) == signed_file({one, two}));
  CHECK(signed_file({one, one}) == signed_file({one}));
}

TEST_CASE("a signature of a later algorithm stands beside one that is verified") {
  const ScratchFolder folder;
  make_key(folder, "one");
  const auto one = key_of(folder, "one");
  const auto trust = trust_of(folder);
  const auto with = [&](uint16_t algorithm, size_t bytes, bool ours) {
    WriteOptions options;
    options.sign = [&](const Digest& digest) -> Result<Bytes> {
      Signature other{.algorithm = algorithm, .key_id = sample_key(7), .bytes = {}};
      other.bytes.assign(bytes, 0x5a);
      std::vector<Signature> all{other};
      if (ours) all.push_back(*one.sign(digest));
      return encode_signatures(all);
    };
    return judged(file_of({sample_plan(1)}, options), trust);
  };
  for (const size_t bytes : {8, 64, 3312, 65536}) {
    CHECK(with(2, bytes, true) == "good");
    CHECK(with(2, bytes, false) == "unknown-key");
  }
  // No bytes, no multiple of 8, a block of more than 1 MiB.
  for (const size_t bytes : {0, 9, 1 << 20}) CHECK(with(2, bytes, true) == "signature-block");
  CHECK(with(1, 72, true) == "signature-block");  // Ed25519 has one size
}

TEST_CASE("each refusal has its reason") {
  const ScratchFolder folder;
  make_key(folder, "one");
  make_key(folder, "old", "not-after: 2026-12-31\n");
  const auto trust = trust_of(folder);
  make_key(folder, "stranger");
  const auto one = key_of(folder, "one"), old = key_of(folder, "old"),
             stranger = key_of(folder, "stranger");
  CHECK(judged(signed_file({stranger}), trust) == "unknown-key");
  CHECK(judged(signed_file({stranger, one}), trust) == "good");
  CHECK(judged(signed_file({old}), trust) == "expired-trust");
  CHECK(judged(signed_file({old}), trust, {}, 1'798'761'599) == "good");  // the day's last second
  CHECK(judged(signed_file({old}), trust, {}, 1'798'761'600) == "expired-trust");
  CHECK(judged(signed_file({old, one}), trust) == "good");
  // A signature over another file.
  Bytes file = file_of({sample_plan(1)});
  const auto theirs = open_bytes(signed_file({one}, 2));
  REQUIRE(theirs);
  append(file, theirs->signature_block());
  CHECK(judged(file, trust) == "bad-signature");
  // A wrong signature by a trusted key is refused even beside a good one by another.
  const auto ours = *one.sign(open_bytes(file)->directory_digest());
  Signature wrong = *old.sign(Digest());
  Bytes both = file_of({sample_plan(1)});
  append(both, ByteView(encode_signatures({ours, wrong})));
  CHECK(judged(both, trust) == "bad-signature");
  wrong.algorithm = 9;
  both = file_of({sample_plan(1)});
  append(both, ByteView(encode_signatures({wrong})));
  CHECK(judged(both, trust) == "unknown-key");
}

TEST_CASE("every bit of a signature counts") {
  const ScratchFolder folder;
  make_key(folder, "one");
  const auto trust = trust_of(folder);
  const Digest digest = sha256(as_bytes("x"));
  const auto good = *key_of(folder, "one").sign(digest);
  CHECK(judge(good, digest, trust, kNow) == Verdict::good);
  for (size_t bit = 0; bit < 512; ++bit) {
    Signature bad = good;
    bad.bytes[bit / 8] ^= static_cast<uint8_t>(1u << (bit % 8));
    CHECK(judge(bad, digest, trust, kNow) == Verdict::bad);
  }
  Digest other = digest;
  other.bytes[31] ^= 1;
  CHECK(judge(good, other, trust, kNow) == Verdict::bad);
}

TEST_CASE("trust is asked before anything behind the directory is looked at") {
  const ScratchFolder folder;
  make_key(folder, "one");
  const auto trust = trust_of(folder);
  Bytes file = file_of({sample_plan(1)});
  // Everything behind the directory is gone: still "unsigned", not damage.
  const uint64_t end = *load<uint64_t>(file, 24) + *load<uint64_t>(file, 32);
  std::fill(file.begin() + static_cast<ptrdiff_t>(end), file.end(), std::byte{0xff});
  CHECK(judged(file, trust) == "unsigned");
  // So is the directory's own form, and the version.
  store(file, 8, uint16_t{9});
  store(file, 128, uint16_t{0xffff});
  reseal_front(file);
  CHECK(judged(file, trust) == "unsigned");
  CHECK(open_bytes(file).error().reason == "format-too-new");
  file[130] ^= std::byte{1};
  CHECK(judged(file, trust) == "directory-digest");
}

TEST_CASE("files on disk are signed in place or beside, again and by others") {
  const ScratchFolder folder;
  make_key(folder, "one");
  make_key(folder, "two");
  const auto one = key_of(folder, "one"), two = key_of(folder, "two");
  const auto trust = trust_of(folder);
  const Bytes plain = file_of({sample_plan(1)});
  const auto path = folder / "x.hplan";
  REQUIRE(write_file(path, plain));
  REQUIRE(sign_file(path, one, true));
  CHECK(*read_file(path) == plain);
  const auto beside = read_file(detached_path(path));
  REQUIRE(beside);
  CHECK(judged(plain, trust, *beside) == "good");
  CHECK(judged(file_of({sample_plan(2)}), trust, *beside) == "bad-signature");
  REQUIRE(sign_file(path, two, true));
  CHECK(read_signatures(plain, *read_file(detached_path(path)), "x")->detached.size() == 2);
  REQUIRE(sign_file(path, one, false));
  REQUIRE(sign_file(path, one, false));
  CHECK(*read_file(path) == signed_file({one}));
  REQUIRE(sign_file(path, two, false));
  CHECK(*read_file(path) == signed_file({one, two}));
  Bytes bad = plain;
  bad[bad.size() - 1] ^= std::byte{1};
  REQUIRE(write_file(path, bad));
  CHECK(sign_file(path, one, false).error().code == hipplan::Code::damaged);
}

TEST_CASE("signers at once lose no signature, in the file or beside it") {
  const ScratchFolder folder;
  constexpr int kSigners = 8;
  std::vector<PrivateKey> keys;
  for (int i = 0; i < kSigners; ++i) {
    make_key(folder, cat("key", i));
    keys.push_back(key_of(folder, cat("key", i)));
  }
  const auto path = folder / "x.hplan";
  REQUIRE(write_file(path, file_of({sample_plan(1)})));
  for (const bool beside : {false, true}) {
    std::vector<std::thread> signers;
    std::atomic<int> done{0};
    for (const auto& key : keys)
      signers.emplace_back([&, beside] { done += sign_file(path, key, beside).ok() ? 1 : 0; });
    for (auto& signer : signers) signer.join();
    CHECK(done == kSigners);
  }
  const auto all = read_signatures(*read_file(path), *read_file(detached_path(path)), "x");
  REQUIRE(all);
  CHECK(all->embedded.size() == kSigners);
  CHECK(all->detached.size() == kSigners);
}

TEST_CASE("a file with the most signatures takes no further signer, and is left as it is") {
  const ScratchFolder folder;
  make_key(folder, "one");
  const auto one = key_of(folder, "one");
  const auto full = [&](size_t others) {
    std::vector<Signature> all(others);
    for (size_t i = 0; i < others; ++i)
      all[i].key_id.bytes = {static_cast<uint8_t>(i % 251), static_cast<uint8_t>(i / 251)};
    return encode_signatures(all);
  };
  const auto path = folder / "x.hplan";
  for (const bool beside : {false, true})
    for (const size_t others : {1023u, 1024u}) {
      Bytes plain = file_of({sample_plan(1)});
      if (!beside) append(plain, ByteView(full(others)));
      REQUIRE(write_file(path, plain));
      REQUIRE(write_file(detached_path(path), full(beside ? others : 1)));
      const auto done = sign_file(path, one, beside);
      INFO(beside, " ", others);
      CHECK(done.ok() == (others == 1023));
      if (others == 1024) {
        CHECK(done.error().reason == "signature-count");
        CHECK(*read_file(path) == plain);
      }
      CHECK(read_signatures(*read_file(path), *read_file(detached_path(path)), "x").ok());
      if (others == 1024) continue;
      // The last place is taken; who has signed may sign again.
      CHECK(sign_file(path, one, beside).ok());
    }
}

TEST_CASE("what is no key, no trust folder or no block is told so") {
  const ScratchFolder folder;
  make_key(folder, "one");
  REQUIRE(write_file(folder / "text.pem", as_bytes("hello")));
  CHECK(PrivateKey::read(folder / "text.pem").error().reason == "key");
  CHECK(PrivateKey::read(folder / "trust/one.pem").error().reason == "key");
  CHECK(PrivateKey::read(folder / "none.pem").error().reason == "open");
  CHECK(TrustStore::load(folder / "none").error().reason == "trust-folder");
  std::filesystem::create_directories(folder / "empty");
  CHECK(TrustStore::load(folder / "empty").error().reason == "trust-folder");
  std::filesystem::copy_file(folder / "trust/one.pem", folder / "trust/same.pem");
  CHECK(TrustStore::load(folder / "trust").error().reason == "trust-folder");
  REQUIRE(write_file(folder / "trust/same.pem", as_bytes("not-after: 2026-02-30\n")));
  CHECK(TrustStore::load(folder / "trust").error().reason == "trust-folder");
  REQUIRE(write_file(folder / "trust/same.pem", as_bytes("x")));
  CHECK(TrustStore::load(folder / "trust").error().reason == "key");
  Bytes block = encode_signatures({Signature{}});
  CHECK(parse_signatures(block, "x").ok());
  store(block, 12, uint32_t{2});
  store(block, 32,
        Sha256()
            .update(ByteView(block).first(32))
            .update(ByteView(block).subspan(64))
            .finish()
            .bytes);
  CHECK(parse_signatures(block, "x").error().reason == "signature-block");
}

namespace {

/// "good" when the key is trusted for ever, the end of the trust in seconds, or the reason and the
/// class of the refusal.
std::string loaded(const ScratchFolder& folder, const std::string& text) {
  REQUIRE(write_file(folder / "trust/one.pem", as_bytes(text)));
  const auto trust = TrustStore::load(folder / "trust");
  if (!trust) {
    CHECK(trust.error().code == hipplan::Code::bad_input);
    return trust.error().reason;
  }
  const auto id = key_of(folder, "one").id();
  const auto* key = trust->find(id);
  REQUIRE(key != nullptr);
  return key->not_after ? cat(*key->not_after) : "good";
}

}  // namespace

TEST_CASE("who means to end a trust ends it or is told how") {
  const ScratchFolder folder;
  make_key(folder, "one");
  const Bytes bytes = *read_file(folder / "trust/one.pem");
  const std::string key(as_text(bytes));
  const std::string day = "1577923199";  // the last second of 2020-01-01
  CHECK(loaded(folder, key) == "good");
  CHECK(loaded(folder, "\xef\xbb\xbf" + key) == "good");
  CHECK(loaded(folder, "the key of one, not of after\n" + key + "\nno more\n") == "good");
  for (const char* right :
       {"not-after: 2020-01-01\n", "not-after:2020-01-01\r\n", "  not-after: 2020-01-01  \nwords\n",
        "words\rnot-after: 2020-01-01\r\n", "not-after: 2020-01-01\nnot-after: 2020-01-01\n",
        "-----BEGIN-----\nnot-after: 2020-01-01\n"}) {
    INFO(std::string(right));
    CHECK(loaded(folder, right + key) == day);
  }
  for (const char* wrong :
       {"Not-After: 2020-01-01", "not-after : 2020-01-01", "NOT-AFTER: 2020-01-01",
        "notAfter=Jan  1 00:00:00 2020 GMT", "not_after: 2020-01-01", "not after: 2020-01-01",
        "\xef\xbb\xbfnot-after: 2020-01-01",
        "not\xe2\x80\x91"
        "after: 2020-01-01",
        "# not-after: 2020-01-01", "not-after 2020-01-01", "not-after:", "not-after: 2020-1-1",
        "not-after: 2020-01-01 \v", "not-afterwards: 2020-01-01",
        "not-after: 2020-01-01\nnot-after: 2030-01-01"}) {
    INFO(std::string(wrong));
    CHECK(loaded(folder, wrong + ("\n" + key)) == "trust-folder");
    CHECK(loaded(folder, key + wrong) == "trust-folder");
  }
  CHECK(loaded(folder, key + "not-after: 2020-01-01\n") == "trust-folder");
  CHECK(loaded(folder, "not-after: 2020-01-01\n" + key + "not-after: 2020-01-01\n") ==
        "trust-folder");
  CHECK(loaded(folder, "\xef\xbb\xbf" + key + "not-after: 2020-01-01\n") == "trust-folder");
  // A key of openssl has no such line inside.
  std::string inside = key;
  inside.insert(inside.find('\n') + 1, "not-after: 2020-01-01\n\n");
  CHECK(loaded(folder, inside) == "key");
  REQUIRE(write_file(folder / "trust/one.pem", as_bytes("Not-After: 2020-01-01\n" + key)));
  CHECK(TrustStore::load(folder / "trust").error().expected.find("not-after: YYYY-MM-DD") !=
        std::string::npos);
}

TEST_CASE("pipes and devices are neither keys of a trust folder nor detached signatures") {
  const ScratchFolder folder;
  make_key(folder, "one");
  const auto pipe = folder / "trust/pipe.pem", device = folder / "trust/zero.pem";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  CHECK(TrustStore::load(folder / "trust").error().reason == "trust-folder");
  std::filesystem::remove(pipe);
  std::filesystem::create_symlink("/dev/zero", device);
  CHECK(TrustStore::load(folder / "trust").error().reason == "trust-folder");
  std::filesystem::remove(device);
  // A link to a key is as good as the key.
  std::filesystem::rename(folder / "trust/one.pem", folder / "one.pub");
  std::filesystem::create_symlink(folder / "one.pub", folder / "trust/one.pem");
  CHECK(TrustStore::load(folder / "trust").ok());

  const auto path = folder / "x.hplan";
  REQUIRE(write_file(path, file_of({sample_plan(1)})));
  CHECK(read_detached(path).ok());
  REQUIRE(::mkfifo(detached_path(path).c_str(), 0600) == 0);
  const auto refused = read_detached(path);
  REQUIRE(!refused);
  CHECK(refused.error().code == hipplan::Code::bad_input);
  CHECK(sign_file(path, key_of(folder, "one"), true).error().code == hipplan::Code::bad_input);
  CHECK(sign_file(path, key_of(folder, "one"), false).ok());
}
