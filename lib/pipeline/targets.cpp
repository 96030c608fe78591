// Which target a name means, and what to say of a name that means none.
//
//   mi300x, MI300X, "AMD Instinct MI300X", "instinct mi-300x"   the target file mi300x.json
//   gfx942, GFX942, gfx942:xnack-                               the first file of that architecture
//   gfx1101                                                     none; gfx1100's is of its family
//   gfx942 gfx1100                                              none; a list wants commas
#include <algorithm>
#include <cctype>

#include "base/join.h"
#include "base/spelling.h"
#include "pipeline/pipeline.h"
#include "target/nvidia.h"

namespace hipplan::pipeline {
namespace {

/// Without case, spaces, dashes and underscores.
std::string plain(std::string_view text) {
  std::string out;
  for (const char c : text)
    if (c != ' ' && c != '-' && c != '_')
      out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

/// A product's name also goes without its first words, which have no digits: "Instinct MI300X".
bool names_product(const std::string& product, const std::string& wanted) {
  std::string_view rest = product;
  for (;;) {
    if (plain(rest) == wanted) return true;
    const size_t end = rest.find(' ');
    if (end == std::string_view::npos || rest.find_first_of("0123456789") < end) return false;
    rest.remove_prefix(end + 1);
  }
}

std::string label(const Targets::Named& named) {
  return named.description.arch.base + " (" + named.stem + ")";
}

Error unknown(const std::string& name, const std::string& what) {
  return {.code = Code::bad_input,
          .reason = "unknown-target",
          .where = "target '" + name.substr(0, 80) + "'",
          .what = what};
}

/// How many characters the start of both has in common.
size_t common_start(std::string_view a, std::string_view b) {
  const size_t most = std::min(a.size(), b.size());
  size_t out = 0;
  while (out < most && a[out] == b[out]) ++out;
  return out;
}

/// The described target that is most like `arch`: of the same generic family or the same NVIDIA
/// generation, and of those the one whose name starts most alike.
const Targets::Named* nearest(const std::vector<Targets::Named>& targets, const std::string& base) {
  const Targets::Named* out = nullptr;
  const auto family = target::generic_family(base);
  const auto wanted = target::parse_nvidia(base);
  for (const auto& named : targets) {
    const auto& other = named.description.arch.base;
    const auto nvidia = target::parse_nvidia(other);
    const bool alike = wanted && nvidia ? wanted->major == nvidia->major
                                        : family && target::generic_family(other) == family;
    if (!alike) continue;
    if (out == nullptr ||
        common_start(other, base) > common_start(out->description.arch.base, base))
      out = &named;
  }
  return out;
}

/// The pieces of "gfx942 gfx1100" or "gfx942;gfx1100".
std::vector<std::string> pieces(const std::string& text) {
  std::vector<std::string> out(1);
  for (const char c : text) {
    if (c != ' ' && c != ';' && c != '+' && c != '|' && c != '/')
      out.back() += c;
    else if (!out.back().empty())
      out.emplace_back();
  }
  if (out.back().empty()) out.pop_back();
  return out;
}

}  // namespace

Result<target::Description> Targets::find(const std::string& name) const {
  for (const auto& named : targets_)
    if (named.stem == name || named.description.name == name) return named.description;
  const auto arch = target::Arch::parse(name);
  for (const auto& named : targets_) {
    if (!arch || named.description.arch.base != arch->base) continue;
    target::Description out = named.description;
    out.arch = *arch;
    return out;
  }
  const std::string wanted = plain(name);
  std::vector<const Named*> found;
  for (const auto& named : targets_)
    if (plain(named.stem) == wanted || names_product(named.description.name, wanted))
      found.push_back(&named);
  if (found.size() == 1) return found.front()->description;
  if (found.empty()) return not_found(name);
  Error error = unknown(name, "means several products");
  std::vector<std::string> stems;
  for (const auto* named : found) stems.push_back(named->stem);
  error.expected = "one of " + joined(stems);
  return error;
}

std::string Targets::similar_arch(const std::string& base) const {
  size_t most = 0;
  std::string out;
  for (const auto& named : targets_) {
    const auto& other = named.description.arch.base;
    const size_t common = common_start(other, base);
    const bool digits = common > other.find_first_of("0123456789");
    if (!digits || common <= most) continue;
    most = common;
    out = other;
  }
  return out;
}

Error Targets::not_found(const std::string& name) const {
  const auto parts = pieces(name);
  const auto means_one = [this](const std::string& part) {
    return target::Arch::parse(part).ok() || find(part).ok();
  };
  if (parts.size() > 1 && std::all_of(parts.begin(), parts.end(), means_one)) {
    Error error = unknown(name, "is not one target");
    error.advice = "separate targets by commas: " + joined(parts, ",");
    return error;
  }
  const std::string examples = (folder_ / "*.json").string();
  const auto arch = target::Arch::parse(name);
  const Named* like = arch ? nearest(targets_, arch->base) : nullptr;
  if (like != nullptr) {
    Error error = unknown(name, "is described by no target file");
    error.advice = "nearest is " + label(*like) + "; to describe " + arch->base + " copy " +
                   (folder_ / (like->stem + ".json")).string() +
                   ", write its own name, arch and figures into it, and pass --target-file "
                   "(docs/target-files.md)";
    return error;
  }
  Error error = unknown(name, arch ? "is described by no target file" : "is not known");
  const std::string start = plain(name);
  std::vector<std::string> labels, meant;
  for (const auto& named : targets_) {
    labels.push_back(label(named));
    if (!arch && start.size() > 2 && plain(named.stem).starts_with(start))
      meant.push_back(named.stem);
  }
  if (!arch && meant.empty()) {
    NearestWord nearest(start);
    for (const auto& named : targets_)
      for (const std::string& known : {named.stem, named.description.arch.base})
        if (nearest.look(known)) meant = {known};
  }
  if (!meant.empty()) {
    error.advice = "did you mean " + joined(meant, " or ") + "?";
    return error;
  }
  error.expected = "one of " + joined(labels);
  error.advice = "or describe it in a file and pass --target-file (docs/target-files.md; " +
                 folder_.string() + " holds examples)";
  return error;
}

}  // namespace hipplan::pipeline
