#include "api/argument_names.h"

#include <string>
#include <string_view>

namespace hipplan::api {
namespace {

struct Words {
  std::string_view tools, functions;
};
/// Longer ones stand in front of those that they hold.
constexpr Words kWords[] = {
    {"pass --data with", "set data_folder to"},
    {"--hip-library (hip_library in the C interface)", "hip_library"},
    {"--cuda-library (cuda_library in the C interface)", "cuda_library"},
    {"--graph-key with one of", "graph_key, one of"},
    {"--target with one of", "target, one of"},
    {", or pass --allow-unknown-keys", ""},
    {"and pass --target-file", "and put it into the folder targets of the data folder"},
};

void replace_all(std::string& text) {
  for (const auto& [tools, functions] : kWords)
    for (size_t at = text.find(tools); at != std::string::npos;
         at = text.find(tools, at + functions.size()))
      text.replace(at, tools.size(), functions);
}

}  // namespace

Error with_argument_names(Error error) {
  for (std::string* part : {&error.what, &error.expected, &error.found, &error.advice})
    replace_all(*part);
  for (std::string& detail : error.details) replace_all(detail);
  return error;
}

}  // namespace hipplan::api
