// .npy reading: no input may crash it, and what it accepts must be consistent.
#include <cstdint>
#include <cstdlib>

#include "run/npy.h"

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace hipplan;
  const ByteView file(reinterpret_cast<const std::byte*>(data), size);
  const auto npy = run::read_npy(file, "fuzz");
  if (!npy) {
    require(!npy.error().reason.empty() && npy.error().code == Code::bad_input);
    return 0;
  }
  require(npy->data.size() <= size && npy->shape.size() <= 32);
  // What was read, written again and read again, is the same.
  const Bytes written = run::write_npy(npy->descr, npy->shape, npy->data);
  const auto again = run::read_npy(written, "again");
  require(again.ok() && again->shape == npy->shape && again->descr == npy->descr);
  require(again->data.size() == npy->data.size());

  graph::Tensor tensor;
  tensor.uid = 1;
  tensor.type = graph::DataType::float32;
  tensor.dims = {2, 3};
  tensor.strides = {4, 1};
  const auto bytes = run::tensor_from_npy(tensor, *npy, "fuzz");
  if (bytes) require(bytes->size() == 28 && run::tensor_to_npy(tensor, *bytes).ok());
  return 0;
}
