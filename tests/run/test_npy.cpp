#include <doctest/doctest.h>

#include "../reference/graph_builder.h"
#include "run/npy.h"

using namespace hipplan;
using namespace hipplan::test;

namespace {

/// A file with this dictionary and data; the header is not padded.
Bytes npy(const std::string& dictionary, const Bytes& data, unsigned major = 1) {
  Bytes out;
  append(out, as_bytes("\x93NUMPY"));
  append(out, static_cast<uint8_t>(major));
  append(out, uint8_t{0});
  if (major == 1)
    append(out, static_cast<uint16_t>(dictionary.size() + 1));
  else
    append(out, static_cast<uint32_t>(dictionary.size() + 1));
  append(out, as_bytes(dictionary));
  append(out, as_bytes("\n"));
  append(out, ByteView(data));
  return out;
}
template <class T>
Bytes raw(const std::vector<T>& values) {
  Bytes out;
  for (const T v : values) append(out, v);
  return out;
}
std::string refusal(const Bytes& file) {
  const auto result = run::read_npy(file, "x.npy");
  if (result.ok()) return "read";
  CHECK(result.error().code == Code::bad_input);
  CHECK(result.error().reason == "npy");
  CHECK(result.error().where.starts_with("x.npy"));
  return result.error().what;
}

constexpr const char* kPlain = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }";
const std::vector<float> kSix{0, 1, 2, 3, 4, 5};

}  // namespace

TEST_CASE("the bytes that NumPy itself writes for np.arange(3, dtype='<i4')") {
  std::string expected("\x93NUMPY\x01\x00v\x00", 10);
  expected += "{'descr': '<i4', 'fortran_order': False, 'shape': (3,), }";
  expected += std::string(128 - expected.size() - 1, ' ') + "\n";
  expected += std::string("\0\0\0\0\1\0\0\0\2\0\0\0", 12);
  CHECK(as_text(run::write_npy("<i4", {3}, raw<int32_t>({0, 1, 2}))) == expected);
}

TEST_CASE("all three versions and both quotes are read") {
  for (const unsigned version : {1u, 2u, 3u}) {
    const Bytes file = npy(kPlain, raw(kSix), version);
    const auto read = run::read_npy(file, "x");
    REQUIRE(read.ok());
    CHECK(read->descr == "<f4");
    CHECK(read->shape == Dims{2, 3});
    CHECK(!read->fortran_order);
    CHECK(read->data.size() == 24);
  }
  const Bytes other =
      npy("{\"shape\": (), \"fortran_order\": True, \"descr\": \"<f8\"}   ", raw<double>({2.5}));
  const auto read = run::read_npy(other, "x");
  REQUIRE(read.ok());
  CHECK(read->shape.empty());
  CHECK(read->fortran_order);
}

TEST_CASE("hostile files are refused with what is wrong") {
  const auto with = [](const std::string& dictionary) { return npy(dictionary, raw(kSix)); };
  CHECK(refusal({}) == "not a .npy file");
  CHECK(refusal(npy(kPlain, raw(kSix), 4)) == "unknown .npy version");
  const std::string grammar = "the header is not as NumPy writes it";
  for (const char* bad :
       {"", "{", "{}", "{'descr': '<f4'}", "['descr']",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), } x",
        "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (2, 3)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), 'more': 1}",
        "{'descr': '<f4', 'fortran_order': 0, 'shape': (2, 3)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': [2, 3]}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2 3)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (6)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (-2, 3)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2.0, 3)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999, 3)}",
        "{'descr': '<f4' 'fortran_order': False, 'shape': (2, 3)}",
        "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2, 3)}",
        "{'descr': '<f4, 'fortran_order': False, 'shape': (2, 3)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': "
        "(1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,6)}"}) {
    CAPTURE(bad);
    CHECK(refusal(with(bad)) == grammar);
  }
  const auto typed = [&](const char* type) {
    return with(std::string("{'descr': '") + type + "', 'fortran_order': False, 'shape': (2, 3)}");
  };
  CHECK(refusal(typed(">f4")) == "the numbers are big-endian");
  for (const char* type : {"<c8", "f4", "<f16", "|O", "<U4", "", "=f4"}) {
    CAPTURE(type);
    CHECK(refusal(typed(type)) == "unknown type code");
  }
  CHECK(refusal(
            with("{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 4)}")) ==
        "the shape overflows");
  CHECK(refusal(with("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 4)}")) ==
        "the data does not have the size that type and shape say");
  CHECK(refusal(with("{'descr': '<f4', 'fortran_order': False, 'shape': (5,)}")) ==
        "the data does not have the size that type and shape say");
  Bytes cut = npy(kPlain, raw(kSix));
  for (size_t size = 0; size < cut.size(); ++size) {
    const Bytes part(cut.begin(), cut.begin() + static_cast<long>(size));
    CHECK(refusal(part) != "read");
  }
  Bytes huge = npy(kPlain, raw(kSix), 2);
  for (size_t i = 8; i < 12; ++i) huge[i] = std::byte{0xff};
  CHECK(refusal(huge) == "the header is too long");
}

TEST_CASE("tensors take both memory orders into their strides and write C order") {
  GraphBuilder b;
  const graph::Tensor t = b.at(b.tensor(DataType::float32, {2, 3}, {1, 4}));
  const Bytes c_order = npy(kPlain, raw(kSix));
  const Bytes f_order = npy("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }",
                            raw<float>({0, 3, 1, 4, 2, 5}));
  for (const auto* file : {&c_order, &f_order}) {
    const auto bytes = run::tensor_from_npy(t, *run::read_npy(*file, "x"), "x");
    REQUIRE(bytes.ok());
    CHECK(*bytes == raw<float>({0, 3, 0, 0, 1, 4, 0, 0, 2, 5}));
    const auto back = run::tensor_to_npy(t, *bytes);
    REQUIRE(back.ok());
    CHECK(*back == run::write_npy("<f4", {2, 3}, raw(kSix)));
  }
}

TEST_CASE("types and shapes must be the tensor's") {
  GraphBuilder b;
  const auto take = [&](DataType type, const Dims& dims, const std::string& descr,
                        const Dims& shape, size_t bytes) {
    const auto uid = b.tensor(type, dims);
    const Bytes file = run::write_npy(descr, shape, Bytes(bytes));
    const auto npy_file = run::read_npy(file, "x");
    REQUIRE(npy_file.ok());
    const auto result = run::tensor_from_npy(b.at(uid), *npy_file, "x");
    return result.ok() ? std::string("taken") : result.error().reason;
  };
  CHECK(take(DataType::bfloat16, {2}, "<V2", {2}, 4) == "taken");
  CHECK(take(DataType::bfloat16, {2}, "|V2", {2}, 4) == "taken");
  CHECK(take(DataType::bfloat16, {2}, "<u2", {2}, 4) == "taken");
  CHECK(take(DataType::bfloat16, {2}, "<f2", {2}, 4) == "npy-type");
  CHECK(take(DataType::half, {2}, "<u2", {2}, 4) == "npy-type");
  CHECK(take(DataType::half, {2}, "<f4", {2}, 8) == "npy-type");
  CHECK(take(DataType::fp8_e4m3, {2}, "|u1", {2}, 2) == "taken");
  CHECK(take(DataType::fp8_e5m2, {2}, "|V1", {2}, 2) == "taken");
  CHECK(take(DataType::boolean, {2}, "|b1", {2}, 2) == "taken");
  CHECK(take(DataType::fp4_e2m1, {2}, "|u1", {1}, 1) == "npy-type");
  CHECK(take(DataType::float64, {2, 1}, "<f8", {2}, 16) == "npy-shape");
  CHECK(take(DataType::float64, {1, 1}, "<f8", {}, 8) == "taken");
  CHECK(take(DataType::float64, {2}, "<f8", {0}, 0) == "npy-shape");
  const auto int4 = b.tensor(DataType::int4, {2});
  CHECK(run::tensor_to_npy(b.at(int4), Bytes(1)).error().reason == "npy-type");
  const auto f4 = b.tensor(DataType::float32, {2});
  CHECK(run::tensor_to_npy(b.at(f4), Bytes(7)).error().reason == "input-size");
}

TEST_CASE("a message shows the character that is wrong, by its number where it cannot be shown") {
  const auto found = [](const char* dictionary) {
    const auto result = run::read_npy(npy(dictionary, {}), "x.npy");
    return result.ok() ? "read" : result.error().found;
  };
  CHECK(found("['descr']") == "'['");
  CHECK(found("{'descr'; '<f4'}") == "';'");
  CHECK(found("\x01") == "character number 1");
}
