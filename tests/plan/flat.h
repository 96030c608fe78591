// FlatBuffers laid out by hand, for files of others whose schema is not at hand.
#pragma once

#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/hash.h"

namespace hipplan::test {

/// One field of a root table, in the order of its slots.
struct FlatField {
  enum class Kind { absent, byte, word, number, list } kind = Kind::absent;
  int64_t value = 0;
  Bytes items = {};         ///< of a list
  uint64_t item_bytes = 1;  ///< of a list
};

inline FlatField absent() {
  return {};
}
inline FlatField byte_field(uint8_t value) {
  return {FlatField::Kind::byte, value};
}
inline FlatField word_field(uint32_t value) {
  return {FlatField::Kind::word, value};
}
inline FlatField number_field(int64_t value) {
  return {FlatField::Kind::number, value};
}
inline FlatField bytes_field(Bytes bytes) {
  return {FlatField::Kind::list, 0, std::move(bytes), 1};
}
inline FlatField numbers_field(const std::vector<int64_t>& numbers) {
  Bytes items;
  for (const int64_t number : numbers) append(items, number);
  return {FlatField::Kind::list, 0, std::move(items), 8};
}

inline void pad_to(Bytes& bytes, uint64_t multiple) {
  while (bytes.size() % multiple != 0) bytes.push_back(std::byte{0});
}

inline void put_word(Bytes& bytes, uint64_t at, uint32_t value) {
  std::memcpy(bytes.data() + at, &value, sizeof value);
}

/// A buffer whose root table has these fields; `identifier` is empty or 4 characters. Lists are
/// aligned to 16.
inline Bytes flat_buffer(const std::vector<FlatField>& fields, const std::string& identifier = "") {
  constexpr uint64_t kSlot = 8;  // every field gets as much room
  Bytes out;
  append(out, uint32_t{0});
  append(out, as_bytes(identifier));
  const uint64_t vtable = out.size();
  append(out, static_cast<uint16_t>(4 + 2 * fields.size()));
  append(out, static_cast<uint16_t>(kSlot * (1 + fields.size())));
  for (size_t i = 0; i < fields.size(); ++i)
    append(out,
           static_cast<uint16_t>(fields[i].kind == FlatField::Kind::absent ? 0 : kSlot * (1 + i)));
  pad_to(out, kSlot);
  const uint64_t table = out.size();
  put_word(out, 0, static_cast<uint32_t>(table));
  append(out, static_cast<int32_t>(table - vtable));
  append(out, uint32_t{0});
  for (const auto& field : fields) append(out, field.value);
  for (size_t i = 0; i < fields.size(); ++i) {
    if (fields[i].kind != FlatField::Kind::list) continue;
    while ((out.size() + 4) % 16 != 0) out.push_back(std::byte{0});
    const uint64_t place = table + kSlot * (1 + i);
    put_word(out, place, static_cast<uint32_t>(out.size() - place));
    append(out, static_cast<uint32_t>(fields[i].items.size() / fields[i].item_bytes));
    append(out, fields[i].items);
  }
  return out;
}

/// hipDNN's plan: version 1 has no alignments, and leaves out fields that have their default.
inline Bytes hipdnn_plan(uint32_t version, const Bytes& payload) {
  std::vector<FlatField> fields = {word_field(version), number_field(77), number_field(4096),
                                   numbers_field({5, -6, 7}), bytes_field(payload)};
  if (version == 2) {
    fields.push_back(byte_field(1));
    fields.push_back(numbers_field({16, 16, 256}));
  }
  return flat_buffer(fields);
}

/// The ingestor's payload: its header, and a body that holds `code` as a list aligned to 16.
inline Bytes ingestor_payload(const Bytes& code) {
  Bytes body = flat_buffer({number_field(1), bytes_field(code)}, "HKSP");
  Bytes out;
  append(out, as_bytes("HKIP"));
  for (const int number : {1, 0, 1, 48}) append(out, static_cast<uint16_t>(number));
  append(out, uint32_t{0});
  append(out, sha256(body).bytes);
  append(out, body);
  return out;
}

inline Bytes hipdnn_container(const Bytes& graph, const Bytes& plan) {
  return flat_buffer({bytes_field(graph), bytes_field(plan)}, "HDGP");
}

}  // namespace hipplan::test
