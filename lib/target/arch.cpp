// Architecture strings and the compatibility rule.
#include <algorithm>
#include <cctype>

#include "target/nvidia.h"
#include "target/target.h"

namespace hipplan::target {
namespace {

/// Members of LLVM's generic families; a member may run the family's code object.
struct Family {
  std::string_view name;
  std::vector<std::string_view> members;
};

const std::vector<Family>& families() {
  static const std::vector<Family> kFamilies = {
      {"gfx9-generic", {"gfx900", "gfx902", "gfx904", "gfx906", "gfx909", "gfx90c"}},
      {"gfx9-4-generic", {"gfx940", "gfx941", "gfx942", "gfx950"}},
      {"gfx10-1-generic", {"gfx1010", "gfx1011", "gfx1012", "gfx1013"}},
      {"gfx10-3-generic",
       {"gfx1030", "gfx1031", "gfx1032", "gfx1033", "gfx1034", "gfx1035", "gfx1036"}},
      {"gfx11-generic",
       {"gfx1100", "gfx1101", "gfx1102", "gfx1103", "gfx1150", "gfx1151", "gfx1152", "gfx1153"}},
      {"gfx12-generic", {"gfx1200", "gfx1201"}},
  };
  return kFamilies;
}

Error bad_arch(std::string_view text, const std::string& what) {
  return {.code = Code::bad_input,
          .reason = "architecture",
          .where = cat("architecture '", text.substr(0, 80), "'"),
          .what = what,
          .expected = "for instance gfx942, gfx90a:sramecc+:xnack- or sm_90"};
}

bool legal_base(std::string_view base) {
  const bool amd = base.rfind("gfx", 0) == 0 && base.size() > 3;
  return (amd || parse_nvidia(base)) && std::all_of(base.begin(), base.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
         });
}

}  // namespace

Result<Arch> Arch::parse(std::string_view text) {
  if (text.size() > 256) return bad_arch(text, "is longer than 256 characters");
  std::string lower;
  for (const char c : text) lower += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  constexpr std::string_view kTriple = "amdgcn-amd-amdhsa--";
  std::string_view rest = lower;
  if (rest.rfind(kTriple, 0) == 0) rest.remove_prefix(kTriple.size());
  Arch out;
  size_t end = rest.find(':');
  out.base = rest.substr(0, end);
  if (!legal_base(out.base)) return bad_arch(text, "is not an architecture");
  while (end != std::string_view::npos) {
    rest.remove_prefix(end + 1);
    end = rest.find(':');
    const std::string_view feature = rest.substr(0, end);
    if (feature.size() < 2 || (feature.back() != '+' && feature.back() != '-'))
      return bad_arch(text, cat("feature '", feature, "' does not end in + or -"));
    const std::string name(feature.substr(0, feature.size() - 1));
    if (name != "sramecc" && name != "xnack")
      return bad_arch(text, cat("feature '", name, "' is not one of sramecc, xnack"));
    for (const auto& known : out.features)
      if (known.first == name) return bad_arch(text, cat("feature '", name, "' stands twice"));
    out.features.emplace_back(name, feature.back() == '+');
  }
  if (!out.is_amd() && !out.features.empty()) return bad_arch(text, "takes no features");
  std::sort(out.features.begin(), out.features.end());
  return out;
}

std::string Arch::text() const {
  std::string out = base;
  for (const auto& [name, on] : features) out += ":" + name + (on ? "+" : "-");
  return out;
}

bool Arch::is_generic() const {
  return base.starts_with("compute_") ||
         (base.size() > 8 && base.compare(base.size() - 8, 8, "-generic") == 0);
}

bool serves(const Arch& code, const Arch& device) {
  const std::string wanted = code.text(), have = device.text();
  if (have.rfind(wanted, 0) != 0) return false;
  return have.size() == wanted.size() || have[wanted.size()] == ':';
}

std::optional<std::string> generic_family(std::string_view base) {
  for (const Family& family : families())
    for (const auto member : family.members)
      if (member == base) return std::string(family.name);
  if (base != kNvidiaFamily && nvidia_runs(kNvidiaFamily, base)) return std::string(kNvidiaFamily);
  return std::nullopt;
}

std::vector<std::string> lookup_order(const Arch& device) {
  std::vector<std::string> out;
  Arch narrowed = device;
  out.push_back(narrowed.text());
  while (!narrowed.features.empty()) {
    narrowed.features.pop_back();
    out.push_back(narrowed.text());
  }
  for (auto& other : base_order(device.base))
    if (other != device.base) out.push_back(std::move(other));
  return out;
}

}  // namespace hipplan::target
