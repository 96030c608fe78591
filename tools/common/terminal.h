// Messages and progress on standard error.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "hipplan/tools.h"

namespace hipplan::tools {

/// A bar on a terminal, plain lines now and then otherwise; nothing for work under a second.
class Terminal {
 public:
  Terminal(std::string tool, bool quiet, bool no_progress);
  void message(hipplan_severity severity, const char* text);
  void progress(const char* what, uint64_t done, uint64_t total);
  void clear_progress();

 private:
  using Clock = std::chrono::steady_clock;
  std::string tool_;
  bool quiet_, no_progress_, is_terminal_, colour_;
  bool bar_shown_ = false;
  Clock::time_point start_, last_;
};

}  // namespace hipplan::tools
