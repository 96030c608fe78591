// Files of others: recognising and showing them.
#include <cstdlib>

#include "plan/foreign_facts.h"

using namespace hipplan;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const ByteView bytes(reinterpret_cast<const std::byte*>(data), size);
  const auto facts = plan::foreign_facts(bytes);
  json::Writer out;
  out.begin_object();
  plan::foreign_json(out, facts);
  out.end_object();
  // What is printed is JSON, whatever the names in the file are.
  if (!json::parse(out.text(), "facts")) std::abort();
  (void)plan::foreign_text(facts);
  (void)plan::foreign_error(bytes, "fuzz");
  return 0;
}
