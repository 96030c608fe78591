#include "common/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace hipplan::tools {

namespace {

/// The width of the terminal that standard error is.
size_t columns() {
  constexpr size_t kUsual = 80;
  struct winsize size{};
  const bool known = ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : kUsual;
}

/// Whether a character goes on with this byte: no character is cut in two.
bool goes_on(char byte) {
  constexpr unsigned kFollowing = 0x80, kFollowingMask = 0xc0;
  return (static_cast<unsigned char>(byte) & kFollowingMask) == kFollowing;
}

/// What of `text` leaves `others` columns of `width`, less one for the cursor. Of a text that is
/// too long the middle is left out: its end says what is going on, and for how long.
std::string fitting(const std::string& text, size_t width, size_t others) {
  constexpr std::string_view kGap = "...";
  constexpr size_t kFrontShare = 4;
  const size_t room = width > others + 1 ? width - others - 1 : 0;
  if (text.size() <= room) return text;
  if (room <= kGap.size()) return "";
  size_t front = (room - kGap.size()) / kFrontShare;
  size_t back = text.size() - (room - kGap.size() - front);
  while (front > 0 && goes_on(text[front])) --front;
  while (back < text.size() && goes_on(text[back])) ++back;
  return text.substr(0, front).append(kGap).append(text, back);
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
