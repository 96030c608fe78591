#include "reference/node.h"

#include <algorithm>
#include <cmath>

#include "reference/bounds.h"
#include "reference/element.h"

namespace hipplan::reference {

std::string dims_text(const std::vector<int64_t>& dims) {
  std::string out = "[";
  for (size_t i = 0; i < dims.size(); ++i) {
    if (i != 0) out += ',';
    out += std::to_string(dims[i]);
  }
  out += ']';
  return out;
}

int64_t product(const std::vector<int64_t>& dims) {
  int64_t out = 1;
  for (const int64_t d : dims) out *= d;
  return out;
}

std::vector<int64_t> row_major(const std::vector<int64_t>& dims) {
  std::vector<int64_t> out(dims.size());
  int64_t stride = 1;
  for (size_t i = dims.size(); i-- > 0; stride *= dims[i]) out[i] = stride;
  return out;
}

std::vector<int64_t> positions_along(const std::vector<int64_t>& dims,
                                     const std::vector<bool>& chosen, bool which) {
  const auto strides = row_major(dims);
  std::vector<int64_t> out{0};
  for (size_t d = 0; d < dims.size(); ++d) {
    if (chosen[d] != which) continue;
    std::vector<int64_t> next;
    next.reserve(out.size() * static_cast<size_t>(dims[d]));
    for (const int64_t base : out)
      for (int64_t i = 0; i < dims[d]; ++i) next.push_back(base + i * strides[d]);
    out = std::move(next);
  }
  return out;
}

std::optional<std::vector<int64_t>> broadcast_strides(const std::vector<int64_t>& dims,
                                                      const std::vector<int64_t>& strides,
                                                      const std::vector<int64_t>& target) {
  std::vector<int64_t> out(target.size(), 0);
  const size_t common = std::min(dims.size(), target.size());
  for (size_t i = 0; i + common < dims.size(); ++i)
    if (dims[i] != 1) return std::nullopt;
  for (size_t i = 1; i <= common; ++i) {
    const int64_t dim = dims[dims.size() - i];
    if (dim == 1) continue;
    if (dim != target[target.size() - i]) return std::nullopt;
    out[target.size() - i] = strides[dims.size() - i];
  }
  return out;
}

std::vector<int64_t> Operand::strides() const {
  return bytes != nullptr ? tensor->strides : row_major(tensor->dims);
}

void Operand::read(int64_t first, int64_t stride, int64_t count, double* out) const {
  if (bytes != nullptr) return decode(tensor->type, bytes, first, stride, count, out);
  const double* from = dense->values.data() + first;
  for (int64_t i = 0; i < count; ++i) out[i] = from[i * stride];
}

void Operand::read_errors(int64_t first, int64_t stride, int64_t count, double* out) const {
  if (exact()) {
    std::fill_n(out, count, 0.0);
    return;
  }
  const float* from = dense->errors.data() + first;
  for (int64_t i = 0; i < count; ++i) out[i] = from[i * stride];
}

const Operand* Context::input(std::string_view role) const {
  const auto found = node.input(role);
  return found ? &operands[*found] : nullptr;
}

const graph::Tensor* Context::output(std::string_view role) const {
  const auto found = node.output(role);
  return found ? &graph.tensors[*found] : nullptr;
}

Result<const Operand*> Context::required(std::string_view role) const {
  if (const Operand* found = input(role)) return found;
  return Error{.code = Code::bad_input,
               .reason = "missing-tensor",
               .where = where,
               .what = cat("input '", role, "' is not connected")};
}

Result<size_t> Context::required_output(std::string_view role) const {
  if (const auto found = node.output(role)) return *found;
  return Error{.code = Code::bad_input,
               .reason = "missing-tensor",
               .where = where,
               .what = cat("output '", role, "' is not connected")};
}

std::shared_ptr<const Dense> Context::load(const Operand& operand) const {
  const TypeFacts& type = facts(operand.tensor->type);
  const bool narrowing = !type.integer && type.unit_roundoff < roundoff && roundoff > 0x1p-52;
  if (operand.dense != nullptr && !narrowing) return operand.dense;
  auto out = std::make_shared<Dense>();
  if (operand.dense != nullptr) {
    *out = *operand.dense;
  } else {
    out->values = unpack(*operand.tensor, operand.bytes, jobs);
  }
  if (!narrowing) return out;
  out->errors.resize(out->values.size(), 0.0f);
  for (size_t i = 0; i < out->values.size(); ++i)
    out->errors[i] = upward(out->errors[i] + roundoff * std::fabs(out->values[i]));
  return out;
}

Result<double> Context::scalar(std::string_view role, const Operand& operand) const {
  if (operand.tensor->element_count() != 1)
    return bad_shape(role, "one element", operand.tensor->dims);
  double out = 0;
  operand.read(0, 1, 1, &out);
  return out;
}

Error Context::unsupported(const std::string& what) const {
  return {.code = Code::negative,
          .reason = "reference-unsupported",
          .where = where,
          .what = what + " is not evaluated by the CPU reference"};
}

Error Context::bad_shape(std::string_view role, const std::string& expected,
                         const std::vector<int64_t>& found) const {
  return {.code = Code::bad_input,
          .reason = "shape",
          .where = where,
          .what = cat("tensor '", role, "' has the wrong dims"),
          .expected = expected,
          .found = dims_text(found)};
}

}  // namespace hipplan::reference
