#include "common/values.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include "base/join.h"
#include "base/result.h"
#include "base/spelling.h"

namespace hipplan::tools {

CLI::Validator whole_number(uint64_t least, uint64_t most, const std::string& limit) {
  return CLI::Validator(
      [=](const std::string& text) {
        uint64_t number = 0;
        const char* end = text.data() + text.size();
        const auto read = std::from_chars(text.data(), end, number);
        const bool good =
            read.ec == std::errc() && read.ptr == end && number >= least && number <= most;
        return good ? std::string()
                    : cat("'", text, "' is not a whole number from ", least, " to ", limit);
      },
      "", "whole number");
}

CLI::Validator one_of(const std::vector<std::string>& words) {
  return CLI::Validator(
      [words](const std::string& text) {
        if (std::find(words.begin(), words.end(), text) != words.end()) return std::string();
        NearestWord nearest(text);
        for (const auto& word : words) nearest.look(word);
        return cat("'", text, "' is not one of ", joined(words),
                   nearest.word().empty() ? "" : "; the nearest is " + nearest.word());
      },
      "", "one of");
}

const CLI::Validator kWholeNumber = whole_number(0, UINT64_MAX, "2^64 - 1");
const CLI::Validator kTolerance(
    [](const std::string& text) {
      double number = -1;
      const char* end = text.data() + text.size();
      const auto read = std::from_chars(text.data(), end, number);
      const bool good = read.ec == std::errc() && read.ptr == end && number >= 0 &&
                        number <= std::numeric_limits<double>::max();
      return good ? std::string() : "'" + text + "' is not a number from 0 on";
    },
    "", "tolerance");

}  // namespace hipplan::tools
