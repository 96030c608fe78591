// Target descriptions for tests and benchmarks.
#pragma once

#include <stdexcept>
#include <string>

#include "base/bytes.h"
#include "base/file.h"
#include "target/target.h"

namespace hipplan::test {

/// The shipped target file descriptors/targets/STEM.json. Throws the error's text when it is bad.
inline target::Description shipped_target(const std::string& stem) {
  const auto text =
      read_file(std::string(HIPPLAN_SOURCE_DIR "/descriptors/targets/") + stem + ".json");
  if (!text) throw std::runtime_error(text.error().text());
  auto description = target::parse_description(as_text(*text), stem);
  if (!description) throw std::runtime_error(description.error().text());
  return std::move(description).value();
}

}  // namespace hipplan::test
