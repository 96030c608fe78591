#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "archive/kpack.h"
#include "codeobject/arguments.h"
#include "codeobject/codeobject.h"
#include "descriptor/loader.h"
#include "pack/pack.h"
#include "pack/served.h"
#include "pack/survey.h"

namespace hipplan::pack {
namespace {

using descriptor::Kernel;
using descriptor::Pack;
using descriptor::Source;
using descriptor::SourceKind;

/// Archives and code objects that were checked already; kernels share both.
class CodeCheck {
 public:
  explicit CodeCheck(ValidateReport& report) : report_(report) {}

  void check(const Pack& pack, const Kernel& kernel) {
    ++report_.kernels;
    for (const Source& source : kernel.sources) {
      const std::string place = cat(kernel.origin.file, ": kernel ", kernel.name);
      if (source.kind != SourceKind::kpack) {
        add(Severity::warning, "source-kind", place,
            cat("kernel source kind ", descriptor::source_kind_name(source.kind),
                " is not packed"));
        continue;
      }
      const std::vector<std::string>& arches = kernel.arch.empty() ? pack.arch : kernel.arch;
      if (arches.empty())
        report_.fault(Code::bad_input, "arch-missing", place,
                      "a packed kernel names no architecture");
      for (const std::string& arch : arches)
        if (const auto result = check_source(source, arch); !result)
          fail(result.error().within(place));
    }
  }

 private:
  void add(Severity severity, const char* reason, const std::string& where, std::string text) {
    report_.diagnostics.push_back({severity, reason, where, std::move(text)});
  }
  void fail(const Error& error) {
    Error rest = error;
    rest.where.clear();
    report_.fault(error.code, error.reason, error.where, rest.text());
  }

  Result<const archive::Kpack*> open(const std::string& path) {
    const auto known = archives_.find(path);
    if (known != archives_.end()) return &known->second;
    HIPPLAN_TRY_ASSIGN(archive::Kpack archive, archive::Kpack::open(path));
    return &archives_.emplace(path, std::move(archive)).first->second;
  }

  /// A code object of an archive, read, compared with its digest and parsed; each once.
  struct Checked {
    Bytes code;
    codeobject::CodeObject object;
  };
  Result<const Checked*> read(const archive::Kpack& archive, const Source& source,
                              const std::string& arch) {
    const std::string key =
        cat(archive.where(), "\n", source.toc_key, "\n", arch, "\n", source.sha256.hex());
    if (const auto known = codes_.find(key); known != codes_.end()) return &known->second;
    const std::vector<std::string> arches = {arch};
    HIPPLAN_TRY_ASSIGN(archive::Found found,
                       archive::read_checked(archive, source.toc_key, arches, source.sha256));
    const std::string where = cat(archive.where(), ": ", source.toc_key);
    HIPPLAN_TRY_ASSIGN(codeobject::CodeObject object, codeobject::parse(found.code, where));
    if (object.arch.base != arch)
      return Error{
          Code::damaged, "code-object-arch", where, "the code object is for another architecture",
          arch,          object.arch.text(), ""};
    ++report_.code_objects;
    return &codes_.emplace(key, Checked{std::move(found.code), std::move(object)}).first->second;
  }

  Result<void> check_source(const Source& source, const std::string& arch) {
    HIPPLAN_TRY_ASSIGN(const archive::Kpack* archive, open(source.path));
    HIPPLAN_TRY_ASSIGN(const Checked* code, read(*archive, source, arch));
    const codeobject::Kernel* kernel = code->object.find(source.symbol);
    if (kernel == nullptr)
      return Error{Code::damaged,
                   "missing-symbol",
                   source.toc_key,
                   "the code object has no such kernel",
                   source.symbol,
                   "",
                   ""};
    if (const auto mismatch = codeobject::argument_mismatch(kernel->signature(), source.signature))
      return Error{Code::damaged,
                   "signature",
                   cat(source.toc_key, ", ", source.symbol, ", ", mismatch->where),
                   "the signature is not that of the code object",
                   mismatch->expected,
                   mismatch->found,
                   ""};
    return {};
  }

  ValidateReport& report_;
  std::map<std::string, archive::Kpack> archives_;
  std::map<std::string, Checked> codes_;
};

void check_engines(const descriptor::DescriptorSet& set, const ValidateOptions& options,
                   ValidateReport& report) {
  for (const auto& engine : set.engines) report.engines.push_back(engine->name);
  for (const std::string& name : options.expected_engines)
    if (set.find_engine(name) == nullptr)
      report.fault(Code::negative, "engine-missing", name, "the engine did not load");
}

const char* severity_name(Severity severity) {
  constexpr const char* kNames[] = {"note", "warning", "error"};
  return kNames[static_cast<size_t>(severity)];
}

}  // namespace

void ValidateReport::fault(Code code, std::string reason, std::string where, std::string text) {
  classes.insert(code);
  diagnostics.push_back({Severity::error, std::move(reason), std::move(where), std::move(text)});
}

Result<ValidateReport> validate(const ValidateOptions& options) {
  descriptor::LoadOptions load_options;
  load_options.jobs = options.jobs;
  HIPPLAN_TRY_ASSIGN(const descriptor::Loaded loaded,
                     descriptor::load(options.roots, load_options));
  HIPPLAN_TRY(require_descriptors(options.roots, loaded));
  ValidateReport report;
  report.files = loaded.files_read;
  report.diagnostics = loaded.diagnostics;
  if (loaded.has_errors()) report.classes.insert(Code::bad_input);
  check_engines(*loaded.set, options, report);
  CodeCheck check(report);
  for (const auto& pack : loaded.set->packs)
    for (const descriptor::PackKernel& entry : pack->kernels) check.check(*pack, *entry.kernel);
  HIPPLAN_TRY(check_served(loaded.set, options, report));
  return report;
}

void write_json(const ValidateReport& report, json::Writer& writer) {
  writer.begin_object();
  writer.member("valid", report.ok());
  writer.member("files", static_cast<uint64_t>(report.files));
  writer.member("kernels", static_cast<uint64_t>(report.kernels));
  writer.member("code_objects", static_cast<uint64_t>(report.code_objects));
  writer.key("engines").begin_array();
  for (const std::string& engine : report.engines) writer.value(engine);
  writer.end_array();
  writer.key("diagnostics").begin_array();
  for (const Diagnostic& diagnostic : report.diagnostics) {
    writer.begin_object();
    writer.member("severity", severity_name(diagnostic.severity));
    writer.member("reason", diagnostic.reason);
    writer.member("where", diagnostic.where);
    writer.member("text", diagnostic.text);
    writer.end_object();
  }
  writer.end_array();
  writer.end_object();
}

}  // namespace hipplan::pack
