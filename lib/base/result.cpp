#include "base/result.h"

#include "base/join.h"

namespace hipplan {

std::string Error::text() const {
  std::string out;
  if (!where.empty()) out += where + ": ";
  out += what;
  // One detail belongs to the clause; several are a list at the end.
  if (details.size() == 1) out += ": " + details.front();
  if (!expected.empty()) out += "; expected " + expected;
  if (!found.empty()) out += (expected.empty() ? "; found " : ", found ") + found;
  if (!advice.empty()) out += "; " + advice;
  if (details.size() > 1) out += ":\n  " + joined(details, "\n  ");
  return out;
}

Error Error::within(const std::string& outer) const& {
  Error copy = *this;
  copy.where = where.empty() ? outer : outer + ": " + where;
  return copy;
}

const char* code_name(Code code) {
  switch (code) {
    case Code::negative:
      return "negative";
    case Code::bad_input:
      return "bad-input";
    case Code::damaged:
      return "damaged";
    case Code::unusable:
      return "unusable";
    case Code::untrusted:
      return "untrusted";
    case Code::machine:
      return "machine";
    case Code::internal:
      return "internal";
    case Code::interrupted:
      return "interrupted";
  }
  return "internal";
}

int exit_code(Code code) {
  switch (code) {
    case Code::negative:
      return 1;
    case Code::bad_input:
      return 2;
    case Code::damaged:
      return 3;
    case Code::unusable:
      return 4;
    case Code::untrusted:
      return 5;
    case Code::machine:
    case Code::internal:
      return 6;
    case Code::interrupted:
      return 130;
  }
  return 6;
}

}  // namespace hipplan
