// Golden plans that no tool makes: from files that were baked, with parts added that a file of
// format 1.0 may have.
//   make_golden_parts extras FROM.hplan TO.hplan EVIDENCE.json
//     with this evidence, and a part and a section of unknown types
//   make_golden_parts launches FROM.hplan TO.hplan
//     one plan of all: several launches, a workspace, code objects that differ
#include <cstdio>
#include <cstring>
#include <string>

#include "base/file.h"
#include "plan/layout.h"
#include "plan/plan.h"

using namespace hipplan;

namespace {

Result<std::vector<plan::Plan>> plans_of(const std::string& path) {
  HIPPLAN_TRY_ASSIGN(const auto file, plan::File::open(path, plan::Check::full));
  std::vector<plan::Plan> out;
  Result<void> read;
  HIPPLAN_TRY(file.for_each([&](const plan::EntryInfo& entry) {
    auto plan = file.read_plan(entry, true);
    if (plan) out.push_back(*std::move(plan));
    if (!plan) read = plan.error();
    return read.ok();
  }));
  HIPPLAN_TRY(read);
  return out;
}

template <class T>
void store(Bytes& to, uint64_t offset, const T& value) {
  std::memcpy(to.data() + offset, &value, sizeof(T));
}

/// The file with one more section behind the others: optional, of a type for private use.
Bytes with_section(const Bytes& file, const Bytes& extra) {
  constexpr uint64_t kHeader = 128, kEntry = 96;
  const uint64_t count = *load<uint64_t>(file, 32) / kEntry;
  const uint64_t front = kHeader + kEntry * count;
  const uint64_t offset = plan::align_up(file.size() + kEntry, 16);
  Bytes out(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(front));
  for (uint64_t at = kHeader + 8; at < front; at += kEntry)
    store(out, at, *load<uint64_t>(file, at) + kEntry);
  Bytes entry(kEntry);
  store(entry, 0, uint16_t{40000});
  store(entry, 8, offset);
  store(entry, 16, uint64_t{extra.size()});
  store(entry, 24, uint64_t{extra.size()});
  store(entry, 64, sha256(extra).bytes);
  append(out, ByteView(entry));
  append(out, ByteView(file).subspan(front));
  out.resize(offset);
  append(out, ByteView(extra));
  store(out, 16, uint64_t{out.size()});
  store(out, 32, kEntry * (count + 1));
  const ByteView view = out;
  const Digest digest =
      Sha256().update(view.first(96)).update(view.subspan(kHeader, kEntry * (count + 1))).finish();
  store(out, 96, digest.bytes);
  return out;
}

Bytes bytes_of(const std::string& text) {
  const auto view = as_bytes(text);
  return {view.begin(), view.end()};
}

Result<Bytes> extras(std::vector<plan::Plan> plans, const std::string& evidence) {
  plan::Writer writer{plan::WriteOptions{}};
  for (auto& plan : plans) {
    plan.evidence = evidence;
    plan.extra = {{40, bytes_of("a part that no version knows yet")}};
    HIPPLAN_TRY(writer.add(std::move(plan)));
  }
  HIPPLAN_TRY_ASSIGN(const auto file, writer.to_bytes());
  return with_section(file, bytes_of("a section for private use"));
}

/// One plan out of all: the first one's, launching its kernel twice and those of the others once
/// each.
Result<Bytes> launches(const std::vector<plan::Plan>& plans) {
  plan::Plan made = plans.at(0);
  made.payload.kernels.push_back(made.payload.kernels[0]);
  for (size_t i = 1; i < plans.size(); ++i)
    made.payload.kernels.push_back(plans[i].payload.kernels[0]);
  for (size_t i = 0; i < made.payload.kernels.size(); ++i)
    made.payload.kernels[i].launch_name = "launch " + std::to_string(i);
  made.payload.workspace_bytes = 65536;
  made.envelope.workspace_size = 65536;
  plan::Writer writer{plan::WriteOptions{}};
  HIPPLAN_TRY(writer.add(std::move(made)));
  return writer.to_bytes();
}

Result<void> make(const std::vector<std::string>& arguments) {
  HIPPLAN_TRY_ASSIGN(auto plans, plans_of(arguments[1]));
  if (arguments[0] == "launches") {
    HIPPLAN_TRY_ASSIGN(const auto bytes, launches(plans));
    return write_file(arguments[2], bytes);
  }
  HIPPLAN_TRY_ASSIGN(const auto evidence, read_file(arguments.at(3)));
  HIPPLAN_TRY_ASSIGN(const auto bytes, extras(std::move(plans), std::string(as_text(evidence))));
  return write_file(arguments[2], bytes);
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 4) return 2;
  const auto made = make({arguments + 1, arguments + count});
  if (!made) std::fprintf(stderr, "make_golden_parts: %s\n", made.error().text().c_str());
  return made ? 0 : 1;
}
