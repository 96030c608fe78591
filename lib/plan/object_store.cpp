#include "plan/object_store.h"

#include "plan/errors.h"

namespace hipplan::plan {

Result<void> ObjectStore::insert(const ObjectKey& key, ByteView raw) {
  if (objects_.contains(key)) return {};
  Stored object;
  object.raw_bytes = raw.size();
  Bytes compressed;
  if (key.first != kCodeSection || options_.compress_code) {
    HIPPLAN_TRY_ASSIGN(compressed, compressor_.compress(raw));
  }
  const ByteView stored = compressed.empty() ? raw : ByteView(compressed);
  object.compression = compressed.empty() ? kStored : kZstd;
  object.stored_bytes = stored.size();
  HIPPLAN_TRY_ASSIGN(object.spool_offset, spool_.add(stored));
  objects_.emplace(key, object);
  return {};
}

Result<ObjectKey> ObjectStore::add(uint16_t type, ByteView raw) {
  const ObjectKey key{type, sha256(raw)};
  HIPPLAN_TRY(insert(key, raw));
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
  HIPPLAN_TRY(insert(key, *code));
  return key;
}

Result<void> ObjectStore::add_stored(const ObjectRef& ref, ByteView stored) {
  const ObjectKey key{ref.type, ref.sha256};
  const auto known = objects_.find(key);
  if (known != objects_.end() && known->second.stored_bytes <= stored.size()) return {};
  Stored object{0, stored.size(), ref.raw_bytes, ref.compression};
  HIPPLAN_TRY_ASSIGN(object.spool_offset, spool_.add(stored));
  objects_[key] = object;
  return {};
}

}  // namespace hipplan::plan
