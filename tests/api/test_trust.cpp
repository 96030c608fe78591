// Signatures through the C interface: a program that takes only what trusted keys have signed.
#include <doctest/doctest.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <string>

#include "hipplan/hipplan.h"

TEST_CASE("a program takes only files that a trusted key has signed") {
  const std::string golden = std::string(HIPPLAN_SOURCE_DIR) + "/tests/golden/1.0/";
  const std::string trust = golden + "trust";
  const auto asked = [&](const std::string& name, const std::string& folder) -> std::string {
    hipplan_file* file = nullptr;
    REQUIRE_MESSAGE(hipplan_file_open((golden + name).c_str(), &file) == HIPPLAN_OK,
                    std::string(hipplan_last_error()));
    const auto status = hipplan_file_require_signed(file, folder.c_str(), nullptr, 0);
    const std::string reason = hipplan_last_error_reason();
    CHECK((status == HIPPLAN_OK) == reason.empty());
    if (status != HIPPLAN_OK && folder == trust) CHECK(status == HIPPLAN_UNTRUSTED);
    hipplan_file_destroy(file);
    return reason;
  };
  CHECK(asked("signed.hplan", trust).empty());
  CHECK(asked("single.hplan", trust) == "unsigned");
  CHECK(asked("signed.hplan", golden) == "trust-folder");  // holds no key
  // The block behind the content, as a detached signature of the unsigned file.
  std::ifstream in(golden + "signed.hplan", std::ios::binary);
  const std::string whole{std::istreambuf_iterator<char>(in), {}};
  uint64_t content = 0;
  std::memcpy(&content, whole.data() + 16, sizeof(content));
  hipplan_file* file = nullptr;
  REQUIRE(hipplan_file_from_bytes(whole.data(), content, &file) == HIPPLAN_OK);
  CHECK(hipplan_file_require_signed(file, trust.c_str(), nullptr, 0) == HIPPLAN_UNTRUSTED);
  CHECK(hipplan_file_require_signed(file, trust.c_str(), whole.data() + content,
                                    whole.size() - content) == HIPPLAN_OK);
  CHECK(hipplan_file_require_signed(file, trust.c_str(), nullptr, 1) == HIPPLAN_BAD_INPUT);
  CHECK(hipplan_file_require_signed(file, nullptr, nullptr, 0) == HIPPLAN_BAD_INPUT);
  hipplan_file_destroy(file);
}
