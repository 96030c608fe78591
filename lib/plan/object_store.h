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
      : options_(options),
        spool_(options.memory_bytes),
        compressor_(options.compression_level),
        text_compressor_(kTextLevel) {}

  struct Stored {
    uint64_t spool_offset = 0, stored_bytes = 0, raw_bytes = 0;
    uint8_t compression = kStored;
    /// Whether this is the form that a frame of its own has; else it is raw.
    bool settled = true;
  };
  /// Texts stay raw until it is known whether they lie alone or in groups.
  Result<ObjectKey> add(uint16_t type, ByteView raw);
  /// The same for bytes whose digest is known to be the key's.
  Result<void> add_checked(const ObjectKey& key, ByteView raw);
  /// Fails with bad_input, reason "code-digest", when the bytes are not those of `digest`.
  Result<ObjectKey> add_code(const Code& code, const Digest& digest, const std::string& where);
  /// Takes over a frame that holds exactly this object; the smaller of two forms is kept.
  Result<void> add_stored(const ObjectRef& ref, ByteView stored);
  [[nodiscard]] bool contains(const ObjectKey& key) const { return objects_.contains(key); }
  [[nodiscard]] const Stored& find(const ObjectKey& key) const { return objects_.at(key); }
  /// Whether the form held is one that add_stored() would keep.
  [[nodiscard]] bool holds_smaller(const ObjectKey& key, uint64_t stored_bytes) const {
    return find(key).settled && find(key).stored_bytes <= stored_bytes;
  }
  [[nodiscard]] Result<Bytes> raw(const Stored& object) const;
  /// Gives an object the form of a frame of its own: compressed where that is smaller.
  Result<void> settle(const ObjectKey& key);
  /// Several texts as one frame, or one where they are measured; always at one level, so that the
  /// same texts give the same bytes. Empty when that is not smaller.
  Result<Bytes> compress_text(ByteView raw) { return text_compressor_.compress(raw); }
  /// Bytes that are not objects (records' envelopes, groups) share the spool.
  Result<uint64_t> spool(ByteView bytes) { return spool_.add(bytes); }
  [[nodiscard]] Result<Bytes> unspool(uint64_t offset, uint64_t size) const {
    return spool_.read(offset, size);
  }

 private:
  static constexpr int kTextLevel = 3;
  Result<void> put_alone(uint16_t type, ByteView raw, Stored& object);
  WriteOptions options_;
  Spool spool_;
  Compressor compressor_, text_compressor_;
  std::map<ObjectKey, Stored> objects_;
  std::map<const ByteView*, std::pair<std::weak_ptr<const ByteView>, Digest>> hashed_;
};

}  // namespace hipplan::plan
