// Options structures of programs that were built with an older or newer header.
#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "api/options.h"

namespace {
struct Sample {
  size_t struct_size;
  const char* first;
  const char* second;
  int64_t reserved;
};
constexpr size_t kFirstRelease = offsetof(Sample, second);

struct SampleOfLater {
  Sample known;
  const char* third;
};
}  // namespace

template <>
struct hipplan::api::Grown<Sample> {
  static constexpr size_t kSizes[] = {kFirstRelease, sizeof(Sample)};
};

namespace {
using hipplan::api::kLargestOptions;
using hipplan::api::taken;

std::string refusal(const Sample* given) {
  const auto out = taken(given, "options");
  REQUIRE_FALSE(out.ok());
  CHECK(out.error().code == hipplan::Code::bad_input);
  return out.error().reason + ": " + out.error().what;
}

TEST_CASE("a program of an older header has nothing behind its structure's end") {
  // What lies behind it in the program's memory is not the new member.
  Sample given{
      .struct_size = kFirstRelease, .first = "one", .second = "not its own", .reserved = 9};
  const auto out = taken(&given, "options");
  REQUIRE(out.ok());
  CHECK(std::string(out->first) == "one");
  CHECK(out->second == nullptr);
  CHECK(out->struct_size == sizeof(Sample));
}

TEST_CASE("a program of a newer header is served when it asks for nothing new") {
  SampleOfLater given{.known = {sizeof(SampleOfLater), "one", "two", 0}, .third = nullptr};
  const auto out = taken(&given.known, "options");
  REQUIRE(out.ok());
  CHECK(std::string(out->second) == "two");
  CHECK(out->struct_size == sizeof(Sample));

  given.third = "new";
  CHECK(refusal(&given.known) == "struct-size: sets a member that this library does not know");
}

TEST_CASE("a size that no header has is refused before anything is read by it") {
  Sample given{};
  for (const size_t size : {size_t{0}, size_t{3}, kFirstRelease - 1, kFirstRelease + 1,
                            sizeof(Sample) + 1, kLargestOptions + 8, ~size_t{0}}) {
    given.struct_size = size;
    CHECK(refusal(&given) == "struct-size: does not say its size");
  }
  given.struct_size = sizeof(Sample);
  given.reserved = 1;
  CHECK(refusal(&given) == "struct-size: sets its reserved member");
  CHECK(refusal(nullptr) == "null-argument: is null");
}
}  // namespace
