#include "plan/materials.h"

#include <ctime>
#include <filesystem>
#include <set>

#include "plan/errors.h"

namespace hipplan::plan {
namespace {

const json::Value* at(const json::Value& from, std::initializer_list<std::string_view> path) {
  const json::Value* out = &from;
  for (const auto key : path)
    if (out != nullptr) out = out->find(key);
  return out;
}

struct Collected {
  std::set<Material> code_objects, dependencies;
  std::set<std::string> builders, compilers;
};

void collect_list(const json::Value* list, std::set<Material>& into) {
  if (list == nullptr) return;
  for (const auto& item : list->items) {
    const auto *name = at(item, {"name"}), *digest = at(item, {"digest", "sha256"});
    if (name != nullptr && digest != nullptr) into.insert({name->string, digest->string});
  }
}

void collect(const json::Value& statement, Collected& into) {
  collect_list(at(statement, {"subject"}), into.code_objects);
  collect_list(at(statement, {"predicate", "buildDefinition", "resolvedDependencies"}),
               into.dependencies);
  if (const auto* id = at(statement, {"predicate", "runDetails", "builder", "id"}))
    into.builders.insert(id->string);
  const auto* kernels =
      at(statement, {"predicate", "buildDefinition", "internalParameters", "kernels"});
  if (kernels == nullptr) return;
  for (const auto& kernel : kernels->items)
    if (const auto* compiler = kernel.find("compiler")) into.compilers.insert(compiler->string);
}

Result<void> collect_plan(const File& file, const EntryInfo& entry, Collected& into) {
  HIPPLAN_TRY_ASSIGN(const auto plan, file.read_plan(entry, false));
  const std::string where =
      cat(file.where(), ": plan ", entry.graph_key.hex().substr(0, 16), "/", entry.target);
  auto statement = json::parse(plan.provenance, where + ": provenance");
  if (plan.provenance.empty() || !statement) {
    Error error = bad_input("no-provenance", where, "plan does not say where its parts came from",
                            "a provenance statement", plan.provenance.empty() ? "none" : "no JSON");
    error.code = ErrorCode::negative;
    return error;
  }
  collect(*statement, into);
  return {};
}

template <class T>
std::vector<T> list_of(const std::set<T>& from) {
  return {from.begin(), from.end()};
}

std::string utc_time(int64_t seconds) {
  const std::time_t time = static_cast<std::time_t>(seconds);
  std::tm parts{};
  gmtime_r(&time, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

/// One SPDX package.
void spdx_package(json::Writer& out, const std::string& id, const std::string& name,
                  const std::string& sha256, const char* purpose) {
  out.begin_object().member("SPDXID", id).member("name", name);
  out.member("downloadLocation", "NOASSERTION").member("filesAnalyzed", false);
  if (!sha256.empty()) {
    out.key("checksums").begin_array().begin_object().member("algorithm", "SHA256");
    out.member("checksumValue", sha256).end_object().end_array();
  }
  out.member("primaryPackagePurpose", purpose).end_object();
}

struct Relation {
  std::string from, type, to;
};

void cyclonedx_component(json::Writer& out, const char* type, const std::string& reference,
                         const std::string& name, const std::string& sha256) {
  out.begin_object().member("type", type).member("bom-ref", reference).member("name", name);
  if (!sha256.empty()) {
    out.key("hashes").begin_array().begin_object().member("alg", "SHA-256");
    out.member("content", sha256).end_object().end_array();
  }
  out.end_object();
}

}  // namespace

Result<Materials> materials_of(const File& file) {
  Collected all;
  Result<void> failed;
  HIPPLAN_TRY(file.for_each([&](const EntryInfo& entry) {
    failed = collect_plan(file, entry, all);
    return failed.ok();
  }));
  HIPPLAN_TRY(failed);
  Materials out;
  out.file_name = std::filesystem::path(file.where()).filename().string();
  out.file_sha256 = sha256(file.bytes()).hex();
  out.code_objects = list_of(all.code_objects);
  out.dependencies = list_of(all.dependencies);
  out.builders = list_of(all.builders);
  out.compilers = list_of(all.compilers);
  return out;
}

void print_spdx(json::Writer& out, const Materials& m, int64_t seconds) {
  std::vector<Relation> relations = {{"SPDXRef-DOCUMENT", "DESCRIBES", "SPDXRef-file"}};
  out.begin_object().member("spdxVersion", "SPDX-2.3").member("dataLicense", "CC0-1.0");
  out.member("SPDXID", "SPDXRef-DOCUMENT").member("name", m.file_name);
  out.member("documentNamespace", "urn:hipplan:sbom:" + m.file_sha256);
  out.key("creationInfo").begin_object().member("created", utc_time(seconds));
  out.key("creators").begin_array();
  for (const auto& builder : m.builders) out.value("Tool: " + builder);
  out.end_array().end_object();
  out.key("packages").begin_array();
  spdx_package(out, "SPDXRef-file", m.file_name, m.file_sha256, "FILE");
  const auto add = [&](const std::string& kind, size_t i, const std::string& name,
                       const std::string& digest, const char* purpose, const char* relation) {
    const std::string id = cat("SPDXRef-", kind, "-", i);
    spdx_package(out, id, name, digest, purpose);
    // "BUILD_TOOL_OF" and "BUILD_DEPENDENCY_OF" lead from the part to the whole.
    const bool outward = std::string_view(relation) == "CONTAINS";
    relations.push_back(outward ? Relation{"SPDXRef-file", relation, id}
                                : Relation{id, relation, "SPDXRef-file"});
  };
  for (size_t i = 0; i < m.code_objects.size(); ++i)
    add("code", i, m.code_objects[i].name, m.code_objects[i].sha256, "FIRMWARE", "CONTAINS");
  for (size_t i = 0; i < m.dependencies.size(); ++i)
    add("source", i, m.dependencies[i].name, m.dependencies[i].sha256, "SOURCE",
        "BUILD_DEPENDENCY_OF");
  for (size_t i = 0; i < m.compilers.size(); ++i)
    add("compiler", i, m.compilers[i], "", "APPLICATION", "BUILD_TOOL_OF");
  out.end_array().key("relationships").begin_array();
  for (const auto& relation : relations) {
    out.begin_object().member("spdxElementId", relation.from);
    out.member("relationshipType", relation.type);
    out.member("relatedSpdxElement", relation.to).end_object();
  }
  out.end_array().end_object();
}

void print_cyclonedx(json::Writer& out, const Materials& m) {
  out.begin_object().member("bomFormat", "CycloneDX").member("specVersion", "1.5");
  out.member("version", 1).key("metadata").begin_object();
  out.key("tools").begin_object().key("components").begin_array();
  for (const auto& builder : m.builders)
    cyclonedx_component(out, "application", "builder-" + builder, builder, "");
  for (const auto& compiler : m.compilers)
    cyclonedx_component(out, "application", "compiler-" + compiler, compiler, "");
  out.end_array().end_object().key("component");
  cyclonedx_component(out, "file", "file", m.file_name, m.file_sha256);
  out.end_object().key("components").begin_array();
  std::vector<std::string> references;
  const auto add = [&](const char* kind, const char* type, const std::vector<Material>& list) {
    for (size_t i = 0; i < list.size(); ++i) {
      references.push_back(cat(kind, "-", i));
      cyclonedx_component(out, type, references.back(), list[i].name, list[i].sha256);
    }
  };
  add("code", "firmware", m.code_objects);
  add("source", "file", m.dependencies);
  out.end_array().key("dependencies").begin_array().begin_object().member("ref", "file");
  out.key("dependsOn").begin_array();
  for (const auto& reference : references) out.value(reference);
  out.end_array().end_object().end_array().end_object();
}

}  // namespace hipplan::plan
