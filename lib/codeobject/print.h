// Code objects in words, for people and for programs.
#pragma once

#include <string>

#include "codeobject/codeobject.h"
#include "json/json.h"

namespace hipplan::codeobject {

/// Several lines: architecture, segments, then each kernel with registers, LDS and arguments.
[[nodiscard]] std::string print(const CodeObject& object);

/// One JSON object: arch, version, segments[], kernels[] with arguments[].
void write_json(const CodeObject& object, json::Writer& writer);

}  // namespace hipplan::codeobject
