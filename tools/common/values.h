// Checks of the values that options take.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

namespace hipplan::tools {

/// Digits only, from `least` to `most`, so that "-1" is not read as a huge number. `most` is said
/// in words.
[[nodiscard]] CLI::Validator whole_number(uint64_t least, uint64_t most, const std::string& limit);
/// One of a few words.
[[nodiscard]] CLI::Validator one_of(const std::vector<std::string>& words);

/// Any whole number.
extern const CLI::Validator kWholeNumber;
/// A tolerance: a number from 0 on.
extern const CLI::Validator kTolerance;

}  // namespace hipplan::tools
