#include <doctest/doctest.h>

#include "base/spelling.h"

using namespace hipplan;

TEST_CASE("letters to add, take away or change") {
  CHECK(edit_distance("", "") == 0);
  CHECK(edit_distance("show", "show") == 0);
  CHECK(edit_distance("sho", "show") == 1);
  CHECK(edit_distance("shwo", "show") == 1);
  CHECK(edit_distance("hsow", "show") == 1);
  CHECK(edit_distance("kitten", "sitting") == 3);
  CHECK(edit_distance("", "abc") == 3);
  CHECK(edit_distance("extract", "disasm") == edit_distance("disasm", "extract"));
}

TEST_CASE("the word most alike, or none") {
  const auto nearest = [](const char* written) {
    NearestWord out(written);
    for (const char* known : {"show", "split", "strip", "sign", "signatures"}) out.look(known);
    return out.word();
  };
  CHECK(nearest("sho") == "show");
  CHECK(nearest("stirp") == "strip");
  CHECK(nearest("stiip") == "strip");
  CHECK(nearest("stxxp").empty());  // two of five letters are too many
  CHECK(nearest("strp") == "strip");
  CHECK(nearest("signature") == "signatures");
  CHECK(nearest("show") == "show");
  CHECK(nearest("conv.hplan").empty());
  CHECK(nearest("").empty());
  NearestWord long_one(std::string(100, 'a'));
  CHECK(!long_one.look(std::string(100, 'a') + "b"));
}

TEST_CASE("of many words the few nearest are kept, best first, each meaning once") {
  NearestWords nearest("matmul", 2);
  for (const char* word : {"matmuul", "conv", "matmulxx", "matmul2", "mtamul", "matmul"})
    if (const auto slips = nearest.slips(word)) nearest.keep(*slips, word);
  CHECK(nearest.meanings() == std::vector<std::string>{"matmul", "matmuul"});
  CHECK_FALSE(nearest.slips("matmu1"));  // one slip is no better than what is kept
  // Of the words for a meaning the best counts, whichever comes first.
  NearestWords twice("matmul", 3);
  twice.keep(2, "late");
  CHECK_FALSE(twice.is_full());
  twice.keep(1, "early");
  twice.keep(0, "late");
  twice.keep(2, "early");
  CHECK(twice.meanings() == std::vector<std::string>{"late", "early"});
  twice.keep(1, "third");
  CHECK(twice.is_full());
}
