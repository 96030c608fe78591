#include "plan/object_store.h"

#include "plan/errors.h"

namespace hipplan::plan {

Result<void> ObjectStore::add_checked(const ObjectKey& key, ByteView raw) {
  if (contains(key)) return {};
  Packed packed(raw);
  if (key.first == kCodeSection && compress_code_) {
    HIPPLAN_TRY_ASSIGN(packed, compressor_.compress(raw));
  }
  const ByteView stored = packed.stored();
  HIPPLAN_TRY_ASSIGN(const uint64_t spooled, spool_.add(stored));
  objects_[key] = {spooled, stored.size(), raw.size(), packed.compression()};
  return {};
}

Result<ObjectKey> ObjectStore::add(uint16_t type, ByteView raw) {
  const ObjectKey key{type, sha256(raw)};
  HIPPLAN_TRY(add_checked(key, raw));
  return key;
}

Result<ObjectKey> ObjectStore::add_code(const Code& code, const Digest& digest,
                                        const std::string& where) {
  // Many plans hold the same code object by the same pointer: it is hashed once.
  const auto known = hashed_.find(code.get());
  Digest actual;
  if (known != hashed_.end() && known->second.first.lock() == code) {
    actual = known->second.second;
  } else {
    constexpr size_t kMostHeld = 1024;
    if (hashed_.size() >= kMostHeld) hashed_.clear();
    actual = sha256(*code);
    hashed_[code.get()] = {code, actual};
  }
  if (actual != digest)
    return bad_input("code-digest", where, "code object does not match its digest", digest.hex(),
                     actual.hex());
  const ObjectKey key{kCodeSection, digest};
  HIPPLAN_TRY(add_checked(key, *code));
  return key;
}

Result<void> ObjectStore::add_stored_code(const ObjectRef& ref, ByteView stored) {
  const ObjectKey key{ref.type, ref.sha256};
  if (holds_smaller(key, stored.size())) return {};
  HIPPLAN_TRY_ASSIGN(const uint64_t spooled, spool_.add(stored));
  objects_[key] = {spooled, stored.size(), ref.raw_bytes, ref.compression};
  return {};
}

}  // namespace hipplan::plan
