// Text out of files never reaches a terminal as anything but text.
#include <doctest/doctest.h>

#include "base/harmless.h"

using hipplan::harmless;

TEST_CASE("control characters are shown, not sent") {
  CHECK(harmless("a\033[31m\x07\x7f") == "a\\x1b[31m\\x07\\x7f");
  CHECK(harmless("\xc2\x9b"
                 "1m") == "\\x9b1m");
  CHECK(harmless("a\nb\tc") == "a\\x0ab\\x09c");
  CHECK(harmless("a\nb\tc", "\n\t") == "a\nb\tc");
}

TEST_CASE("characters that turn the direction of text are shown") {
  CHECK(harmless("\xe2\x80\xaa \xe2\x80\xae \xe2\x81\xa6 \xe2\x81\xa9") ==
        "\\u202a \\u202e \\u2066 \\u2069");
  CHECK(harmless("\xe2\x80\xa8\xe2\x80\xa9\xe2\x80\xaf") == "\\u2028\\u2029\xe2\x80\xaf");
  CHECK(harmless("\xd8\x9c\xe2\x80\x8e\xe2\x80\x8f\xef\xbb\xbf") == "\\u061c\\u200e\\u200f\\ufeff");
  CHECK(harmless("\xe2\x80\x8d") == "\xe2\x80\x8d");  // joins letters
}

TEST_CASE("bytes that are no UTF-8 are replaced, text stays") {
  const std::string bad = "\xef\xbf\xbd";
  CHECK(harmless("\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80") ==
        "\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80");
  CHECK(harmless("a\x80z") == "a" + bad + "z");
  CHECK(harmless("\xc3") == bad);
  CHECK(harmless("\xc0\x80") == bad + bad);            // longer than needed
  CHECK(harmless("\xed\xa0\x80") == bad + bad + bad);  // half of a pair
  CHECK(harmless("\xf4\x90\x80\x80") == bad + bad + bad + bad);
}
