// Descriptor sets in memory: engines, metadata schemas, matchers, dispatches, heuristics, packs and
// kernels, with every reference resolved. The files themselves: docs/descriptors.md.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "base/launch_value.h"
#include "json/json.h"

namespace hipplan::descriptor {

enum class Kind : uint8_t { engine, metadata, matcher, dispatch, heuristic, pack, kernel };
/// File-name suffix that makes a file one of this kind: ".ued.json", ".kmd.json", …
[[nodiscard]] const char* suffix(Kind kind);
/// "UED", "KMD", …
[[nodiscard]] const char* short_name(Kind kind);
/// Kind of a file name (no folder) by its suffix; nothing for other names and for an empty stem.
[[nodiscard]] std::optional<Kind> kind_of(std::string_view file_name);

/// What every descriptor has. `document` is the parsed file and null unless LoadOptions asks for
/// it.
struct Origin {
  std::string file;  ///< path as the loader opened it
  size_t root = 0;   ///< position in the list of roots given to the loader
  std::shared_ptr<const json::Value> document;
};

enum class FieldType : uint8_t { boolean, integer, number, text, integer_list };
[[nodiscard]] const char* field_type_name(
    FieldType type);  ///< "bool", "int", "float", "string", "int_list"

struct Field {
  std::string name;
  FieldType type = FieldType::integer;
  std::optional<ValueData> default_value;  ///< absent: every kernel must give a value
};

struct MetadataSchema {
  Uuid id;
  std::string name;
  std::vector<Field> fields;
  Origin origin;
  /// Position of a field, or nothing.
  [[nodiscard]] std::optional<size_t> find(std::string_view field) const;
};

enum class Scope : uint8_t { graph, kernel };
struct Matcher {
  Uuid id;
  std::string name;
  Scope scope = Scope::graph;
  std::string symbol;
  Origin origin;
};

struct Dispatch {
  Uuid id;
  std::string name;
  std::string symbol;  ///< unversioned handler name
  Origin origin;
};

enum class Adapter : uint8_t { native, static_order, tree_data, table, model };
struct Heuristic {
  Uuid id;
  std::string name;
  Adapter adapter = Adapter::native;
  std::string symbol;        ///< native: scorer; model (older form): payload
  bool maximize = true;      ///< objective
  std::string metric;        ///< score.metric or score.units, may be empty
  bool logarithmic = false;  ///< score.transform is log1p
  std::vector<std::string> features;
  std::string features_hash;
  std::string artifact, artifact_hash;  ///< tree_data
  Origin origin;
};

/// An explicit kernel argument as descriptors list it.
struct Argument {
  std::string kind;
  uint32_t size = 0, offset = 0;  ///< bytes
  std::string name;
  friend bool operator==(const Argument&, const Argument&) = default;
};

enum class SourceKind : uint8_t {
  kpack,
  embedded_source,
  hsaco_file,
  rocke_builder,
  hip,
  hsaco,
  rocke
};
[[nodiscard]] const char* source_kind_name(SourceKind kind);  ///< spelling in files

/// Where one launch's code comes from. Which members are set depends on the kind.
struct Source {
  SourceKind kind = SourceKind::kpack;
  std::string launch_name;  ///< empty for single-launch kernels
  std::string file;    ///< library / source_file / code_object_file / source / file, as written
  std::string path;    ///< the same, resolved and checked to stay inside the tree
  std::string symbol;  ///< symbol / entry_point / code_object_symbol / entry / builder
  // kpack
  std::string toc_key;
  Digest sha256;                    ///< of the raw code object
  std::vector<Argument> signature;  ///< explicit arguments
  // hip and rocke
  std::vector<std::pair<std::string, std::string>> defines;  ///< macro -> text, sorted by macro
  std::vector<std::string> flags;
  std::string spec;  ///< rocke: canonical JSON of the spec object
};

struct Kernel {
  Uuid id;
  std::string name;
  bool multi_launch = false;
  std::vector<Source> sources;  ///< one, or one per launch sorted by launch name
  std::vector<std::pair<std::string, ValueData>> metadata;  ///< as written
  int64_t priority = 0;
  std::vector<std::string> arch;  ///< sorted; empty: any
  Origin origin;                  ///< of the pack's file for inline kernels
};

struct Engine;
/// One kernel of a pack with its completed metadata, in the order of the engine's schema.
struct PackKernel {
  const Kernel* kernel = nullptr;
  std::vector<ValueData> values;
};

struct Pack {
  Uuid id;
  std::string name;
  const Engine* engine = nullptr;
  const Dispatch* dispatch = nullptr;
  std::vector<const Matcher*> matchers;  ///< in the file's order
  std::vector<std::string> arch;         ///< sorted; empty: any
  std::vector<PackKernel> kernels;       ///< in the file's order
  Origin origin;
};

struct Engine {
  Uuid id;
  std::string name;
  int64_t engine_id = 0;  ///< FNV-1a of the name
  const MetadataSchema* schema = nullptr;
  const Heuristic* heuristic = nullptr;  ///< the set's single or "default" one; may be null
  std::vector<std::pair<std::string, const Heuristic*>> heuristic_by_arch;
  std::vector<std::string> knobs;
  std::vector<std::string> behavior_notes, numerical_notes;
  std::string graph_match;         ///< native symbol; empty: the packs' graph-scope matchers decide
  std::string sdk_version;         ///< "1.0.0" when absent
  std::vector<const Pack*> packs;  ///< sorted by (id, arch list)
  Origin origin;
  /// Heuristic for a base architecture: its own entry, else the default, else null.
  [[nodiscard]] const Heuristic* heuristic_for(std::string_view base_arch) const;
};

/// A loaded set; immutable, any thread. Pointers inside stay valid as long as the set.
class DescriptorSet {
 public:
  DescriptorSet() = default;
  DescriptorSet(const DescriptorSet&) = delete;
  DescriptorSet& operator=(const DescriptorSet&) = delete;

  std::vector<std::unique_ptr<const MetadataSchema>> schemas;
  std::vector<std::unique_ptr<const Matcher>> matchers;
  std::vector<std::unique_ptr<const Dispatch>> dispatches;
  std::vector<std::unique_ptr<const Heuristic>> heuristics;
  std::vector<std::unique_ptr<const Kernel>> kernels;  ///< inline and stand-alone
  std::vector<std::unique_ptr<const Pack>> packs;
  std::vector<std::unique_ptr<const Engine>> engines;  ///< sorted by name

  [[nodiscard]] const Engine* find_engine(std::string_view name) const;
  [[nodiscard]] const Engine* find_engine(int64_t engine_id) const;
};

}  // namespace hipplan::descriptor
