// MessagePack to the same value tree as JSON text, and back.
#pragma once

#include <string>

#include "base/bytes.h"
#include "base/result.h"
#include "json/json.h"

namespace hipplan::json {

/// Reads exactly one MessagePack value that fills `bytes`. As strict as parse(): keys are unique
/// UTF-8 strings, integers fit int64, floats are finite, depth and size within `limits`. A `bin`
/// becomes a string value with those bytes, unchecked; extension types are refused. In the tree
/// `line` is 0 and `column` the byte offset of the value. Every length is checked against what is
/// left before any memory is taken. Fails with bad_input, `where` "<where>: offset N".
Result<Value> parse_msgpack(ByteView bytes, const std::string& where, const Limits& limits = {});

/// Writes a value in the shortest encoding of each item; integers by value, numbers as float 64,
/// strings as `str`. Members keep their order. parse_msgpack gives the same tree back.
[[nodiscard]] Bytes write_msgpack(const Value& value);

}  // namespace hipplan::json
