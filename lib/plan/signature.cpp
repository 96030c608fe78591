// Signature blocks: reading, writing, and what a file's signatures are worth.
#include "plan/signature.h"

#include <algorithm>
#include <cstring>

#include "base/file.h"
#include "base/file_lock.h"
#include "plan/errors.h"
#include "plan/front.h"
#include "plan/plan.h"

namespace hipplan::plan {
namespace fs = std::filesystem;
namespace {

constexpr uint64_t kCountAt = 12, kKeyIdAt = 8, kBytesAt = 40, kEd25519Bytes = 64;
/// Of a block; a reader may hold one in memory.
constexpr uint64_t kMostSignatures = 1024, kMostBlockBytes = 1 << 20;

Error untrusted(const Reason& reason, const std::string& where, std::string what,
                std::string expected, std::string found) {
  return {.code = ErrorCode::untrusted,
          .reason = reason.text(),
          .where = where,
          .what = std::move(what),
          .expected = std::move(expected),
          .found = std::move(found),
          .advice = "take the file from its publisher, or sign it with a trusted key"};
}

/// A block that readers take: as many signatures as they allow, at most.
Result<Bytes> encode_checked(const std::vector<Signature>& signatures, const std::string& where) {
  Bytes out = encode_signatures(signatures);
  const auto count = *load<uint32_t>(out, kCountAt);
  if (count <= kMostSignatures && out.size() <= kMostBlockBytes) return out;
  return bad_input("signature-count", where, "has no room for another signature",
                   cat("at most ", kMostSignatures, " in ", kMostBlockBytes, " bytes"),
                   cat(count, " in ", out.size(), " bytes"));
}

/// The signature that starts at `at`, whose record says how long it is. Of algorithms that are not
/// known only the frame is checked.
Result<Signature> parse_signature(ByteView block, uint64_t at, const std::string& where) {
  const auto algorithm = load<uint16_t>(block, at), zero = load<uint16_t>(block, at + 2);
  const auto size = load<uint32_t>(block, at + 4);
  const auto record = size ? slice(block, at, *size) : std::nullopt;
  if (!record)
    return damaged("signature-block", where, "signature lies beyond the block's end",
                   cat("within ", block.size(), " bytes"),
                   cat(size ? cat(*size, " bytes") : std::string("a record"), " at ", at));
  if (*zero != 0)
    return damaged("signature-block", where, "reserved bytes are not zero", "0", cat(*zero));
  const bool known = *algorithm == kEd25519;
  if (known ? *size != kBytesAt + kEd25519Bytes : *size <= kBytesAt || *size % 8 != 0)
    return damaged("signature-block", where, "signature has a wrong size",
                   known ? cat(kBytesAt + kEd25519Bytes, " bytes, as all of Ed25519 have")
                         : cat("a multiple of 8 above ", kBytesAt),
                   cat(*size, " bytes"));
  Signature out;
  out.algorithm = *algorithm;
  out.key_id.bytes = *load<std::array<uint8_t, 32>>(*record, kKeyIdAt);
  out.bytes.resize(*size - kBytesAt);
  std::memcpy(out.bytes.data(), record->data() + kBytesAt, out.bytes.size());
  return out;
}

Result<std::vector<Signature>> parse_or_none(ByteView block, const std::string& where) {
  if (block.empty()) return std::vector<Signature>();
  return parse_signatures(block, where);
}

}  // namespace

Result<std::vector<Signature>> parse_signatures(ByteView block, const std::string& where) {
  HIPPLAN_TRY(check_signature_block(block, where));
  const auto format = *load<uint16_t>(block, 8);
  if (format != 1) return version_error(where, "signature block", format, 0, 1, 0);
  const auto count = *load<uint32_t>(block, kCountAt);
  if (count == 0 || count > kMostSignatures || block.size() > kMostBlockBytes)
    return damaged("signature-block", where, "wrong number of signatures, or too many bytes",
                   cat("1 to ", kMostSignatures, ", at most ", kMostBlockBytes, " bytes"),
                   cat(count, " in ", block.size(), " bytes"));
  std::vector<Signature> out;
  uint64_t at = kSignatureHeaderBytes;
  for (uint32_t i = 0; i < count; ++i) {
    const std::string place = cat(where, ": signature ", i);
    HIPPLAN_TRY_ASSIGN(auto signature, parse_signature(block, at, place));
    if (!out.empty() && out.back().key_id >= signature.key_id)
      return damaged("signature-block", place, "signature is out of order", "ascending key ids",
                     signature.key_id.hex());
    at += kBytesAt + signature.bytes.size();
    out.push_back(std::move(signature));
  }
  if (at != block.size())
    return damaged("signature-block", where, "bytes behind the last signature", cat(at, " bytes"),
                   cat(block.size(), " bytes"));
  return out;
}

Bytes encode_signatures(const std::vector<Signature>& signatures) {
  std::map<Digest, const Signature*> by_key;
  for (const auto& signature : signatures) by_key[signature.key_id] = &signature;
  Bytes records;
  for (const auto& [id, signature] : by_key) {
    append(records, signature->algorithm);
    append(records, uint16_t{0});
    append(records, static_cast<uint32_t>(kBytesAt + signature->bytes.size()));
    append(records, id.bytes);
    append(records, std::as_bytes(std::span(signature->bytes)));
  }
  Bytes out;
  append(out, kSignatureMagic);
  append(out, uint16_t{1});
  append(out, uint16_t{0});
  append(out, static_cast<uint32_t>(by_key.size()));
  append(out, uint64_t{kSignatureHeaderBytes + records.size()});
  append(out, uint64_t{0});
  append(out, Sha256().update(out).update(records).finish().bytes);
  append(out, ByteView(records));
  return out;
}

const char* verdict_text(Verdict verdict) {
  switch (verdict) {
    case Verdict::good:
      return "good";
    case Verdict::bad:
      return "bad";
    case Verdict::unknown_key:
      return "unknown-key";
    case Verdict::expired:
      return "expired";
  }
  return "unknown-key";
}

Result<SignatureSet> read_signatures(ByteView file, ByteView detached, const std::string& where) {
  HIPPLAN_TRY_ASSIGN(const auto front, read_sealed_front(file, where));
  SignatureSet out;
  out.directory_digest = front.header.directory_digest;
  HIPPLAN_TRY_ASSIGN(out.embedded,
                     parse_or_none(front.signature_block, where + ": signature block"));
  auto beside = parse_or_none(detached, where + ".sig");
  if (!beside) {
    // The plan file itself may be sound.
    Error error = beside.error();
    if (error.code == ErrorCode::damaged)
      error.advice = "fetch the signature again, or sign the file again";
    return error;
  }
  out.detached = std::move(*beside);
  return out;
}

Result<std::vector<Signer>> require_signed(const SignatureSet& signatures, const TrustStore& trust,
                                           int64_t now, const std::string& where) {
  std::vector<Signature> all = signatures.embedded;
  all.insert(all.end(), signatures.detached.begin(), signatures.detached.end());
  if (all.empty())
    return untrusted("unsigned", where, "file is not signed", "a signature by a trusted key",
                     "none");
  const TrustedKey* expired = nullptr;
  std::vector<Signer> good;
  const auto is_new = [&](const Digest& id) {
    return std::ranges::none_of(good, [&](const Signer& other) { return other.id == id; });
  };
  for (const auto& signature : all) {
    const auto verdict = judge(signature, signatures.directory_digest, trust, now);
    const auto* key = trust.find(signature.key_id);
    if (verdict == Verdict::bad)
      return untrusted("bad-signature", where, "signature is not over this file",
                       "a signature by " + key->name + " over directory digest " +
                           signatures.directory_digest.hex(),
                       "another one");
    if (verdict == Verdict::good && is_new(key->id)) good.push_back({key->name, key->id});
    if (verdict == Verdict::expired) expired = key;
  }
  if (!good.empty()) return good;
  if (expired != nullptr)
    return untrusted("expired-trust", where, "trust in the key has ended",
                     "a signature by a key that is trusted today", "one by " + expired->name);
  return untrusted("unknown-key", where, "no signature is by a trusted key",
                   "a signature by a key of the trust folder",
                   cat(all.size(), " by others, first key ", all.front().key_id.hex()));
}

Result<void> require_regular(const fs::path& path, const Reason& reason) {
  std::error_code ignored;
  const auto type = fs::status(path, ignored).type();
  // What is missing or cannot be looked at is told by who opens it.
  if (type == fs::file_type::regular || type == fs::file_type::not_found ||
      type == fs::file_type::none)
    return {};
  return bad_input(reason, path.string(), "not a regular file", "a regular file",
                   type == fs::file_type::directory ? "a folder" : "a pipe, socket or device");
}

fs::path detached_path(const fs::path& file) {
  fs::path out = file;
  out += ".sig";
  return out;
}

Result<FileView> read_detached(const fs::path& file) {
  const fs::path beside = detached_path(file);
  std::error_code ignored;
  if (!fs::exists(beside, ignored)) return FileView();
  HIPPLAN_TRY(require_regular(beside, "open"));
  HIPPLAN_TRY_ASSIGN(auto out, FileView::open(beside, kMostBlockBytes));
  if (out.view().empty())
    return damaged("signature-block", beside.string(), "file is empty", "a signature block",
                   "0 bytes");
  return out;
}

Result<void> sign_file(const fs::path& path, const PrivateKey& key, bool detached) {
  // What a pipe gives cannot be signed where it lies.
  HIPPLAN_TRY(require_regular(path, "open"));
  // Two signers who read the same file would write over each other's signature.
  HIPPLAN_TRY_ASSIGN(const auto lock, FileLock::take(path));
  HIPPLAN_TRY_ASSIGN(const auto file, File::open(path, Check::full));
  HIPPLAN_TRY_ASSIGN(const auto signature, key.sign(file.directory_digest()));
  std::vector<Signature> all;
  if (!detached) {
    HIPPLAN_TRY_ASSIGN(all,
                       parse_or_none(file.signature_block(), path.string() + ": signature block"));
    all.push_back(signature);
    HIPPLAN_TRY_ASSIGN(const auto block, encode_checked(all, path.string()));
    HIPPLAN_TRY_ASSIGN(auto out, AtomicFile::create(path));
    HIPPLAN_TRY(out.write(file.bytes().first(file.bytes().size() - file.signature_block().size())));
    HIPPLAN_TRY(out.write(block));
    return out.commit();
  }
  const fs::path beside = detached_path(path);
  HIPPLAN_TRY_ASSIGN(const auto old, read_detached(path));
  HIPPLAN_TRY_ASSIGN(all, parse_or_none(old.view(), beside.string()));
  all.push_back(signature);
  HIPPLAN_TRY_ASSIGN(const auto block, encode_checked(all, beside.string()));
  return write_file(beside, block);
}

}  // namespace hipplan::plan
