// What a writer holds, and where everything will lie. Inside lib/plan only.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "plan/object_layout.h"
#include "plan/object_store.h"
#include "plan/output.h"
#include "plan/plan.h"

namespace hipplan::plan {

/// A plan waiting to be written.
struct Pending {
  Digest plan_digest;
  std::vector<ObjectKey> parts;  ///< sorted, each once
  uint64_t spool_offset = 0;     ///< of the envelope
  uint64_t envelope_bytes = 0;
  uint16_t minor = kContainerMinor;  ///< version of the file that parts it has come from
};
using EntryKey = std::pair<Digest, std::string>;

struct UnknownSection {
  Section section;
  Bytes bytes;
  uint16_t minor = kContainerMinor;  ///< of the file it comes from
};

struct Writer::State {
  explicit State(const WriteOptions& options) : store(options), sign(options.sign) {}

  ObjectStore store;
  std::function<Result<Bytes>(const Digest&)> sign;
  std::map<EntryKey, Pending> entries;
  std::map<uint16_t, UnknownSection> unknown;

  // Filled by put().
  std::map<uint16_t, ObjectLayout> objects;
  std::vector<EntryInfo> index;
  std::vector<Section> sections;
  Header header;

  /// `minor`: the lowest version of a file that may hold the parts.
  Result<void> enter(const Plan& plan, std::vector<ObjectKey> parts,
                     uint16_t minor = kContainerMinor);
  Result<std::vector<ObjectKey>> add_parts(const Plan& plan, const std::string& place);
  Result<void> add_extra(const Plan& plan, std::vector<ObjectKey>& parts);
  Result<void> check_complete() const;
  Result<void> place_objects();
  void place_records();
  [[nodiscard]] uint16_t lowest_minor() const;
  Result<void> place_sections();
  Record record_of(const Pending& entry, ByteView envelope) const;
  Result<void> put_records(Output& out, Section& section);
  Result<void> put_objects(Output& out, Section& section) const;
  Result<void> put_section(Output& out, Section& section);
  Result<void> put(Output& out);
};

}  // namespace hipplan::plan
