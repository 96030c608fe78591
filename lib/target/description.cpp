// Target files: JSON with one key per field of Description, all of them required.
#include <cmath>
#include <functional>
#include <set>

#include "json/json.h"
#include "target/target.h"

namespace hipplan::target {
namespace {

Error bad_key(const std::string& where, const json::Value& at, std::string_view key,
              const std::string& expected, const std::string& found) {
  return {.code = Code::bad_input,
          .reason = "target-file",
          .where = json::place(where, at) + ": key '" + std::string(key) + "'",
          .what = "has no usable value",
          .expected = expected,
          .found = found};
}

/// Reads the members of one object and remembers which were taken.
class Reader {
 public:
  Reader(const json::Value& object, const std::string& where) : object_(object), where_(where) {}

  Result<const json::Value*> get(const char* key, json::Kind kind) {
    seen_.insert(key);
    const json::Value* value = object_.find(key);
    if (value == nullptr) return bad_key(where_, object_, key, json::kind_name(kind), "nothing");
    const bool number_ok = kind == json::Kind::number && value->kind == json::Kind::integer;
    if (value->kind != kind && !number_ok)
      return bad_key(where_, *value, key, json::kind_name(kind), json::kind_name(value->kind));
    return value;
  }
  Result<void> text(const char* key, std::string& out) {
    HIPPLAN_TRY_ASSIGN(const auto* value, get(key, json::Kind::string));
    if (value->string.empty()) return bad_key(where_, *value, key, "text", "an empty string");
    out = value->string;
    return {};
  }
  template <class T>
  Result<void> integer(const char* key, T& out, int64_t max) {
    HIPPLAN_TRY_ASSIGN(const auto* value, get(key, json::Kind::integer));
    if (value->integer < 1 || value->integer > max)
      return bad_key(where_, *value, key, cat("1 to ", max), cat(value->integer));
    out = static_cast<T>(value->integer);
    return {};
  }
  Result<void> number(const char* key, double& out) {
    HIPPLAN_TRY_ASSIGN(const auto* value, get(key, json::Kind::number));
    if (!(value->number > 0))
      return bad_key(where_, *value, key, "a number above 0", cat(value->number));
    out = value->number;
    return {};
  }
  Result<void> nothing_else() {
    for (const auto& [key, value] : object_.members)
      if (seen_.count(key) == 0)
        return Error{.code = Code::bad_input,
                     .reason = "target-file",
                     .where = json::place(where_, value),
                     .what = "unknown key '" + key + "'",
                     .advice = "remove it"};
    return {};
  }

 private:
  const json::Value& object_;
  const std::string& where_;
  std::set<std::string, std::less<>> seen_;
};

Result<void> read_rates(const json::Value& object, const std::string& where,
                        std::map<std::string, double>& out) {
  for (const auto& [name, rate] : object.members) {
    if ((rate.kind != json::Kind::number && rate.kind != json::Kind::integer) || !(rate.number > 0))
      return bad_key(where, rate, "peak_tflops." + name, "a number above 0",
                     json::kind_name(rate.kind));
    out[name] = rate.number;
  }
  return {};
}

Result<void> read_units(Reader& in, Description& out) {
  HIPPLAN_TRY(in.integer("wavefront_size", out.wavefront_size, 64));
  HIPPLAN_TRY(in.integer("compute_units", out.compute_units, 1 << 16));
  HIPPLAN_TRY(in.integer("simds_per_compute_unit", out.simds_per_compute_unit, 64));
  HIPPLAN_TRY(in.integer("max_waves_per_simd", out.max_waves_per_simd, 64));
  HIPPLAN_TRY(in.integer("max_workgroup_size", out.max_workgroup_size, 4096));
  HIPPLAN_TRY(in.integer("lds_bytes_per_workgroup", out.lds_bytes_per_workgroup, 1 << 24));
  HIPPLAN_TRY(in.integer("vgprs_per_simd_lane", out.vgprs_per_simd_lane, 1 << 16));
  HIPPLAN_TRY(in.integer("max_vgprs_per_wave", out.max_vgprs_per_wave, 1 << 12));
  HIPPLAN_TRY(in.integer("max_sgprs_per_wave", out.max_sgprs_per_wave, 1 << 12));
  return {};
}

Result<void> read_memory(Reader& in, Description& out) {
  HIPPLAN_TRY(in.integer("memory_bytes", out.memory_bytes, int64_t{1} << 50));
  HIPPLAN_TRY(in.integer("last_level_cache_bytes", out.last_level_cache_bytes, int64_t{1} << 40));
  HIPPLAN_TRY(in.number("memory_bandwidth_gb_per_s", out.memory_bandwidth_gb_per_s));
  return in.number("clock_ghz", out.clock_ghz);
}

}  // namespace

Result<Description> parse_description(std::string_view json_text, const std::string& where) {
  json::Limits limits;
  limits.max_bytes = 1 << 20;
  HIPPLAN_TRY_ASSIGN(const json::Value root, json::parse(json_text, where, limits));
  if (root.kind != json::Kind::object)
    return bad_key(where, root, "(top level)", "an object", json::kind_name(root.kind));
  Reader in(root, where);
  Description out;
  HIPPLAN_TRY(in.text("name", out.name));
  std::string arch;
  HIPPLAN_TRY(in.text("arch", arch));
  auto parsed = Arch::parse(arch);
  if (!parsed) return parsed.error().within(where);
  out.arch = std::move(parsed).value();
  HIPPLAN_TRY(read_units(in, out));
  if (out.wavefront_size != 32 && out.wavefront_size != 64)
    return bad_key(where, root, "wavefront_size", "32 or 64", cat(out.wavefront_size));
  HIPPLAN_TRY(read_memory(in, out));
  HIPPLAN_TRY_ASSIGN(const auto* rates, in.get("peak_tflops", json::Kind::object));
  HIPPLAN_TRY(read_rates(*rates, where, out.peak_tflops));
  HIPPLAN_TRY(in.text("source", out.source));
  HIPPLAN_TRY(in.nothing_else());
  return out;
}

std::string print_description(const Description& d) {
  json::Writer out(2);
  out.begin_object();
  out.member("name", d.name).member("arch", d.arch.text());
  out.member("wavefront_size", d.wavefront_size).member("compute_units", d.compute_units);
  out.member("simds_per_compute_unit", d.simds_per_compute_unit);
  out.member("max_waves_per_simd", d.max_waves_per_simd);
  out.member("max_workgroup_size", d.max_workgroup_size);
  out.member("lds_bytes_per_workgroup", d.lds_bytes_per_workgroup);
  out.member("vgprs_per_simd_lane", d.vgprs_per_simd_lane);
  out.member("max_vgprs_per_wave", d.max_vgprs_per_wave);
  out.member("max_sgprs_per_wave", d.max_sgprs_per_wave);
  out.member("memory_bytes", d.memory_bytes);
  out.member("memory_bandwidth_gb_per_s", d.memory_bandwidth_gb_per_s);
  out.member("clock_ghz", d.clock_ghz);
  out.member("last_level_cache_bytes", d.last_level_cache_bytes);
  out.key("peak_tflops").begin_object();
  for (const auto& [name, rate] : d.peak_tflops) out.member(name, rate);
  out.end_object();
  out.member("source", d.source);
  out.end_object();
  return out.text() + "\n";
}

}  // namespace hipplan::target
