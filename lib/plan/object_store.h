// Objects waiting to be written: each content once, compressed where that is smaller.
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
      : options_(options), spool_(options.memory_bytes), compressor_(options.compression_level) {}

  struct Stored {
    uint64_t spool_offset = 0, stored_bytes = 0, raw_bytes = 0;
    uint8_t compression = kStored;
  };
  Result<ObjectKey> add(uint16_t type, ByteView raw);
  /// Fails with bad_input, reason "code-digest", when the bytes are not those of `digest`.
  Result<ObjectKey> add_code(const Code& code, const Digest& digest, const std::string& where);
  /// Takes over a frame that holds exactly this object; the smaller of two forms is kept.
  Result<void> add_stored(const ObjectRef& ref, ByteView stored);
  [[nodiscard]] bool contains(const ObjectKey& key) const { return objects_.contains(key); }
  [[nodiscard]] const Stored& find(const ObjectKey& key) const { return objects_.at(key); }
  [[nodiscard]] Result<Bytes> read(const Stored& object) const {
    return spool_.read(object.spool_offset, object.stored_bytes);
  }
  /// Bytes that are not objects (records' envelopes) share the spool.
  Result<uint64_t> spool(ByteView bytes) { return spool_.add(bytes); }
  [[nodiscard]] Result<Bytes> unspool(uint64_t offset, uint64_t size) const {
    return spool_.read(offset, size);
  }

 private:
  Result<void> insert(const ObjectKey& key, ByteView raw);
  WriteOptions options_;
  Spool spool_;
  Compressor compressor_;
  std::map<ObjectKey, Stored> objects_;
  std::map<const ByteView*, std::pair<std::weak_ptr<const ByteView>, Digest>> hashed_;
};

}  // namespace hipplan::plan
