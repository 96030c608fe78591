#include "plan/object_store.h"

#include "plan/errors.h"

namespace hipplan::plan {

Result<void> ObjectStore::put_alone(uint16_t type, ByteView raw, Stored& object) {
  Bytes compressed;
  if (type != kCodeSection || options_.compress_code) {
    HIPPLAN_TRY_ASSIGN(compressed, compressor_.compress(raw));
  }
  const ByteView stored = compressed.empty() ? raw : ByteView(compressed);
  HIPPLAN_TRY_ASSIGN(const uint64_t spooled, spool_.add(stored));
  object = {spooled, stored.size(), raw.size(),
            static_cast<uint8_t>(compressed.empty() ? kStored : kZstd), true};
  return {};
}

Result<void> ObjectStore::settle(const ObjectKey& key) {
  auto& object = objects_.at(key);
  if (object.settled) return {};
  HIPPLAN_TRY_ASSIGN(const auto bytes, raw(object));
  return put_alone(key.first, bytes, object);
}

Result<Bytes> ObjectStore::raw(const Stored& object) const {
  HIPPLAN_TRY_ASSIGN(auto stored, spool_.read(object.spool_offset, object.stored_bytes));
  if (object.compression == kStored) return stored;
  return decompress(stored, object.raw_bytes, "object to be written");
}

Result<void> ObjectStore::add_checked(const ObjectKey& key, ByteView raw) {
  if (objects_.contains(key)) return {};
  Stored object{0, raw.size(), raw.size(), kStored, false};
  if (key.first == kCodeSection) {
    HIPPLAN_TRY(put_alone(key.first, raw, object));
  } else {
    HIPPLAN_TRY_ASSIGN(object.spool_offset, spool_.add(raw));
  }
  objects_.emplace(key, object);
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

Result<void> ObjectStore::add_stored(const ObjectRef& ref, ByteView stored) {
  const ObjectKey key{ref.type, ref.sha256};
  if (contains(key) && holds_smaller(key, stored.size())) return {};
  Stored object{0, stored.size(), ref.raw_bytes, ref.compression, true};
  HIPPLAN_TRY_ASSIGN(object.spool_offset, spool_.add(stored));
  objects_[key] = object;
  return {};
}

}  // namespace hipplan::plan
