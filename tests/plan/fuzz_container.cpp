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

void check(const Bytes& bytes, plan::Check how) {
  const auto file = plan::File::parse(bytes, "fuzz", how);
  if (!file) return;
  plan::Writer writer({});
  bool all = true;
  const auto walked = file->for_each([&](const plan::EntryInfo& entry) {
    const auto read = file->read_plan(entry, true);
    all = all && read && writer.add(*read).ok();
    return all;
  });
  std::string text;
  (void)plan::show_text(*file, {}, text);
  json::Writer out;
  plan::ShowOptions options;
  options.texts = true;
  (void)plan::show_json(*file, options, out);
  if (how == plan::Check::full) (void)plan::size_report(*file);
  (void)plan::diff_files(*file, *file);
  (void)plan::materials_of(*file);
  // A file that a full check lets through can be read and written as a whole.
  if (how == plan::Check::full && (!walked || !all || !writer.to_bytes())) std::abort();
}

bool has_front(const Bytes& bytes) {
  if (bytes.size() < plan::kHeaderBytes) return false;
  const auto directory = slice(bytes, *load<uint64_t>(bytes, 24), *load<uint64_t>(bytes, 32));
  return directory && !directory->empty() && *load<uint64_t>(bytes, 24) == plan::kHeaderBytes;
}

bool has_sections(const Bytes& bytes) {
  bool index = false, plans = false;
  const uint64_t end = plan::kHeaderBytes + *load<uint64_t>(bytes, 32);
  for (uint64_t at = plan::kHeaderBytes; at + plan::kDirectoryEntryBytes <= end;
       at += plan::kDirectoryEntryBytes) {
    const auto type = *load<uint16_t>(bytes, at);
    const auto part = slice(bytes, *load<uint64_t>(bytes, at + 8), *load<uint64_t>(bytes, at + 16));
    index = index || (type == plan::kIndexSection && part && part->size() >= 256);
    plans = plans || (type == plan::kPlansSection && part && part->size() >= 16);
  }
  return index && plans;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto* first = reinterpret_cast<const std::byte*>(data);
  Bytes bytes(first, first + size);
  check(bytes, plan::Check::lookup);
  (void)plan::read_signatures(bytes, bytes, "fuzz");
  if (!has_front(bytes)) return 0;
  test::reseal_front(bytes);
  check(bytes, plan::Check::lookup);
  if (!has_sections(bytes)) return 0;
  test::reseal_all(bytes);
  check(bytes, plan::Check::full);
  return 0;
}
