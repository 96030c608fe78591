// Objects waiting to be written: each content once.
#pragma once

#include <map>
#include <memory>
#include <utility>

#include "plan/compress.h"
#include "plan/layout.h"
#include "plan/plan.h"
#include "plan/spool.h"

namespace hipplan::plan {

/// Names an object: section type and digest of the raw bytes.
using ObjectKey = std::pair<uint16_t, Digest>;

class ObjectStore {
 public:
  explicit ObjectStore(const WriteOptions& options)
      : compress_code_(options.compress_code), spool_(options.memory_bytes) {}

  /// Code objects have the form of a frame of their own. All others are raw until it is known
  /// whether they lie alone or in groups.
  struct Stored {
    uint64_t spool_offset = 0, stored_bytes = 0, raw_bytes = 0;
    uint8_t compression = kStored;
  };
  Result<ObjectKey> add(uint16_t type, ByteView raw);
  /// The same for bytes whose digest is known to be the key's.
  Result<void> add_checked(const ObjectKey& key, ByteView raw);
  /// Fails with bad_input, reason "code-digest", when the bytes are not those of `digest`.
  Result<ObjectKey> add_code(const Code& code, const Digest& digest, const std::string& where);
  /// Takes over a frame that holds exactly this code object; the smaller of two forms is kept.
  Result<void> add_stored_code(const ObjectRef& ref, ByteView stored);
  [[nodiscard]] bool contains(const ObjectKey& key) const { return objects_.contains(key); }
  [[nodiscard]] const Stored& find(const ObjectKey& key) const { return objects_.at(key); }
  /// Whether the code object is held, and in a form that add_stored_code() would keep.
  [[nodiscard]] bool holds_smaller(const ObjectKey& key, uint64_t stored_bytes) const {
    return contains(key) && find(key).stored_bytes <= stored_bytes;
  }
  /// The bytes of an object that is held raw.
  [[nodiscard]] Result<Bytes> text(const Stored& object) const {
    return spool_.read(object.spool_offset, object.raw_bytes);
  }
  Result<Packed> compress(ByteView raw) { return compressor_.compress(raw); }
  /// Bytes that are not objects (records' envelopes, groups) share the spool.
  Result<uint64_t> spool(ByteView bytes) { return spool_.add(bytes); }
  [[nodiscard]] Result<Bytes> unspool(uint64_t offset, uint64_t size) const {
    return spool_.read(offset, size);
  }

 private:
  bool compress_code_;
  Spool spool_;
  Compressor compressor_;
  std::map<ObjectKey, Stored> objects_;
  std::map<const ByteView*, std::pair<std::weak_ptr<const ByteView>, Digest>> hashed_;
};

}  // namespace hipplan::plan
