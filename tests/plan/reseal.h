// Editing files behind the back of their digests: change something, then make the digests right
// again.
#pragma once

#include <functional>

#include "plan/layout.h"
#include "plan/sealed.h"
#include "sample.h"

namespace hipplan::test {

template <class T>
void store(Bytes& to, uint64_t offset, const T& value) {
  std::memcpy(to.data() + offset, &value, sizeof(T));
}

/// Makes the digest of a sealed piece (payload, envelope) right.
inline void reseal(Bytes& sealed) {
  const ByteView view = sealed;
  const Digest digest = Sha256().update(view.first(16)).update(view.subspan(48)).finish();
  store(sealed, 16, digest.bytes);
}

/// Makes the directory digest right.
inline void reseal_front(Bytes& file) {
  const ByteView view = file;
  const auto directory = slice(view, *load<uint64_t>(view, 24), *load<uint64_t>(view, 32));
  if (!directory) return;
  store(file, 96, Sha256().update(view.first(96)).update(*directory).finish().bytes);
}

/// Makes the section digests right, and then the directory's. The index root is set from a one-page
/// index.
inline void reseal_sections(Bytes& file) {
  const ByteView view = file;
  const uint64_t count = *load<uint64_t>(view, 32) / plan::kDirectoryEntryBytes;
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t at = plan::kHeaderBytes + i * plan::kDirectoryEntryBytes;
    const auto section = slice(view, *load<uint64_t>(view, at + 8), *load<uint64_t>(view, at + 16));
    if (!section) continue;
    store(file, at + 64, sha256(*section).bytes);
    if (*load<uint16_t>(view, at) == plan::kIndexSection && section->size() <= plan::kPageBytes)
      store(file, 64, sha256(*section).bytes);
  }
  reseal_front(file);
}

inline uint64_t section_offset(const Bytes& file, uint16_t type) {
  const ByteView view = file;
  for (uint64_t at = plan::kHeaderBytes;; at += plan::kDirectoryEntryBytes)
    if (*load<uint16_t>(view, at) == type) return *load<uint64_t>(view, at + 8);
}

/// Makes everything right from the record's envelope up, in a file of one plan.
inline void reseal_all(Bytes& file) {
  const uint64_t plans = section_offset(file, plan::kPlansSection);
  const uint64_t index = section_offset(file, plan::kIndexSection);
  const auto record_bytes = *load<uint32_t>(file, plans);
  if (auto record = slice(file, plans, record_bytes))
    store(file, index + 8 + 76, sha256(*record).bytes);
  reseal_sections(file);
}

}  // namespace hipplan::test
