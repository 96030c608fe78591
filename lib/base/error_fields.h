// The fields of an error, as every document writes them.
#pragma once

#include <string_view>

#include "base/result.h"

namespace hipplan {

/// Calls `visit(name, text)` for each text of an error in the order of the JSON documents
/// (schemas/error.schema.json): class, reason and what always, the others where they are set. The
/// details come behind them.
template <class Visit>
void for_each_field(const Error& error, const Visit& visit) {
  const auto set = [&](std::string_view name, const std::string& text) {
    if (!text.empty()) visit(name, std::string_view(text));
  };
  visit("class", std::string_view(code_name(error.code)));
  visit("reason", std::string_view(error.reason));
  set("where", error.where);
  visit("what", std::string_view(error.what));
  set("expected", error.expected);
  set("found", error.found);
  set("advice", error.advice);
}

}  // namespace hipplan
