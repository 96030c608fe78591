#include "target/nvidia.h"

#include <charconv>

#include "target/target.h"

namespace hipplan::target {

std::optional<NvidiaArch> parse_nvidia(std::string_view base) {
  NvidiaArch out;
  out.ptx = base.starts_with("compute_");
  if (!out.ptx && !base.starts_with("sm_")) return std::nullopt;
  base.remove_prefix(out.ptx ? 8 : 3);
  if (!base.empty() && (base.back() == 'a' || base.back() == 'f')) {
    out.suffix = base.back();
    base.remove_suffix(1);
  }
  // Two or three digits, the last of which is the minor version: 8.0, 12.1.
  unsigned number = 0;
  const auto [end, failure] = std::from_chars(base.data(), base.data() + base.size(), number);
  if (failure != std::errc() || end != base.data() + base.size() || number < 10 || number > 999 ||
      base.front() == '0')
    return std::nullopt;
  out.major = number / 10;
  out.minor = number % 10;
  return out;
}

bool nvidia_runs(std::string_view code, std::string_view device) {
  const auto from = parse_nvidia(code), on = parse_nvidia(device);
  if (!from || !on || on->ptx) return false;
  if (from->suffix == 'a') return from->major == on->major && from->minor == on->minor;
  if (from->ptx && from->suffix == 0)
    return on->major > from->major || (on->major == from->major && on->minor >= from->minor);
  return from->major == on->major && from->minor <= on->minor;
}

std::vector<std::string> base_order(const std::string& base) {
  std::vector<std::string> out = {base};
  if (const auto arch = parse_nvidia(base); arch && !arch->ptx) {
    for (unsigned minor = arch->minor + (arch->suffix == 0 ? 0 : 1); minor-- > 0;)
      out.push_back("sm_" + std::to_string(arch->major * 10 + minor));
  }
  if (auto family = generic_family(base)) out.push_back(std::move(*family));
  return out;
}

}  // namespace hipplan::target
