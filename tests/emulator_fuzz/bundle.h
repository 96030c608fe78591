// Programs for another machine, in one file: code objects and what the host got.
//
// A bundle is a sequence of records, each: 64-bit sizes of the architecture's name, of the code
// object and of the answers, then those bytes. An answer is the 64-bit digest of one program's
// results. Numbers are little-endian. Written and read by the same build; not for untrusted files.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"

namespace hipplan::fuzz {

struct Record {
  std::string arch;
  Bytes code;
  std::vector<uint64_t> answers;  ///< program_0, program_1, …
};

inline void append_record(Bytes& to, const Record& record) {
  append(to, static_cast<uint64_t>(record.arch.size()));
  append(to, static_cast<uint64_t>(record.code.size()));
  append(to, static_cast<uint64_t>(record.answers.size()));
  for (const char c : record.arch) append(to, c);
  to.insert(to.end(), record.code.begin(), record.code.end());
  for (const uint64_t answer : record.answers) append(to, answer);
}

inline Result<std::vector<Record>> read_records(ByteView bytes) {
  std::vector<Record> out;
  const Error cut{.code = Code::damaged, .reason = "bundle", .what = "the bundle is cut off"};
  for (uint64_t at = 0; at < bytes.size();) {
    const auto name = load<uint64_t>(bytes, at), code = load<uint64_t>(bytes, at + 8),
               answers = load<uint64_t>(bytes, at + 16);
    if (!name || !code || !answers || *answers > bytes.size() / 8) return cut;
    const auto arch = slice(bytes, at + 24, *name);
    const auto object = slice(bytes, at + 24 + *name, *code);
    const auto digests = slice(bytes, at + 24 + *name + *code, 8 * *answers);
    if (!arch || !object || !digests) return cut;
    Record record;
    for (const std::byte c : *arch) record.arch += static_cast<char>(c);
    record.code.assign(object->begin(), object->end());
    for (uint64_t i = 0; i < *answers; ++i)
      record.answers.push_back(*load<uint64_t>(*digests, 8 * i));
    out.push_back(std::move(record));
    at += 24 + *name + *code + 8 * *answers;
  }
  return out;
}

/// FNV-1a over results in which each NaN of a float counts as one value.
inline uint64_t digest_of(std::span<const uint32_t> results, size_t values, size_t first_float) {
  uint64_t hash = 0xcbf29ce484222325ull;
  for (size_t i = 0; i < results.size(); ++i) {
    const bool nan = i % values >= first_float && (results[i] & 0x7fffffffu) > 0x7f800000u;
    const uint32_t value = nan ? 0x7fc00000u : results[i];
    for (unsigned shift = 0; shift < 32; shift += 8) {
      hash ^= value >> shift & 255u;
      hash *= 0x100000001b3ull;
    }
  }
  return hash;
}

}  // namespace hipplan::fuzz
