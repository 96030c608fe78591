#include "common/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cinttypes>
#include <cstdio>
#include <cstdlib>

namespace hipplan::tools {

namespace {

/// The width of the terminal that standard error is.
size_t columns() {
  constexpr size_t kUsual = 80;
  struct winsize size{};
  const bool known = ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : kUsual;
}

/// The start of `text` that leaves `others` columns of `width`, less one for the cursor.
std::string fitting(std::string text, size_t width, size_t others) {
  const size_t room = width > others + 1 ? width - others - 1 : 0;
  if (text.size() <= room) return text;
  size_t end = room;
  // No character is cut in two.
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0u) == 0x80u) --end;
  text.resize(end);
  return text;
}

}  // namespace

Terminal::Terminal(std::string tool, bool quiet, bool no_progress)
    : tool_(std::move(tool)),
      quiet_(quiet),
      no_progress_(no_progress),
      is_terminal_(::isatty(STDERR_FILENO) == 1),
      colour_(is_terminal_ && std::getenv("NO_COLOR") == nullptr),
      start_(Clock::now()),
      last_(start_) {}

void Terminal::message(hipplan_severity severity, const char* text) {
  if (quiet_ && severity == HIPPLAN_NOTE) return;
  clear_progress();
  const char* word = severity == HIPPLAN_ERROR     ? "error"
                     : severity == HIPPLAN_WARNING ? "warning"
                                                   : "note";
  const char* colour = severity == HIPPLAN_ERROR ? "31" : severity == HIPPLAN_WARNING ? "33" : "36";
  if (colour_)
    std::fprintf(stderr, "%s: \033[%sm%s\033[0m: %s\n", tool_.c_str(), colour, word, text);
  else
    std::fprintf(stderr, "%s: %s: %s\n", tool_.c_str(), word, text);
}

void Terminal::progress(const char* what, uint64_t done, uint64_t total) {
  if (no_progress_) return;
  const auto now = Clock::now();
  const auto interval =
      is_terminal_ ? std::chrono::milliseconds(100) : std::chrono::milliseconds(5000);
  if (now - start_ < std::chrono::seconds(1) || now - last_ < interval) return;
  last_ = now;
  if (!is_terminal_) {
    std::fprintf(stderr, "%s: %s: %" PRIu64 " of %" PRIu64 "\n", tool_.c_str(), what, done, total);
    return;
  }
  constexpr uint64_t kWidth = 30;
  const uint64_t filled = total == 0 ? kWidth : done * kWidth / total;
  std::string bar(static_cast<size_t>(filled), '#');
  bar.resize(kWidth, '.');
  // A line that wraps would not be wiped out by the next one.
  const std::string numbers =
      " [" + bar + "] " + std::to_string(done) + "/" + std::to_string(total);
  const std::string shown = fitting(what, columns(), numbers.size());
  std::fprintf(stderr, "\r\033[K%s%s", shown.c_str(), numbers.c_str());
  std::fflush(stderr);
  bar_shown_ = true;
}

void Terminal::clear_progress() {
  if (!bar_shown_) return;
  std::fputs("\r\033[K", stderr);
  std::fflush(stderr);
  bar_shown_ = false;
}

}  // namespace hipplan::tools
