// Ed25519 keys in PEM form: private ones, and folders of trusted public ones.
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <algorithm>
#include <chrono>
#include <cstring>

#include "base/file.h"
#include "plan/errors.h"
#include "plan/signature.h"

namespace hipplan::plan {
namespace fs = std::filesystem;
namespace {

constexpr uint64_t kMostKeyBytes = 1 << 20;
constexpr std::string_view kDomain = "hipplan.signature.1";

struct FreeContext {
  void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
};
using Context = std::unique_ptr<EVP_MD_CTX, FreeContext>;

EVP_PKEY* key_of(const std::shared_ptr<void>& key) {
  return static_cast<EVP_PKEY*>(key.get());
}

/// What is signed: a text that no other use of a key signs, a zero byte, the digest.
Bytes message(const Digest& directory_digest) {
  Bytes out(kDomain.size() + 1 + directory_digest.bytes.size());
  std::memcpy(out.data(), kDomain.data(), kDomain.size());
  std::memcpy(out.data() + kDomain.size() + 1, directory_digest.bytes.data(),
              directory_digest.bytes.size());
  return out;
}

const unsigned char* raw(const Bytes& bytes) {
  return reinterpret_cast<const unsigned char*>(bytes.data());
}

/// Never asks for a passphrase on the terminal.
int no_passphrase(char*, int, int, void*) {
  return 0;
}

/// What a file is that holds no key of the kind wanted: by the first line of its PEM block, or the
/// algorithm of the key that was read.
std::string what_is(ByteView text, EVP_PKEY* key) {
  constexpr std::string_view kBegin = "-----BEGIN ";
  const std::string_view all = as_text(text);
  const size_t at = all.find(kBegin);
  if (at == std::string_view::npos) return "no PEM block";
  const std::string_view rest = all.substr(at + kBegin.size());
  const std::string_view label = rest.substr(0, rest.find("-----"));
  const auto is = [&](std::string_view part) { return label.find(part) != std::string_view::npos; };
  if (label == "ENCRYPTED PRIVATE KEY" || all.find("Proc-Type: 4,ENCRYPTED") != all.npos)
    return "a private key behind a passphrase";
  if (key != nullptr) {
    // Keys of providers have names and no numbers.
    const char* algorithm = EVP_PKEY_get0_type_name(key);
    return cat(algorithm != nullptr ? algorithm : "an unnamed kind of",
               is("PUBLIC") ? " public key" : " private key");
  }
  if (is("PUBLIC KEY")) return "a public key";
  if (label == "PRIVATE KEY") return "a private key";
  return quote(std::string(label.substr(0, 40)));
}

/// `wanted`: "private" or "public".
Error key_error(const fs::path& path, const std::string& wanted, const std::string& found) {
  const bool is_private = wanted == "private";
  return bad_input(
      "key", path.string(),
      cat("not ", is_private ? "a private" : "a public", " key to ",
          is_private ? "sign with" : "trust"),
      cat("an Ed25519 ", wanted, " key in PEM form", is_private ? " without passphrase" : ""),
      found,
      is_private
          ? "openssl genpkey -algorithm ed25519 -out key.pem makes one"
          : "openssl pkey -in key.pem -pubout -out key.pub.pem takes it out of a private one");
}

/// The key that `read` finds in a PEM text, and its id.
template <class Read>
Result<std::pair<std::shared_ptr<void>, Digest>> load_key(ByteView text, const fs::path& path,
                                                          const char* what, Read read) {
  if (text.empty()) return key_error(path, what, "an empty file");
  constexpr std::string_view kBegin = "-----BEGIN ";
  const std::string_view all = as_text(text);
  const size_t first = all.find(kBegin);
  if (first != std::string_view::npos && all.find(kBegin, first + 1) != std::string_view::npos)
    return key_error(path, what, "several keys in one file");
  const std::unique_ptr<BIO, int (*)(BIO*)> bio(
      BIO_new_mem_buf(text.data(), static_cast<int>(text.size())), BIO_free);
  if (!bio) return machine("sign", path.string(), "out of memory");
  std::shared_ptr<void> key(read(bio.get(), nullptr, no_passphrase, nullptr),
                            [](void* p) { EVP_PKEY_free(static_cast<EVP_PKEY*>(p)); });
  if (!key || EVP_PKEY_id(key_of(key)) != EVP_PKEY_ED25519)
    return key_error(path, what, what_is(text, key_of(key)));
  unsigned char* der = nullptr;
  const int size = i2d_PUBKEY(key_of(key), &der);
  if (size <= 0) return key_error(path, what, "a key that cannot be written");
  const Digest id = sha256({reinterpret_cast<const std::byte*>(der), static_cast<size_t>(size)});
  OPENSSL_free(der);
  return std::pair(std::move(key), id);
}

/// Seconds since 1970 at the end of a day "YYYY-MM-DD".
std::optional<int64_t> end_of_day(std::string_view text) {
  const auto number = [&](size_t at, size_t digits) {
    int out = 0;
    for (size_t i = at; i < at + digits; ++i) {
      if (text[i] < '0' || text[i] > '9') return -1;
      out = out * 10 + (text[i] - '0');
    }
    return out;
  };
  if (text.size() != 10 || text[4] != '-' || text[7] != '-') return std::nullopt;
  const int year = number(0, 4), month = number(5, 2), day = number(8, 2);
  if (year < 0 || month < 0 || day < 0) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(year),
                                         std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  if (!date.ok()) return std::nullopt;
  constexpr int64_t kDay = 86400;
  return (std::chrono::sys_days(date).time_since_epoch().count() + 1) * kDay - 1;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r";
  const size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

constexpr std::string_view kEndOfTrust = "not-after:";

/// Whether a line means to end the trust, rightly written or not: its letters alone tell.
bool means_end_of_trust(std::string_view line) {
  constexpr std::string_view kLetters = "notafter";
  std::string letters;
  for (const char c : line) {
    const char lower = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    if (lower >= 'a' && lower <= 'z') letters += lower;
    if (letters.size() == kLetters.size()) break;
  }
  return letters == kLetters;
}

Error end_of_trust_error(const fs::path& path, const std::string& what, std::string_view found) {
  return bad_input("trust-folder", path.string(), what,
                   "one line \"not-after: YYYY-MM-DD\" in front of the key", quote(found));
}

/// The date in a line that means to end the trust.
Result<int64_t> parse_end_of_trust(std::string_view line, bool behind_key, const fs::path& path) {
  if (!line.starts_with(kEndOfTrust))
    return end_of_trust_error(path, "end of the trust is not written as it must be", line);
  if (behind_key) return end_of_trust_error(path, "end of the trust stands behind the key", line);
  const std::string_view date = trimmed(line.substr(kEndOfTrust.size()));
  if (const auto end = end_of_day(date)) return *end;
  return end_of_trust_error(path, "end of the trust is no date", date);
}

/// The date of a line "not-after: …" in front of the key. A line outside the key that only looks
/// like one is refused: who wrote it believes that the trust ends.
Result<std::optional<int64_t>> read_not_after(std::string_view text, const fs::path& path) {
  constexpr std::string_view kMark = "\xef\xbb\xbf";  // what some editors put in front of UTF-8
  std::optional<int64_t> out;
  enum { front, key, behind } place = front;
  for (bool first = true; !text.empty(); first = false) {
    const size_t end = text.find_first_of("\r\n");
    const std::string_view whole = text.substr(0, end), line = trimmed(whole);
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    const bool marked = first && whole.starts_with(kMark);
    if (place == front && whole.substr(marked ? kMark.size() : 0).starts_with("-----BEGIN "))
      place = key;
    if (place == key && whole.starts_with("-----END ")) {
      place = behind;
      continue;
    }
    if (place == key || !means_end_of_trust(line)) continue;
    HIPPLAN_TRY_ASSIGN(const auto day, parse_end_of_trust(line, place == behind, path));
    if (out && *out != day) return end_of_trust_error(path, "trust has two ends that differ", line);
    out = day;
  }
  return out;
}

Result<TrustedKey> read_trusted(const fs::path& path) {
  HIPPLAN_TRY(require_regular(path, "trust-folder"));
  HIPPLAN_TRY_ASSIGN(const auto file, FileView::open(path, kMostKeyBytes));
  TrustedKey out;
  out.name = path.filename().string();
  HIPPLAN_TRY_ASSIGN(out.not_after, read_not_after(as_text(file.view()), path));
  HIPPLAN_TRY_ASSIGN(auto loaded, load_key(file.view(), path, "public", PEM_read_bio_PUBKEY));
  out.key = std::move(loaded.first);
  out.id = loaded.second;
  return out;
}

bool verifies(const Signature& signature, const Digest& directory_digest, EVP_PKEY* key) {
  const Context context(EVP_MD_CTX_new());
  const Bytes text = message(directory_digest);
  return context && EVP_DigestVerifyInit(context.get(), nullptr, nullptr, nullptr, key) == 1 &&
         EVP_DigestVerify(context.get(), signature.bytes.data(), signature.bytes.size(), raw(text),
                          text.size()) == 1;
}

}  // namespace

Result<PrivateKey> PrivateKey::read(const fs::path& path) {
  HIPPLAN_TRY_ASSIGN(const auto file, FileView::open(path, kMostKeyBytes));
  HIPPLAN_TRY_ASSIGN(auto loaded, load_key(file.view(), path, "private", PEM_read_bio_PrivateKey));
  PrivateKey out;
  out.key_ = std::move(loaded.first);
  out.id_ = loaded.second;
  return out;
}

Result<Signature> PrivateKey::sign(const Digest& directory_digest) const {
  Signature out;
  out.key_id = id_;
  const Context context(EVP_MD_CTX_new());
  const Bytes text = message(directory_digest);
  size_t size = out.bytes.size();
  const bool done =
      context && EVP_DigestSignInit(context.get(), nullptr, nullptr, nullptr, key_of(key_)) == 1 &&
      EVP_DigestSign(context.get(), out.bytes.data(), &size, raw(text), text.size()) == 1;
  if (!done || size != out.bytes.size())
    return machine("sign", "key " + id_.hex(), "signing failed");
  return out;
}

Result<TrustStore> TrustStore::load(const fs::path& folder) {
  std::error_code failed;
  std::vector<fs::path> paths;
  fs::directory_iterator it(folder, failed), end;
  for (; !failed && it != end; it.increment(failed))
    if (it->path().extension() == ".pem") paths.push_back(it->path());
  if (failed)
    return bad_input("trust-folder", folder.string(), "cannot read the folder: " + failed.message(),
                     "a folder of public keys");
  if (paths.empty())
    return bad_input("trust-folder", folder.string(), "folder holds no key",
                     "files NAME.pem with one public key each", "none");
  std::sort(paths.begin(), paths.end());
  TrustStore out;
  for (const auto& path : paths) {
    HIPPLAN_TRY_ASSIGN(auto key, read_trusted(path));
    if (const auto* other = out.find(key.id))
      return bad_input("trust-folder", path.string(), "key is there twice", "each key once",
                       "the key of " + other->name);
    out.keys_.push_back(std::move(key));
  }
  return out;
}

const TrustedKey* TrustStore::find(const Digest& key_id) const {
  const auto found = std::find_if(keys_.begin(), keys_.end(),
                                  [&](const TrustedKey& key) { return key.id == key_id; });
  return found == keys_.end() ? nullptr : &*found;
}

Verdict judge(const Signature& signature, const Digest& directory_digest, const TrustStore& trust,
              int64_t now) {
  const auto* key = trust.find(signature.key_id);
  if (key == nullptr || signature.algorithm != kEd25519) return Verdict::unknown_key;
  if (!verifies(signature, directory_digest, key_of(key->key))) return Verdict::bad;
  return key->not_after && now > *key->not_after ? Verdict::expired : Verdict::good;
}

}  // namespace hipplan::plan
