// Reads one JSON document from standard input and checks it against schemas/NAME.schema.json, NAME
// and version coming from its "schema" key.
// Usage: check-json NAME      exit 0 and one line, or 1 and what is wrong
#include <cstdio>
#include <iostream>
#include <iterator>

#include "json_schema.h"

int main(int argc, char** argv) {
  using namespace hipplan;
  if (argc != 2) {
    std::fputs("usage: check-json NAME <DOCUMENT\n", stderr);
    return 2;
  }
  const std::string name = argv[1];
  const auto schemas = test::Schemas::load(HIPPLAN_SOURCE_DIR "/schemas");
  if (!schemas) {
    std::printf("%s\n", schemas.error().text().c_str());
    return 1;
  }
  const std::string text{std::istreambuf_iterator<char>(std::cin), {}};
  const auto document = json::parse(text, "document");
  if (!document) {
    std::printf("%s\n", document.error().text().c_str());
    return 1;
  }
  const auto faults = schemas->check(*document, name + ".schema.json");
  for (const auto& fault : faults) std::printf("%s\n", fault.c_str());
  if (faults.empty()) std::printf("%s\n", document->find("schema")->string.c_str());
  return faults.empty() ? 0 : 1;
}
