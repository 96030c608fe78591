// Ed25519 signatures over a file's directory digest, and the keys that are trusted
// (docs/plan-format.md, "Signature block").
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/result.h"
#include "plan/reasons.h"

namespace hipplan::plan {

inline constexpr uint16_t kEd25519 = 1;

struct Signature {
  uint16_t algorithm = kEd25519;
  Digest key_id;  ///< SHA-256 of the public key's DER SubjectPublicKeyInfo
  std::vector<uint8_t> bytes = std::vector<uint8_t>(64);  ///< as long as the algorithm makes them
};

/// The signatures of a block in order of key id; header and digest are checked first. Fails with
/// damaged, reason "signature-block".
Result<std::vector<Signature>> parse_signatures(ByteView block, const std::string& where);
/// A block; of two signatures by one key the later stays.
[[nodiscard]] Bytes encode_signatures(const std::vector<Signature>& signatures);

/// A private key in PEM form, as `openssl genpkey -algorithm ed25519` makes it. Any thread.
class PrivateKey {
 public:
  /// Fails with bad_input, reason "key". Keys under a passphrase are refused.
  static Result<PrivateKey> read(const std::filesystem::path& path);
  Result<Signature> sign(const Digest& directory_digest) const;
  [[nodiscard]] const Digest& id() const { return id_; }

 private:
  std::shared_ptr<void> key_;
  Digest id_;
};

/// A key in a trust folder.
struct TrustedKey {
  std::string name;                  ///< of its file
  std::optional<int64_t> not_after;  ///< seconds since 1970; nothing: without end
  Digest id;
  std::shared_ptr<void> key;
};

/// The public keys of a folder: each *.pem file, which must be a regular one, holds one key in PEM
/// form; a line "not-after: YYYY-MM-DD" before it ends the trust with that day (UTC). A line that
/// only looks like that, or stands behind the key, is refused.
class TrustStore {
 public:
  /// Fails with bad_input, reason "trust-folder" (not a folder, no key, no regular file, a bad
  /// date) or "key".
  static Result<TrustStore> load(const std::filesystem::path& folder);
  [[nodiscard]] const TrustedKey* find(const Digest& key_id) const;

 private:
  std::vector<TrustedKey> keys_;
};

/// What a signature is worth.
enum class Verdict { good, bad, unknown_key, expired };
[[nodiscard]] const char* verdict_text(Verdict verdict);
[[nodiscard]] Verdict judge(const Signature& signature, const Digest& directory_digest,
                            const TrustStore& trust, int64_t now);

/// A file's signatures: those in its signature block and those of a detached one.
struct SignatureSet {
  Digest directory_digest;
  std::vector<Signature> embedded, detached;
};
/// Reads header, directory digest and signature blocks, and nothing else. `detached` may be empty.
Result<SignatureSet> read_signatures(ByteView file, ByteView detached, const std::string& where);

/// A trusted key that has signed a file.
struct Signer {
  std::string name;  ///< of the key's file in the trust folder
  Digest id;
};

/// Succeeds when a trusted key has signed and no signature by a trusted key is wrong: with those
/// keys, each once, in the order of signatures. Otherwise untrusted, the first of: "unsigned",
/// "bad-signature", "expired-trust", "unknown-key".
Result<std::vector<Signer>> require_signed(const SignatureSet& signatures, const TrustStore& trust,
                                           int64_t now, const std::string& where);

/// For WriteOptions::sign: the block that this key makes.
[[nodiscard]] inline auto signer(const PrivateKey& key) {
  return [key](const Digest& directory_digest) -> Result<Bytes> {
    HIPPLAN_TRY_ASSIGN(const auto signature, key.sign(directory_digest));
    return encode_signatures({signature});
  };
}

/// Succeeds for regular files and links to them, and for what is not there. A pipe that nobody
/// writes to would be waited for.
Result<void> require_regular(const std::filesystem::path& path, const Reason& reason);

/// Name of a file's detached signature block: the file's own with ".sig" behind it.
[[nodiscard]] std::filesystem::path detached_path(const std::filesystem::path& file);

/// That block's bytes; none when there is none. What is no regular file is refused (bad_input,
/// reason "open").
Result<FileView> read_detached(const std::filesystem::path& file);

/// Signs `file` in place, or writes its detached block; signatures by other keys stay. The file is
/// checked whole before it is signed. Signers of one file wait for each other. One that has the
/// most signatures that a block holds is refused: bad_input, reason "signature-count".
Result<void> sign_file(const std::filesystem::path& file, const PrivateKey& key, bool detached);

}  // namespace hipplan::plan
