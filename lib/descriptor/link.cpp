#include "descriptor/link.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "base/result.h"

namespace hipplan::descriptor {
namespace {

/// Whether every entry of `inner` is in `outer`; an empty `outer` means any architecture.
bool inside(const std::vector<std::string>& inner, const std::vector<std::string>& outer) {
  return outer.empty() || std::includes(outer.begin(), outer.end(), inner.begin(), inner.end());
}

bool overlap(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  if (a.empty() || b.empty()) return true;
  return std::any_of(a.begin(), a.end(), [&](const std::string& arch) {
    return std::binary_search(b.begin(), b.end(), arch);
  });
}

/// Whether an entry of the disabled list names this engine.
bool names_engine(const std::string& entry, const Engine& engine) {
  if (entry == engine.name || entry == std::to_string(engine.engine_id)) return true;
  const auto lower = [](std::string text) {
    std::transform(text.begin(), text.end(), text.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return text;
  };
  const std::string text = lower(entry);
  return text == lower(engine_id_text(engine.engine_id)) || text == engine.id.text();
}

struct MutableEngine {
  std::unique_ptr<Engine> engine;
  /// Architecture lists of the kernels that hold a metadata tuple.
  std::unordered_map<std::string, std::vector<const std::vector<std::string>*>> tuples;
};

/// A metadata tuple as bytes: two tuples are equal exactly when their texts are.
std::string tuple_text(const std::vector<ValueData>& values) {
  std::string out;
  const auto number = [&out](auto value) {
    out.append(reinterpret_cast<const char*>(&value), sizeof value);
  };
  for (const ValueData& value : values) {
    out.push_back(static_cast<char>(value.index()));
    if (const auto* flag = std::get_if<bool>(&value)) out.push_back(*flag ? 1 : 0);
    if (const auto* whole = std::get_if<int64_t>(&value)) number(*whole);
    if (const auto* real = std::get_if<double>(&value)) number(*real);
    if (const auto* text = std::get_if<std::string>(&value)) number(text->size()), out += *text;
    if (const auto* list = std::get_if<std::vector<int64_t>>(&value)) {
      number(list->size());
      for (const int64_t item : *list) number(item);
    }
  }
  return out;
}

class Linker {
 public:
  Linker(std::vector<ParsedFile> files, bool keep_documents, std::vector<Diagnostic>& diagnostics)
      : files_(std::move(files)), keep_(keep_documents), diagnostics_(diagnostics) {}

  std::shared_ptr<const DescriptorSet> run(const std::vector<std::string>& disabled) {
    for (ParsedFile& file : files_) store_plain(file);
    for (ParsedFile& file : files_)
      if (auto* raw = std::get_if<RawEngine>(&file.body)) link_engine(file, *raw);
    drop_same_names();
    for (ParsedFile& file : files_)
      if (auto* raw = std::get_if<RawPack>(&file.body)) link_pack(file, *raw);
    report_unreferenced_kernels();
    finish_engines(disabled);
    return set_;
  }

 private:
  void fault(const ParsedFile& file, const char* reason, std::string text,
             Severity severity = Severity::error) {
    diagnostics_.push_back({severity, reason, file.origin.file, std::move(text)});
  }

  template <class T>
  const T* keep(std::vector<std::unique_ptr<const T>>& in, T value, const ParsedFile& file) {
    if (keep_) value.origin.document = file.origin.document;
    in.push_back(std::make_unique<const T>(std::move(value)));
    return in.back().get();
  }

  /// Descriptors that refer to nothing.
  void store_plain(ParsedFile& file) {
    if (auto* schema = std::get_if<MetadataSchema>(&file.body))
      schemas_[file.id] = keep(set_->schemas, std::move(*schema), file);
    if (auto* matcher = std::get_if<Matcher>(&file.body))
      matchers_[file.id] = keep(set_->matchers, std::move(*matcher), file);
    if (auto* dispatch = std::get_if<Dispatch>(&file.body))
      dispatches_[file.id] = keep(set_->dispatches, std::move(*dispatch), file);
    if (auto* heuristic = std::get_if<Heuristic>(&file.body))
      heuristics_[file.id] = keep(set_->heuristics, std::move(*heuristic), file);
    if (auto* kernel = std::get_if<Kernel>(&file.body))
      kernels_[file.id].push_back(keep(set_->kernels, std::move(*kernel), file));
  }

  template <class T>
  const T* find(const std::map<Uuid, const T*>& in, const Uuid& id) const {
    const auto at = in.find(id);
    return at == in.end() ? nullptr : at->second;
  }

  const Heuristic* find_heuristic(const ParsedFile& file, const std::string& name, const char* key,
                                  const Uuid& id, bool& whole) {
    const Heuristic* found = find(heuristics_, id);
    if (found != nullptr) return found;
    whole = false;
    fault(file, "dangling-reference",
          cat("engine '", name, "': ", key, " ", id.text(),
              " is in no descriptor; the engine is dropped"));
    return nullptr;
  }

  void link_engine(const ParsedFile& file, RawEngine& raw) {
    Engine& engine = raw.engine;
    seen_engines_.insert(file.id);
    bool whole = true;
    engine.schema = find(schemas_, raw.metadata);
    if (engine.schema == nullptr) {
      whole = false;
      fault(file, "dangling-reference",
            cat("engine '", engine.name, "': metadata ", raw.metadata.text(),
                " is in no descriptor; the engine is dropped"));
    }
    if (raw.heuristic)
      engine.heuristic = find_heuristic(file, engine.name, "heuristic", *raw.heuristic, whole);
    for (const auto& [arch, id] : raw.heuristic_by_arch) {
      const Heuristic* found = find_heuristic(file, engine.name, "sort_kernel_catalog", id, whole);
      if (arch == "default")
        engine.heuristic = found;
      else
        engine.heuristic_by_arch.emplace_back(arch, found);
    }
    for (const auto& [arch, id] : raw.predict_by_arch)
      (void)find_heuristic(file, engine.name, "predict_engine", id, whole);
    for (const std::string& knob : engine.knobs) {
      if (engine.schema == nullptr || engine.schema->find(knob)) continue;
      whole = false;
      fault(file, "undeclared-knob",
            cat("engine '", engine.name, "': knob '", knob,
                "' is no metadata field; the engine is dropped"));
    }
    if (!whole) return;
    if (keep_) engine.origin.document = file.origin.document;
    engines_[file.id].engine = std::make_unique<Engine>(std::move(engine));
  }

  void drop_same_names() {
    std::map<int64_t, std::vector<Uuid>> by_hash;
    for (const auto& [id, entry] : engines_) by_hash[entry.engine->engine_id].push_back(id);
    for (const auto& [hash, ids] : by_hash) {
      if (ids.size() < 2) continue;
      for (const Uuid& id : ids) {
        const Engine& engine = *engines_[id].engine;
        diagnostics_.push_back(
            {Severity::error, "engine-name-collision", engine.origin.file,
             cat("engine '", engine.name, "' (", id.text(), ") shares its id ",
                 engine_id_text(hash), " with another engine; all of them are dropped")});
        engines_.erase(id);
      }
    }
  }

  MutableEngine* engine_of(const ParsedFile& file, const RawPack& raw) {
    const auto at = engines_.find(raw.engine);
    if (at != engines_.end()) return &at->second;
    fault(file, "orphan-pack",
          cat("pack '", raw.pack.name, "': engine ", raw.engine.text(),
              seen_engines_.count(raw.engine) != 0 ? " was dropped" : " is in no descriptor",
              "; the pack is dropped"));
    return nullptr;
  }

  bool link_references(const ParsedFile& file, const RawPack& raw, Pack& pack) {
    bool whole = true;
    const auto dangling = [&](const char* key, const Uuid& id) {
      whole = false;
      fault(file, "dangling-reference",
            cat("pack '", pack.name, "': ", key, " ", id.text(),
                " is in no descriptor; the pack is dropped"));
    };
    pack.dispatch = find(dispatches_, raw.dispatch);
    if (pack.dispatch == nullptr) dangling("dispatch", raw.dispatch);
    for (const Uuid& id : raw.matchers) {
      const Matcher* matcher = find(matchers_, id);
      if (matcher == nullptr)
        dangling("matcher", id);
      else
        pack.matchers.push_back(matcher);
    }
    return whole;
  }

  /// The stand-alone kernel `id` for a pack: exactly one whose arch list lies inside the pack's.
  const Kernel* stand_alone(const ParsedFile& file, const Pack& pack, const Uuid& id) {
    referenced_.insert(id);
    const auto at = kernels_.find(id);
    if (at == kernels_.end()) {
      fault(file, "dangling-reference",
            cat("pack '", pack.name, "': kernel ", id.text(),
                " is in no descriptor; the pack is dropped"));
      return nullptr;
    }
    const Kernel* found = nullptr;
    for (const Kernel* kernel : at->second) {
      if (!inside(kernel->arch, pack.arch)) continue;
      if (found != nullptr) {
        fault(file, "ambiguous-kernel",
              cat("pack '", pack.name, "': several kernels ", id.text(),
                  " fit its architectures; the pack is dropped"));
        return nullptr;
      }
      found = kernel;
    }
    if (found == nullptr)
      fault(file, "kernel-arch",
            cat("pack '", pack.name, "': kernel ", id.text(),
                " is for architectures outside the pack's; the pack is dropped"));
    return found;
  }

  const Kernel* kernel_of(const ParsedFile& file, const Pack& pack, RawPackKernel& raw) {
    if (const auto* id = std::get_if<Uuid>(&raw)) return stand_alone(file, pack, *id);
    Kernel& inline_kernel = std::get<Kernel>(raw);
    if (!inside(inline_kernel.arch, pack.arch)) {
      fault(file, "kernel-arch",
            cat("pack '", pack.name, "': kernel '", inline_kernel.name,
                "' is for architectures outside the pack's; the pack is dropped"));
      return nullptr;
    }
    set_->kernels.push_back(std::make_unique<const Kernel>(std::move(inline_kernel)));
    return set_->kernels.back().get();
  }

  bool link_kernel(const ParsedFile& file, Pack& pack, RawPackKernel& raw, std::set<Uuid>& listed) {
    const Kernel* kernel = kernel_of(file, pack, raw);
    if (kernel == nullptr) return false;
    if (!listed.insert(kernel->id).second) {
      fault(file, "duplicate-entry",
            cat("pack '", pack.name, "': kernel ", kernel->id.text(),
                " is listed twice; the pack is dropped"));
      return false;
    }
    MetadataFault wrong;
    auto values = complete_metadata(*kernel, *pack.engine->schema, wrong);
    if (!values) {
      fault(file, wrong.reason,
            cat("pack '", pack.name, "', kernel '", kernel->name, "': ", wrong.text,
                "; the pack is dropped"));
      return false;
    }
    pack.kernels.push_back({kernel, std::move(*values)});
    return true;
  }

  static std::vector<std::string> launch_names(const Kernel& kernel) {
    std::vector<std::string> out;
    if (!kernel.multi_launch) return out;
    for (const Source& source : kernel.sources) out.push_back(source.launch_name);
    return out;
  }

  /// One launch set per dispatch symbol and architecture list.
  bool same_launches(const ParsedFile& file, const Pack& pack) {
    for (const PackKernel& entry : pack.kernels) {
      const auto names = launch_names(*entry.kernel);
      const auto [at, fresh] = launch_sets_.try_emplace({pack.dispatch->symbol, pack.arch}, names);
      if (at->second == names) continue;
      fault(file, "launch-set",
            cat("pack '", pack.name, "', kernel '", entry.kernel->name,
                "': its launch names differ from those of other kernels of ", pack.dispatch->symbol,
                "; the pack is dropped"));
      return false;
    }
    return true;
  }

  /// A metadata tuple names one kernel per engine and architecture; later ones go.
  void drop_same_tuples(const ParsedFile& file, MutableEngine& owner, Pack& pack) {
    std::erase_if(pack.kernels, [&](const PackKernel& entry) {
      const auto& arch = entry.kernel->arch.empty() ? pack.arch : entry.kernel->arch;
      auto& holders = owner.tuples[tuple_text(entry.values)];
      const bool clash = std::any_of(holders.begin(), holders.end(),
                                     [&](const auto* other) { return overlap(*other, arch); });
      if (!clash) {
        holders.push_back(&arch);
        return false;
      }
      fault(file, "duplicate-metadata",
            cat("pack '", pack.name, "', kernel '", entry.kernel->name,
                "': another kernel of the engine has the same metadata; this one is dropped"));
      return true;
    });
  }

  bool link_kernels(const ParsedFile& file, RawPack& raw, Pack& pack) {
    std::set<Uuid> listed;
    pack.kernels.reserve(raw.kernels.size());
    return std::all_of(raw.kernels.begin(), raw.kernels.end(), [&](RawPackKernel& kernel) {
      return link_kernel(file, pack, kernel, listed);
    });
  }

  void link_pack(const ParsedFile& file, RawPack& raw) {
    MutableEngine* owner = engine_of(file, raw);
    if (owner == nullptr) return mark_referenced(raw);
    auto pack = std::make_unique<Pack>(std::move(raw.pack));
    pack->engine = owner->engine.get();
    if (!link_references(file, raw, *pack) || !link_kernels(file, raw, *pack))
      return mark_referenced(raw);
    if (!same_launches(file, *pack)) return;
    drop_same_tuples(file, *owner, *pack);
    if (pack->kernels.empty())
      return fault(file, "pack-without-kernels",
                   cat("pack '", pack->name, "' has no readable kernel; the pack is dropped"));
    if (keep_) pack->origin.document = file.origin.document;
    owner->engine->packs.push_back(pack.get());
    set_->packs.push_back(std::move(pack));
  }

  /// A dropped pack still refers to its kernels.
  void mark_referenced(const RawPack& raw) {
    for (const RawPackKernel& kernel : raw.kernels)
      if (const auto* id = std::get_if<Uuid>(&kernel)) referenced_.insert(*id);
  }

  void report_unreferenced_kernels() {
    for (const auto& [id, shards] : kernels_) {
      if (referenced_.count(id) != 0) continue;
      for (const Kernel* kernel : shards)
        diagnostics_.push_back(
            {Severity::warning, "unreferenced-kernel", kernel->origin.file,
             cat("kernel '", kernel->name, "' (", id.text(), ") is in no pack")});
    }
  }

  void finish_engines(const std::vector<std::string>& disabled) {
    for (auto& [id, entry] : engines_) {
      Engine& engine = *entry.engine;
      const bool off = std::any_of(disabled.begin(), disabled.end(), [&](const std::string& name) {
        return names_engine(name, engine);
      });
      if (engine.packs.empty() && !off)
        diagnostics_.push_back(
            {Severity::error, "engine-without-pack", engine.origin.file,
             cat("engine '", engine.name, "' has no pack; the engine is dropped")});
      if (engine.packs.empty() || off) {
        std::erase_if(set_->packs, [&](const auto& pack) { return pack->engine == &engine; });
        continue;
      }
      std::sort(engine.packs.begin(), engine.packs.end(), [](const Pack* a, const Pack* b) {
        return std::tie(a->id, a->arch) < std::tie(b->id, b->arch);
      });
      set_->engines.push_back(std::move(entry.engine));
    }
    std::sort(set_->engines.begin(), set_->engines.end(),
              [](const auto& a, const auto& b) { return a->name < b->name; });
  }

  std::vector<ParsedFile> files_;
  bool keep_;
  std::vector<Diagnostic>& diagnostics_;
  std::shared_ptr<DescriptorSet> set_ = std::make_shared<DescriptorSet>();
  std::map<Uuid, const MetadataSchema*> schemas_;
  std::map<Uuid, const Matcher*> matchers_;
  std::map<Uuid, const Dispatch*> dispatches_;
  std::map<Uuid, const Heuristic*> heuristics_;
  std::map<Uuid, std::vector<const Kernel*>> kernels_;  ///< stand-alone, all arch shards
  std::map<Uuid, MutableEngine> engines_;
  std::set<Uuid> seen_engines_, referenced_;
  std::map<std::pair<std::string, std::vector<std::string>>, std::vector<std::string>> launch_sets_;
};

}  // namespace

std::optional<std::vector<ValueData>> complete_metadata(const Kernel& kernel,
                                                        const MetadataSchema& schema,
                                                        MetadataFault& fault) {
  std::vector<ValueData> out(schema.fields.size());
  std::vector<bool> given(schema.fields.size(), false);
  for (const auto& [name, value] : kernel.metadata) {
    const auto at = schema.find(name);
    if (!at) {
      fault = {"metadata-undeclared",
               cat("metadata '", name, "' is not declared by schema '", schema.name, "'")};
      return std::nullopt;
    }
    const FieldType type = schema.fields[*at].type;
    const bool widens = type == FieldType::number && std::holds_alternative<int64_t>(value);
    if (!widens && value.index() != static_cast<size_t>(type)) {
      fault = {"metadata-type", cat("metadata '", name, "' must be ", field_type_name(type),
                                    ", found ", value_type_name(value))};
      return std::nullopt;
    }
    out[*at] = widens ? ValueData(static_cast<double>(std::get<int64_t>(value))) : value;
    given[*at] = true;
  }
  for (size_t i = 0; i < out.size(); ++i) {
    if (given[i]) continue;
    if (!schema.fields[i].default_value) {
      fault = {"metadata-missing",
               cat("metadata '", schema.fields[i].name, "' has no value and no default")};
      return std::nullopt;
    }
    out[i] = *schema.fields[i].default_value;
  }
  return out;
}

std::shared_ptr<const DescriptorSet> link(std::vector<ParsedFile> files,
                                          const std::vector<std::string>& disabled_engines,
                                          bool keep_documents,
                                          std::vector<Diagnostic>& diagnostics) {
  return Linker(std::move(files), keep_documents, diagnostics).run(disabled_engines);
}

}  // namespace hipplan::descriptor
