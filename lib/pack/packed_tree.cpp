#include "pack/packed_tree.h"

#include <algorithm>
#include <set>

#include "archive/kpack.h"
#include "base/file.h"
#include "descriptor/emit.h"
#include "pack/provenance.h"

namespace hipplan::pack {
namespace fs = std::filesystem;
namespace {

using descriptor::Kernel;
using descriptor::Origin;
using descriptor::Source;

class TreeMaker {
 public:
  TreeMaker(const ArchWork& work, const Jobs& jobs, const descriptor::DescriptorSet& set,
            const std::vector<fs::path>& roots, const Compiler& compiler)
      : work_(work),
        jobs_(jobs),
        set_(set),
        roots_(roots),
        compiler_(compiler),
        archive_({.group_name = "hipplan", .arch_family = work.arch}) {}

  Result<PackedTree> run() {
    out_.report.arch = work_.arch;
    for (const PackWork& pack : work_.packs) {
      HIPPLAN_TRY(add_pack(pack));
      HIPPLAN_TRY(add_generics(*pack.pack));
    }
    HIPPLAN_TRY_ASSIGN(Bytes bytes, archive_.to_bytes());
    out_.report.packs = work_.packs.size();
    out_.report.kernels = kernels_.size();
    out_.report.code_objects = codes_.size();
    out_.report.archive_bytes = bytes.size();
    out_.files[archive_path(work_.arch)] = std::move(bytes);
    return std::move(out_);
  }

 private:
  /// Authored path of a descriptor below the output folder.
  [[nodiscard]] std::string place_of(const Origin& origin) const {
    const fs::path& root = roots_[origin.root];
    const fs::path below = fs::path(origin.file).lexically_relative(root);
    if (roots_.size() == 1) return below.string();
    return ((root.has_filename() ? root : root.parent_path()).filename() / below).string();
  }

  Result<void> put(const std::string& place, std::string_view text, const Origin& origin) {
    const auto [known, added] = owner_.emplace(place, origin.file);
    if (!added && known->second != origin.file)
      return Error{Code::bad_input,
                   "output-collision",
                   origin.file,
                   "two trees have a file at one place",
                   place,
                   known->second,
                   "rename one of them"};
    const ByteView bytes = as_bytes(text);
    out_.files[place] = Bytes(bytes.begin(), bytes.end());
    return {};
  }

  /// The packed form of one launch's source; puts the code object into the archive.
  Result<Source> pack_source(const Kernel& kernel, const Source& source,
                             const std::string& library) {
    const Job& job = jobs_.of(source, work_.arch);
    const codeobject::Kernel* found = job.object.find(source.symbol);
    if (found == nullptr)
      return Error{
          Code::bad_input,
          "missing-symbol",
          cat(kernel.origin.file, ": kernel ", kernel.name),
          cat("the code object of ", job.unit.file, " for ", work_.arch, " has no such kernel"),
          source.symbol,
          names_of(job.object),
          ""};
    HIPPLAN_TRY(archive_.add(job.result.toc_key, work_.arch, job.result.code));
    codes_.insert(job.sha256);
    Source packed;
    packed.kind = descriptor::SourceKind::kpack;
    packed.launch_name = source.launch_name;
    packed.file = library;
    packed.toc_key = job.result.toc_key;
    packed.symbol = source.symbol;
    packed.sha256 = job.sha256;
    for (const codeobject::Argument& argument : found->signature())
      packed.signature.push_back({argument.kind, argument.size, argument.offset, argument.name});
    return packed;
  }

  static std::string names_of(const codeobject::CodeObject& object) {
    std::string out;
    for (const codeobject::Kernel& kernel : object.kernels)
      out += (out.empty() ? "" : ", ") + kernel.name;
    return out.empty() ? "no kernels" : out;
  }

  /// Path from a descriptor's folder to the archive.
  [[nodiscard]] std::string library_from(const std::string& place) const {
    return fs::path(archive_path(work_.arch))
        .lexically_relative(fs::path(place).parent_path().empty() ? fs::path(".")
                                                                  : fs::path(place).parent_path())
        .string();
  }

  Result<void> add_document(const Origin& origin, const std::vector<const Kernel*>& kernels) {
    const std::string place = place_of(origin);
    const std::string library = library_from(place);
    std::map<std::pair<Uuid, std::string>, Source> packed;
    std::set<Uuid> kept;
    for (const Kernel* kernel : kernels) {
      kept.insert(kernel->id);
      kernels_.insert(kernel);
      for (const Source& source : kernel->sources) {
        HIPPLAN_TRY_ASSIGN(Source result, pack_source(*kernel, source, library));
        packed.emplace(std::pair(kernel->id, source.launch_name), std::move(result));
      }
    }
    const auto source_of = [&](const Uuid& id, std::string_view launch) -> const Source* {
      const auto found = packed.find({id, std::string(launch)});
      return found == packed.end() ? nullptr : &found->second;
    };
    const auto keep = [&](const Uuid& id) {
      return kept.contains(id) || kept_elsewhere_.contains(id);
    };
    HIPPLAN_TRY(put(place, descriptor::print_packed(*origin.document, work_.arch, source_of, keep),
                    origin));
    return put(provenance_path(place),
               provenance_text(*origin.document, kernels, work_.arch, jobs_, compiler_), origin);
  }

  Result<void> add_pack(const PackWork& pack) {
    std::vector<const Kernel*> inlined;
    kept_elsewhere_.clear();
    for (const Kernel* kernel : pack.kernels) {
      if (kernel->origin.file == pack.pack->origin.file) {
        inlined.push_back(kernel);
        continue;
      }
      kept_elsewhere_.insert(kernel->id);
      if (!kernels_.contains(kernel)) HIPPLAN_TRY(add_document(kernel->origin, {kernel}));
    }
    return add_document(pack.pack->origin, inlined);
  }

  Result<void> add_generic(const Origin& origin) {
    return put(place_of(origin), json::print(*origin.document), origin);
  }

  Result<void> add_generics(const descriptor::Pack& pack) {
    HIPPLAN_TRY(add_generic(pack.engine->origin));
    HIPPLAN_TRY(add_generic(pack.engine->schema->origin));
    HIPPLAN_TRY(add_generic(pack.dispatch->origin));
    for (const descriptor::Matcher* matcher : pack.matchers)
      HIPPLAN_TRY(add_generic(matcher->origin));
    // An engine refers to heuristics in several places; whatever id stands anywhere in it counts.
    std::string engine_text = json::print(*pack.engine->origin.document);
    for (char& c : engine_text)
      if (c >= 'A' && c <= 'F') c = static_cast<char>(c - 'A' + 'a');
    for (const auto& heuristic : set_.heuristics) {
      if (engine_text.find(heuristic->id.text()) == std::string::npos) continue;
      HIPPLAN_TRY(add_generic(heuristic->origin));
      if (!heuristic->artifact.empty()) HIPPLAN_TRY(add_artifact(*heuristic));
    }
    return {};
  }

  Result<void> add_artifact(const descriptor::Heuristic& heuristic) {
    const fs::path place = fs::path(place_of(heuristic.origin)).parent_path() / heuristic.artifact;
    const fs::path file = fs::path(heuristic.origin.file).parent_path() / heuristic.artifact;
    if (*place.lexically_normal().begin() == ".." || place.is_absolute())
      return Error{
          Code::bad_input,    "bad-path", heuristic.origin.file, "the artifact leaves the tree", "",
          heuristic.artifact, ""};
    HIPPLAN_TRY_ASSIGN(Bytes bytes, read_file(file));
    out_.files[place.lexically_normal().string()] = std::move(bytes);
    return {};
  }

  const ArchWork& work_;
  const Jobs& jobs_;
  const descriptor::DescriptorSet& set_;
  const std::vector<fs::path>& roots_;
  const Compiler& compiler_;
  archive::Writer archive_;
  PackedTree out_;
  std::map<std::string, std::string> owner_;
  std::set<const Kernel*> kernels_;
  std::set<Digest> codes_;
  std::set<Uuid> kept_elsewhere_;
};

}  // namespace

std::string archive_path(const std::string& arch) {
  return "kpack/hipplan_" + arch + ".kpack";
}

Result<PackedTree> make_tree(const ArchWork& work, const Jobs& jobs,
                             const descriptor::DescriptorSet& set,
                             const std::vector<fs::path>& roots, const Compiler& compiler) {
  return TreeMaker(work, jobs, set, roots, compiler).run();
}

}  // namespace hipplan::pack
