// hipplan-pack: build, validate, list.
#include "pack/pack.h"

#include "archive/kpack.h"
#include "archive/print.h"
#include "base/counted.h"
#include "base/file.h"
#include "commands/commands.h"
#include "commands/targets.h"
#include "plan/foreign.h"

namespace hipplan::commands {
namespace {

std::vector<std::filesystem::path> paths(const hipplan_strings& list) {
  const auto texts = items(list);
  return {texts.begin(), texts.end()};
}

void print_build(const pack::BuildReport& report, Io& io) {
  if (io.json()) {
    json::Writer out;
    out.begin_object().member("schema", "hipplan.pack-build/1").key("build");
    pack::write_json(report, out);
    io.line(out.end_object().text());
    return;
  }
  for (const pack::ArchReport& arch : report.arches)
    if (arch.packs != 0)
      io.line(cat(arch.arch, ": ", counted(arch.kernels, "kernel"), " in ",
                  counted(arch.packs, "pack"), ", ", counted(arch.code_objects, "code object"),
                  ", archive of ", arch.archive_bytes, " bytes"));
}

/// Architectures as they are given; of a product its architecture without features.
Result<std::vector<std::string>> arches_to_pack(const hipplan_strings& names, const Io& io) {
  HIPPLAN_TRY_ASSIGN(auto out, target_names(names));
  for (auto& name : out) {
    HIPPLAN_TRY_ASSIGN(const auto arch, arch_of(name, io));
    if (!target::Arch::parse(name)) name = arch.base;
  }
  return out;
}

Result<void> build_trees(const hipplan_pack_options& given, Io& io) {
  pack::BuildOptions options;
  options.sources = paths(given.arguments);
  options.kernels = text_or_empty(given.kernels);
  HIPPLAN_TRY_ASSIGN(options.arches, arches_to_pack(given.archs, io));
  options.output = text_or_empty(given.output);
  options.compiler = text_or_empty(given.compiler);
  options.cache = text_or_empty(given.cache);
  options.jobs = io.jobs();
  options.notes = io.sink();
  HIPPLAN_TRY(expand_paths(items(given.arguments), {".json"}));
  options.progress = [&io](size_t done, size_t total) { io.progress("compiling", done, total); };
  options.interrupted = [&io] { return !io.check_interrupted().ok(); };
  HIPPLAN_TRY_ASSIGN(const auto report, pack::build(options));
  print_build(report, io);
  return {};
}

Result<void> validate_trees(const hipplan_pack_options& given, Io& io) {
  pack::ValidateOptions options;
  options.roots = paths(given.arguments);
  options.graphs = paths(given.graphs);
  options.expected_engines = items(given.expected_engines);
  options.jobs = io.jobs();
  if (!options.graphs.empty()) {
    HIPPLAN_TRY_ASSIGN(const auto targets, pipeline::Targets::load(targets_folder(io)));
    for (const auto& named : targets.all()) options.targets.push_back(named.description);
  }
  // A folder without a single descriptor is a mistake, not a valid tree.
  HIPPLAN_TRY(expand_paths(items(given.arguments), {".json"}));
  HIPPLAN_TRY_ASSIGN(const auto report, pack::validate(options));
  const DiagnosticSink sink = io.sink();
  for (const Diagnostic& diagnostic : report.diagnostics) sink(diagnostic);
  for (const Code code : report.classes) io.fail_quietly(exit_code(code));
  if (io.json()) {
    json::Writer out;
    out.begin_object().member("schema", "hipplan.pack-validate/1").key("validation");
    pack::write_json(report, out);
    io.line(out.end_object().text());
  } else {
    io.line(cat(report.ok() ? "valid" : "not valid", ": ", counted(report.files, "file"), ", ",
                counted(report.engines.size(), "engine"), ", ", counted(report.kernels, "kernel"),
                ", ", counted(report.code_objects, "code object")));
  }
  return {};
}

Result<void> list_archives(const hipplan_pack_options& given, Io& io) {
  json::Writer out;
  out.begin_object().member("schema", "hipplan.pack-list/1").key("archives").begin_array();
  for (const std::string& path : items(given.arguments)) {
    HIPPLAN_TRY(io.check_interrupted());
    const auto file = FileView::open(path);
    if (!file) {
      io.fail(file.error());
      continue;
    }
    if (const auto foreign =
            plan::foreign_error(file->view(), path, plan::FileKind::kpack, "a kernel archive",
                                "a kpack file that hipplan-pack build wrote")) {
      io.fail(*foreign);
      continue;
    }
    const auto archive = archive::Kpack::parse(file->view(), path);
    if (!archive) {
      io.fail(archive.error());
      continue;
    }
    if (io.json())
      archive::write_json(*archive, out);
    else
      io.result(cat(path, ": ", archive::print(*archive)));
  }
  if (io.json()) io.line(out.end_array().end_object().text());
  return {};
}

}  // namespace

int pack(const hipplan_pack_options& options, Io& io) {
  const std::string command = text_or_empty(options.command);
  const auto result = command == "build"      ? build_trees(options, io)
                      : command == "validate" ? validate_trees(options, io)
                      : command == "list"
                          ? list_archives(options, io)
                          : Result<void>(usage_error({.where = command,
                                                      .what = "unknown command",
                                                      .expected = "build, validate or list"}));
  if (!result) io.fail(result.error());
  return io.status();
}

}  // namespace hipplan::commands
