#include "cases.h"

#include <doctest/doctest.h>

#include <cmath>

#include "base/float_types.h"

namespace hipplan::test {

namespace {

constexpr double kPoison = 12345;  // what it becomes in half or bfloat16 is poison enough

std::mt19937& generator() {
  static std::mt19937 random(20240607);
  return random;
}

size_t bytes_of(const std::string& dtype) {
  return dtype == "float" || dtype == "int32" ? 4 : 2;
}

size_t span(const List& dims, const List& strides) {
  int64_t last = 0;
  for (size_t i = 0; i < dims.size(); ++i) last += (dims[i] - 1) * strides[i];
  return static_cast<size_t>(last + 1);
}

Bytes to_bytes(const Tensor& tensor) {
  Bytes out;
  for (const double value : tensor.memory) {
    if (tensor.dtype == "float") append(out, static_cast<float>(value));
    if (tensor.dtype == "int32") append(out, static_cast<int32_t>(value));
    if (tensor.dtype == "half") append(out, double_to_half(value));
    if (tensor.dtype == "bfloat16") append(out, double_to_bfloat16(value));
  }
  return out;
}

double from_bytes(const Tensor& tensor, const Bytes& bytes, size_t offset) {
  const uint64_t at = offset * bytes_of(tensor.dtype);
  if (tensor.dtype == "float") return *load<float>(bytes, at);
  if (tensor.dtype == "half") return half_to_float(*load<uint16_t>(bytes, at));
  return bfloat16_to_float(*load<uint16_t>(bytes, at));
}

bool close(const Expected& expected, double found) {
  if (std::isnan(expected.value)) return std::isnan(found);
  if (std::isinf(expected.value)) return found == expected.value;
  return std::fabs(found - expected.value) <= expected.tolerance;
}

void check_output(const Tensor& tensor, const std::vector<Expected>& expected, const Bytes& bytes) {
  std::vector<bool> written(tensor.memory.size(), false);
  size_t wrong = 0;
  for (const auto& element : expected) {
    written[element.offset] = true;
    const double found = from_bytes(tensor, bytes, element.offset);
    if (close(element, found)) continue;
    if (++wrong == 1) {
      CAPTURE(element.offset);
      CAPTURE(element.value);
      CAPTURE(element.tolerance);
      CAPTURE(found);
      CHECK(close(element, found));
    }
  }
  CHECK(wrong == 0);
  for (size_t i = 0; i < written.size(); ++i) {
    if (!written[i] && from_bytes(tensor, bytes, i) != tensor.memory[i]) {
      CAPTURE(i);
      FAIL_CHECK("an element that no index reaches was written");
      break;
    }
  }
}

const Tensor* find(const Case& test, int64_t uid) {
  for (const auto* list : {&test.inputs, &test.outputs}) {
    for (const auto& tensor : *list) {
      if (tensor.uid == uid) return &tensor;
    }
  }
  return nullptr;
}

}  // namespace

size_t Tensor::offset(const List& index) const {
  int64_t sum = 0;
  for (size_t i = 0; i < index.size(); ++i) sum += index[i] * strides[i];
  return static_cast<size_t>(sum);
}

List packed_strides(const List& dims) {
  List strides(dims.size(), 1);
  for (size_t i = dims.size(); i-- > 1;) strides[i - 1] = strides[i] * dims[i];
  return strides;
}

double stored(const std::string& dtype, double value) {
  if (dtype == "half") return half_to_float(double_to_half(value));
  if (dtype == "bfloat16") return bfloat16_to_float(double_to_bfloat16(value));
  return static_cast<float>(value);
}

double roundoff(const std::string& dtype) {
  return dtype == "half" ? 0x1p-11 : dtype == "bfloat16" ? 0x1p-8 : 0x1p-24;
}

Tensor random_tensor(int64_t uid, const std::string& dtype, List dims, List strides, double low,
                     double high) {
  Tensor tensor{uid, dtype, std::move(dims), std::move(strides), {}};
  std::uniform_real_distribution<double> spread(low, high);
  tensor.memory.resize(span(tensor.dims, tensor.strides));
  for (auto& value : tensor.memory) value = stored(dtype, spread(generator()));
  return tensor;
}

Tensor poisoned_tensor(int64_t uid, const std::string& dtype, List dims, List strides) {
  Tensor tensor{uid, dtype, std::move(dims), std::move(strides), {}};
  tensor.memory.assign(span(tensor.dims, tensor.strides), stored(dtype, kPoison));
  return tensor;
}

void for_each_index(const List& dims, const std::function<void(const List&)>& visit) {
  List index(dims.size(), 0);
  for (;;) {
    visit(index);
    size_t dim = dims.size();
    while (dim > 0 && ++index[dim - 1] == dims[dim - 1]) index[--dim] = 0;
    if (dim == 0) return;
  }
}

void check_case(const Case& test, const Runner& runner) {
  CAPTURE(test.kernel);
  const auto& operation = engine::text(test.values, "operation");  // empty for other ops
  CAPTURE(operation);
  const auto* handler = engine::find_by_alias(test.alias);
  REQUIRE(handler != nullptr);
  const auto checked = engine::check_values(*handler, test.values);
  REQUIRE_MESSAGE(checked.ok(), (checked.ok() ? "" : checked.error().text()));
  const auto prepared = handler->prepare(test.values);
  REQUIRE_MESSAGE(prepared.ok(), (prepared.ok() ? "" : prepared.error().text()));
  std::vector<Bytes> buffers;
  for (const auto& binding : prepared->bindings) {
    const Tensor* tensor = find(test, binding.uid);
    REQUIRE(tensor != nullptr);
    buffers.push_back(to_bytes(*tensor));
    CHECK(binding.min_bytes == buffers.back().size());
  }
  CHECK(prepared->bindings.size() == test.inputs.size() + test.outputs.size());
  const auto ran = runner(test.kernel, *prepared, buffers);
  REQUIRE_MESSAGE(ran.ok(), (ran.ok() ? "" : ran.error().text()));
  for (size_t i = 0; i < prepared->bindings.size(); ++i) {
    for (size_t o = 0; o < test.outputs.size(); ++o) {
      if (test.outputs[o].uid != prepared->bindings[i].uid) continue;
      CHECK(prepared->bindings[i].written);
      check_output(test.outputs[o], test.expected[o], buffers[i]);
    }
  }
}

}  // namespace hipplan::test
