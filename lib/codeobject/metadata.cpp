#include "codeobject/metadata.h"

#include <set>

#include "json/msgpack.h"

namespace hipplan::codeobject {
namespace {

constexpr size_t kMaxNoteBytes = 16u << 20;

Error damaged_metadata(const std::string& where, std::string what, std::string expected = "",
                       std::string found = "") {
  return Error{Code::damaged,       "code-object-metadata", where, std::move(what),
               std::move(expected), std::move(found),       ""};
}

/// Typed access to the members of one map of the note.
class Map {
 public:
  Map(const json::Value& value, std::string where) : value_(value), where_(std::move(where)) {}

  Result<void> check() const {
    if (value_.kind == json::Kind::object) return {};
    return damaged_metadata(where_, "wrong type", "map", json::kind_name(value_.kind));
  }
  Result<const json::Value*> get(std::string_view key, json::Kind kind, bool required) const {
    const json::Value* found = value_.find(key);
    if (found == nullptr && !required) return found;
    if (found == nullptr) return damaged_metadata(cat(where_, ", ", key), "the key is missing");
    if (found->kind != kind)
      return damaged_metadata(cat(where_, ", ", key), "wrong type", json::kind_name(kind),
                              json::kind_name(found->kind));
    return found;
  }
  /// Leaves `to` alone when an optional key is not there.
  Result<void> read(std::string_view key, bool required, uint32_t& to) const {
    HIPPLAN_TRY_ASSIGN(const auto* found, get(key, json::Kind::integer, required));
    if (found == nullptr) return {};
    if (found->integer < 0 || found->integer > UINT32_MAX)
      return damaged_metadata(cat(where_, ", ", key), "out of range", "0 to 4294967295",
                              cat(found->integer));
    to = static_cast<uint32_t>(found->integer);
    return {};
  }
  Result<void> read(std::string_view key, bool required, std::string& to) const {
    HIPPLAN_TRY_ASSIGN(const auto* found, get(key, json::Kind::string, required));
    if (found != nullptr) to = found->string;
    return {};
  }
  Result<void> read(std::string_view key, bool required, bool& to) const {
    HIPPLAN_TRY_ASSIGN(const auto* found, get(key, json::Kind::boolean, required));
    if (found != nullptr) to = found->boolean;
    return {};
  }
  [[nodiscard]] const std::string& where() const { return where_; }

 private:
  const json::Value& value_;
  std::string where_;
};

Result<Argument> read_argument(const json::Value& value, const std::string& where) {
  const Map map(value, where);
  HIPPLAN_TRY(map.check());
  Argument argument;
  HIPPLAN_TRY(map.read(".value_kind", true, argument.kind));
  HIPPLAN_TRY(map.read(".size", true, argument.size));
  HIPPLAN_TRY(map.read(".offset", true, argument.offset));
  HIPPLAN_TRY(map.read(".name", false, argument.name));
  return argument;
}

Result<void> read_arguments(const Map& map, Kernel& kernel) {
  HIPPLAN_TRY_ASSIGN(const auto* list, map.get(".args", json::Kind::array, false));
  if (list == nullptr) return {};
  uint64_t end = 0;
  for (size_t i = 0; i < list->items.size(); ++i) {
    const std::string place = cat(map.where(), ", .args[", i, "]");
    HIPPLAN_TRY_ASSIGN(Argument argument, read_argument(list->items[i], place));
    if (argument.offset < end)
      return damaged_metadata(place + ", .offset", "the argument overlaps the one before it",
                              cat("at least ", end), cat(argument.offset));
    end = uint64_t{argument.offset} + argument.size;
    if (end > kernel.kernarg_segment_size)
      return damaged_metadata(place, "the argument reaches outside the kernarg segment",
                              cat("an end of at most ", kernel.kernarg_segment_size), cat(end));
    kernel.arguments.push_back(std::move(argument));
  }
  return {};
}

Result<void> check_resources(const Map& map, const Kernel& kernel) {
  const auto fail = [&](const char* key, const char* expected, uint32_t found) {
    return damaged_metadata(cat(map.where(), ", ", key), "impossible value", expected, cat(found));
  };
  if (kernel.wavefront_size != 32 && kernel.wavefront_size != 64)
    return fail(".wavefront_size", "32 or 64", kernel.wavefront_size);
  const uint32_t align = kernel.kernarg_segment_align;
  if (align == 0 || (align & (align - 1)) != 0 || align > 4096)
    return fail(".kernarg_segment_align", "a power of two up to 4096", align);
  if (kernel.max_flat_workgroup_size == 0 || kernel.max_flat_workgroup_size > 1024)
    return fail(".max_flat_workgroup_size", "1 to 1024", kernel.max_flat_workgroup_size);
  return {};
}

Result<Kernel> read_kernel(const json::Value& value, const std::string& where) {
  const Map map(value, where);
  HIPPLAN_TRY(map.check());
  Kernel kernel;
  struct Number {
    const char* key;
    uint32_t Kernel::* member;
    bool required;
  };
  static constexpr Number kNumbers[] = {
      {".kernarg_segment_size", &Kernel::kernarg_segment_size, true},
      {".kernarg_segment_align", &Kernel::kernarg_segment_align, true},
      {".group_segment_fixed_size", &Kernel::group_segment_fixed_size, true},
      {".private_segment_fixed_size", &Kernel::private_segment_fixed_size, true},
      {".wavefront_size", &Kernel::wavefront_size, true},
      {".vgpr_count", &Kernel::vgpr_count, true},
      {".sgpr_count", &Kernel::sgpr_count, true},
      {".max_flat_workgroup_size", &Kernel::max_flat_workgroup_size, true},
      {".agpr_count", &Kernel::agpr_count, false},
      {".vgpr_spill_count", &Kernel::vgpr_spill_count, false},
      {".sgpr_spill_count", &Kernel::sgpr_spill_count, false},
  };
  HIPPLAN_TRY(map.read(".name", true, kernel.name));
  HIPPLAN_TRY(map.read(".symbol", true, kernel.symbol));
  for (const Number& number : kNumbers)
    HIPPLAN_TRY(map.read(number.key, number.required, kernel.*number.member));
  HIPPLAN_TRY(map.read(".uses_dynamic_stack", false, kernel.uses_dynamic_stack));
  if (kernel.name.empty() || kernel.symbol != kernel.name + ".kd")
    return damaged_metadata(where + ", .symbol", "the symbol does not belong to the kernel's name",
                            kernel.name + ".kd", kernel.symbol);
  HIPPLAN_TRY(check_resources(map, kernel));
  HIPPLAN_TRY(read_arguments(map, kernel));
  return kernel;
}

Result<void> read_version(const Map& map, Metadata& metadata) {
  HIPPLAN_TRY_ASSIGN(const auto* version, map.get("amdhsa.version", json::Kind::array, true));
  const auto is_number = [](const json::Value& v) {
    return v.kind == json::Kind::integer && v.integer >= 0 && v.integer <= UINT32_MAX;
  };
  if (version->items.size() != 2 || !is_number(version->items[0]) || !is_number(version->items[1]))
    return damaged_metadata(map.where() + ", amdhsa.version", "wrong form", "two numbers");
  metadata.major = static_cast<uint32_t>(version->items[0].integer);
  metadata.minor = static_cast<uint32_t>(version->items[1].integer);
  if (metadata.major == 1) return {};
  Error error =
      damaged_metadata(map.where() + ", amdhsa.version", "the metadata version cannot be read",
                       "1.x", cat(metadata.major, ".", metadata.minor));
  error.code = Code::unusable;  // right bytes of another version: the rules below are not theirs
  error.reason = "code-object-version";
  return error;
}

}  // namespace

Result<Metadata> read_metadata(ByteView note, const std::string& where) {
  json::Limits limits;
  limits.max_bytes = kMaxNoteBytes;
  limits.max_depth = 16;
  auto root = json::parse_msgpack(note, where, limits);
  if (!root) {
    Error error = std::move(root).error();
    error.code = Code::damaged;
    error.reason = "code-object-metadata";
    return error;
  }
  const Map map(*root, where);
  HIPPLAN_TRY(map.check());
  Metadata metadata;
  HIPPLAN_TRY(read_version(map, metadata));
  HIPPLAN_TRY(map.read("amdhsa.target", true, metadata.target));
  HIPPLAN_TRY_ASSIGN(const auto* list, map.get("amdhsa.kernels", json::Kind::array, false));
  std::set<std::string_view> names;
  for (size_t i = 0; list != nullptr && i < list->items.size(); ++i) {
    const std::string place = cat(where, ", amdhsa.kernels[", i, "]");
    HIPPLAN_TRY_ASSIGN(Kernel kernel, read_kernel(list->items[i], place));
    metadata.kernels.push_back(std::move(kernel));
  }
  for (const Kernel& kernel : metadata.kernels)
    if (!names.insert(kernel.name).second)
      return damaged_metadata(where + ", amdhsa.kernels", "two kernels have one name", "",
                              kernel.name);
  return metadata;
}

}  // namespace hipplan::codeobject
