// inspect list: what this installation has.
#include <algorithm>
#include <array>

#include "base/hash.h"
#include "base/join.h"
#include "base/spelling.h"
#include "commands/inspect_parts.h"
#include "commands/targets.h"
#include "descriptor/loader.h"
#include "device/cuda/cuda.h"
#include "device/hip/hip.h"
#include "device/instructions.h"
#include "engine/dispatch.h"
#include "pipeline/pipeline.h"
#include "restore/provider.h"

namespace hipplan::commands {
namespace {

/// Lines and JSON rows of one listing, made together.
class Listing {
 public:
  Listing(Inspection& in, const std::string& what) : in_(in) {
    out_.begin_object()
        .member("schema", "hipplan.list/1")
        .member("what", what)
        .key("rows")
        .begin_array();
  }
  using Cells = std::vector<std::pair<const char*, std::string>>;
  void row(const Cells& cells) {
    std::string line;
    out_.begin_object();
    for (const auto& [key, value] : cells) {
      out_.member(key, value);
      line += (line.empty() ? "" : "  ") + value;
    }
    out_.end_object();
    if (!in_.io.json()) in_.io.line(line);
  }
  void finish() {
    out_.end_array().end_object();
    if (in_.io.json()) in_.io.line(out_.text());
  }

 private:
  Inspection& in_;
  json::Writer out_;
};

Result<void> list_engines(Inspection&, Listing& out) {
  for (const auto& name : restore::built_in_provider().engines)
    out.row({{"name", std::string(name)}, {"id", engine_id_text(engine_id(name))}});
  return {};
}

Result<void> list_handlers(Inspection&, Listing& out) {
  for (const auto* handler : engine::handlers())
    out.row({{"alias", std::string(handler->alias())},
             {"name", std::string(handler->name())},
             {"saves", handler->can_save() ? "saves" : "does not save"}});
  return {};
}

Result<void> list_targets(Inspection& in, Listing& out) {
  HIPPLAN_TRY_ASSIGN(const auto targets, pipeline::Targets::load(targets_folder(in.io)));
  for (const auto& named : targets.all())
    out.row({{"arch", named.description.arch.base},
             {"target", named.stem},
             {"name", named.description.name}});
  return {};
}

/// The GPUs that a HIP runtime sees. None installed is no fault unless one was named.
Result<void> list_hip_devices(Inspection& in, Listing& out) {
  const auto runtime = device::hip::Runtime::open(in.io.hip_library());
  if (!runtime) {
    if (!in.io.hip_library().empty()) return runtime.error();
    const Error& error = runtime.error();
    in.io.note("no HIP devices: " + (error.reason == "hip-library"
                                         ? "no HIP library opens (--hip-library names one)"
                                         : error.text()));
    return {};
  }
  HIPPLAN_TRY_ASSIGN(const int count, (*runtime)->count());
  for (int i = 0; i < count; ++i) {
    HIPPLAN_TRY_ASSIGN(const auto identity, (*runtime)->identify(i));
    out.row({{"device", cat("hip:", i)},
             {"name", identity.name},
             {"arch", identity.arch.text()},
             {"memory_bytes", std::to_string(identity.memory_bytes)}});
  }
  return {};
}

/// The GPUs that the CUDA driver sees; the same for these.
Result<void> list_cuda_devices(Inspection& in, Listing& out) {
  const auto runtime = device::cuda::Runtime::open(in.io.cuda_library());
  if (!runtime) {
    if (!in.io.cuda_library().empty()) return runtime.error();
    const Error& error = runtime.error();
    in.io.note("no CUDA devices: " + (error.reason == "cuda-library"
                                          ? "no CUDA driver opens (--cuda-library names one)"
                                          : error.text()));
    return {};
  }
  HIPPLAN_TRY_ASSIGN(const int count, (*runtime)->count());
  for (int i = 0; i < count; ++i) {
    HIPPLAN_TRY_ASSIGN(const auto identity, (*runtime)->identify(i));
    out.row({{"device", cat("cuda:", i)},
             {"name", identity.name},
             {"arch", identity.arch.text()},
             {"memory_bytes", std::to_string(identity.memory_bytes)}});
  }
  return {};
}

Result<void> list_devices(Inspection& in, Listing& out) {
  HIPPLAN_TRY(list_hip_devices(in, out));
  HIPPLAN_TRY(list_cuda_devices(in, out));
  HIPPLAN_TRY_ASSIGN(const auto targets, pipeline::Targets::load(targets_folder(in.io)));
  for (const auto& named : targets.all())
    if (named.description.arch.is_amd())
      out.row({{"device", "emulator:" + named.description.arch.base},
               {"name", named.description.name}});
  return {};
}

Result<void> list_kernels(Inspection& in, Listing& out) {
  pipeline::Catalog catalog(kernels_folder(in.io), in.io.jobs());
  const auto archs = in.targets.empty() ? catalog.architectures() : in.targets;
  for (const auto& name : archs) {
    HIPPLAN_TRY_ASSIGN(const auto arch, arch_of(name, in.io));
    HIPPLAN_TRY_ASSIGN(const auto set, catalog.descriptors(arch, in.io.sink()));
    for (const auto& pack : set->packs)
      for (const auto& kernel : pack->kernels)
        out.row({{"arch", arch.text()},
                 {"engine", pack->engine->name},
                 {"kernel", kernel.kernel->name},
                 {"id", kernel.kernel->id.text()}});
  }
  return {};
}

/// Architectures whose instructions the emulator runs, of those that the documents are about.
bool is_emulated(const target::Arch& arch) {
  const std::string& base = arch.base;
  return !base.starts_with("gfx9") || base == "gfx90a" || base.starts_with("gfx94") ||
         base.starts_with("gfx95") || base.starts_with("gfx9-4");
}

/// A family's documents are one list: what it says of a single target's instructions is less.
void note_on_family(device::IsaFamily family, const std::vector<target::Arch>& archs, Io& io) {
  constexpr std::array<std::string_view, device::kIsaFamilies.size()> kDocuments = {
      "CDNA2, CDNA3 and CDNA4", "RDNA3 and RDNA3.5", "RDNA4"};
  const auto documents = kDocuments[static_cast<size_t>(family)];
  if (documents.find(" and ") == std::string_view::npos) return;
  std::string names;
  for (const auto& arch : archs)
    if (device::isa_family(arch.base) == family) names += (names.empty() ? "" : ", ") + arch.text();
  io.note(cat("for ", names, " the instructions of the documents of ", documents,
              " are listed together; not each of those targets has them all"));
}

/// What the emulator understands, for the targets' families of ISA documents or for all of them.
Result<void> list_instructions(Inspection& in, Listing& out) {
  std::vector<device::IsaFamily> families;
  std::vector<target::Arch> archs;
  for (const auto& name : in.targets) {
    HIPPLAN_TRY_ASSIGN(const auto arch, arch_of(name, in.io));
    const auto family = device::isa_family(arch.base);
    if (!family || !is_emulated(arch))
      return Error{.code = Code::unusable,
                   .reason = "arch",
                   .where = "list instructions",
                   .what = family ? "the emulator does not run this target"
                                  : "the emulator knows no ISA document for this target",
                   .expected = "gfx90a, gfx94x, gfx95x, gfx11xx or gfx12xx",
                   .found = arch.text()};
    if (std::find(families.begin(), families.end(), *family) == families.end())
      families.push_back(*family);
    archs.push_back(arch);
  }
  for (const auto family : families) note_on_family(family, archs, in.io);
  const bool all = families.empty();
  if (all) families.assign(device::kIsaFamilies.begin(), device::kIsaFamilies.end());
  HIPPLAN_TRY_ASSIGN(const auto instructions, device::emulated_instructions(in.io.module_folder()));
  for (const auto& instruction : instructions) {
    std::string names;
    for (const auto& alias : instruction.aliases) names += (names.empty() ? "" : ",") + alias;
    const auto row = [&](std::string document, std::string section) {
      Listing::Cells cells = {{"instruction", instruction.mnemonic},
                              {"document", std::move(document)},
                              {"section", std::move(section)}};
      if (!names.empty()) cells.emplace_back("aliases", names);
      out.row(cells);
    };
    for (const auto family : families) {
      const std::string& format = instruction.formats[static_cast<size_t>(family)];
      if (!format.empty())
        row(std::string(device::isa_document(family)), device::isa_section(family, format));
    }
    if (all && !instruction.note.empty()) row("none", instruction.note);
  }
  return {};
}

/// What can be listed.
struct List {
  std::string_view word;
  Result<void> (*rows)(Inspection&, Listing&);  ///< null: plans, of the file behind the word
  bool takes_target;
};
constexpr List kLists[] = {{"plans", nullptr, true},
                           {"engines", list_engines, false},
                           {"kernels", list_kernels, true},
                           {"targets", list_targets, false},
                           {"devices", list_devices, false},
                           {"handlers", list_handlers, false},
                           {"instructions", list_instructions, true}};

/// "plans, kernels and instructions": the lists that --target changes.
std::string lists_by_target() {
  std::vector<std::string_view> words;
  for (const List& list : kLists)
    if (list.takes_target) words.push_back(list.word);
  const std::string_view last = words.back();
  words.pop_back();
  return cat(joined(words), " and ", last);
}

/// Refuses choices that would change nothing about what is listed.
Result<void> refuse_choice(const Inspection& in, const List& list) {
  if (!in.graph_key.empty())
    return usage_error({.where = cat("list ", list.word),
                        .what = "is about no graph",
                        .advice = "leave out --graph-key; plans are listed by it"});
  if (!in.targets.empty() && !list.takes_target)
    return usage_error(
        {.where = cat("list ", list.word),
         .what = "is the same for every target",
         .advice = cat("leave out --target; ", lists_by_target(), " are listed by it")});
  return {};
}

/// The list that a word means. For one that means none the nearest is named.
Result<const List*> list_of(const std::string& what) {
  NearestWord nearest(what);
  std::vector<std::string> expected;
  for (const List& list : kLists) {
    if (what == list.word) return &list;
    nearest.look(list.word);
    expected.push_back(cat(list.word, list.rows == nullptr ? " FILE" : ""));
  }
  constexpr size_t kMostShown = 80;
  return usage_error({.where = "list",
                      .what = what.empty() ? "nothing to list named"
                                           : "cannot list '" + what.substr(0, kMostShown) + "'",
                      .expected = "one of " + joined(expected),
                      .advice = nearest.word().empty() ? "" : "the nearest is " + nearest.word()});
}

}  // namespace

Result<void> list_things(Inspection& in) {
  HIPPLAN_TRY_ASSIGN(const List* list, list_of(in.arguments.empty() ? "" : in.arguments.front()));
  const bool of_file = list->rows == nullptr;
  if (in.arguments.size() != (of_file ? 2 : 1))
    return usage_error({.where = cat("list ", list->word),
                        .what = "wrong number of arguments",
                        .expected = of_file ? "one plan file behind it" : "nothing behind it",
                        .found = cat(in.arguments.size() - 1)});
  if (of_file) return list_plans(in, in.arguments.back());
  HIPPLAN_TRY(refuse_choice(in, *list));
  Listing out(in, std::string(list->word));
  HIPPLAN_TRY(list->rows(in, out));
  out.finish();
  return {};
}

}  // namespace hipplan::commands
