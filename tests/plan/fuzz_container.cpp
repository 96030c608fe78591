// Container bytes: as they come, with the directory digest right, and with all digests right.
#include <cstdlib>

#include "plan/diff.h"
#include "plan/materials.h"
#include "plan/plan.h"
#include "plan/print.h"
#include "plan/signature.h"
#include "reseal.h"

using namespace hipplan;

namespace {

/// Everything that is read without a full check.
void show(const plan::File& file) {
  std::string text;
  (void)plan::show_text(file, {}, text);
  json::Writer out;
  plan::ShowOptions options;
  options.texts = true;
  (void)plan::show_json(file, options, out);
  (void)plan::diff_files(file, file);
  (void)plan::materials_of(file);
}

/// Whether all plans can be read and written.
bool saved_again(const plan::File& file) {
  plan::Writer writer({});
  bool all = true;
  const auto walked = file.for_each([&](const plan::EntryInfo& entry) {
    const auto read = file.read_plan(entry, true);
    all = all && read && writer.add(*read).ok();
    return all;
  });
  return walked && all && writer.to_bytes().ok();
}

bool has_front(const Bytes& bytes) {
  if (bytes.size() < plan::kHeaderBytes) return false;
  const auto directory = slice(bytes, *load<uint64_t>(bytes, 24), *load<uint64_t>(bytes, 32));
  return directory && !directory->empty() && *load<uint64_t>(bytes, 24) == plan::kHeaderBytes;
}

/// Whether the first section of a type, which resealing goes by, has room for what it writes.
bool has_room(const Bytes& bytes, uint16_t wanted, size_t least) {
  const uint64_t end = plan::kHeaderBytes + *load<uint64_t>(bytes, 32);
  for (uint64_t at = plan::kHeaderBytes; at + plan::kDirectoryEntryBytes <= end;
       at += plan::kDirectoryEntryBytes) {
    if (*load<uint16_t>(bytes, at) != wanted) continue;
    const auto part = slice(bytes, *load<uint64_t>(bytes, at + 8), *load<uint64_t>(bytes, at + 16));
    return part && part->size() >= least;
  }
  return false;
}

bool has_sections(const Bytes& bytes) {
  constexpr size_t kFirstLeafEntry = 8 + 32 + 32 + 8 + 4 + 32;  // up to its record's digest
  return has_room(bytes, plan::kIndexSection, kFirstLeafEntry) &&
         has_room(bytes, plan::kPlansSection, plan::kRecordHeaderBytes);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto* first = reinterpret_cast<const std::byte*>(data);
  Bytes bytes(first, first + size);
  (void)plan::File::parse(bytes, "fuzz", plan::Check::lookup);
  (void)plan::read_signatures(bytes, bytes, "fuzz");
  if (!has_front(bytes)) return 0;
  test::reseal_front(bytes);
  if (const auto file = plan::File::parse(bytes, "fuzz", plan::Check::lookup))
    (void)saved_again(*file);
  if (!has_sections(bytes)) return 0;
  test::reseal_all(bytes);
  if (const auto file = plan::File::parse(bytes, "fuzz", plan::Check::lookup)) show(*file);
  const auto file = plan::File::parse(bytes, "fuzz", plan::Check::full);
  if (!file) return 0;
  (void)plan::size_report(*file);
  // A file that a full check lets through can be read and written as a whole.
  if (!saved_again(*file)) std::abort();
  return 0;
}
