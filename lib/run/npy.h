// NumPy .npy files (format 1.0, 2.0, 3.0): strict reading, writing, and tensors from and to them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "graph/graph.h"

namespace hipplan::run {

/// A .npy file in memory. `data` points into the bytes given to read_npy.
struct Npy {
  std::string descr;  ///< "<f4", "|V2", …
  bool fortran_order = false;
  std::vector<int64_t> shape;  ///< empty: one element
  ByteView data;               ///< exactly the elements
};

/// Reads a header and checks it against the file's size. Fails with bad_input, reason "npy": magic,
/// version, header grammar, an unknown or big-endian type, a negative or overflowing shape, missing
/// or extra data. Rank is at most 32.
Result<Npy> read_npy(ByteView file, const std::string& where);

/// A 1.0 file in C order, header padded so that the data starts at a multiple of 64 bytes.
[[nodiscard]] Bytes write_npy(const std::string& descr, const std::vector<int64_t>& shape,
                              ByteView data);

/// The type code that stands for a tensor's type: f2 f4 f8 i1 u1 i4 i8 b1; "<V2" for bfloat16 and
/// "|V1" for 8-bit floats (what NumPy writes for ml_dtypes). Empty for types below 8 bits.
[[nodiscard]] std::string npy_descr(graph::DataType type);

/// A buffer of span_bytes() bytes laid out by the tensor's strides, gaps 0. The file's shape must
/// be the tensor's dims (any shape of one element for a one-element tensor) and its type
/// npy_descr();
/// "<u2" is taken for bfloat16 and "|u1" for 8-bit floats: their bits. Both memory orders are
/// taken. Fails with bad_input, reason "npy-shape" or "npy-type".
Result<Bytes> tensor_from_npy(const graph::Tensor& tensor, const Npy& npy,
                              const std::string& where);
/// The tensor's elements in C order as a .npy file. Fails with bad_input, reason "npy-type", for
/// types below 8 bits and "input-size" for a buffer that is too short.
Result<Bytes> tensor_to_npy(const graph::Tensor& tensor, ByteView bytes);

}  // namespace hipplan::run
