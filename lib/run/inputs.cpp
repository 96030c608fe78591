#include "run/inputs.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <mutex>
#include <string_view>

#include "base/parallel.h"
#include "reference/element.h"

namespace hipplan::run {
namespace {

using graph::DataType;
using graph::Graph;
using graph::NodeType;
using graph::Tensor;

/// How a tensor's elements come out of random 64-bit words.
struct Recipe {
  enum class Kind { signed_values, range, integers, pages, fixed } kind = Kind::signed_values;
  double low = 0, high = 1;     ///< of range; fixed uses low
  int64_t first = 0, last = 0;  ///< integers, inclusive; pages: last + 1 pages
};

Recipe range(double low, double high) {
  return {Recipe::Kind::range, low, high, 0, 0};
}
Recipe integers(int64_t first, int64_t last) {
  return {Recipe::Kind::integers, 0, 0, first, last};
}
Recipe fixed(double value) {
  return {Recipe::Kind::fixed, value, value, 0, 0};
}

/// Mixes the bits of a 64-bit number so that every input bit reaches every output bit.
uint64_t mix(uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}
constexpr uint64_t kStep = 0x9e3779b97f4a7c15ull;

/// The element `index` of the stream of (seed, uid).
struct Stream {
  uint64_t key;
  Stream(uint64_t seed, int64_t uid) : key(mix(mix(seed + kStep) ^ static_cast<uint64_t>(uid))) {}
  [[nodiscard]] uint64_t word(int64_t index) const {
    return mix(key + (static_cast<uint64_t>(index) + 1) * kStep);
  }
};

/// A number in [0, 1) from the upper 24 bits: exact in float.
double unit(uint64_t word) {
  return static_cast<double>(word >> 40) * 0x1p-24;
}

double number(const Recipe& recipe, uint64_t word, int64_t index) {
  switch (recipe.kind) {
    case Recipe::Kind::signed_values: {
      const double magnitude = 0x1p-6 + unit(word) * (1 - 0x1p-6);
      return (word & 1) != 0 ? -magnitude : magnitude;
    }
    case Recipe::Kind::range:
      return recipe.low + unit(word) * (recipe.high - recipe.low);
    case Recipe::Kind::integers: {
      const auto count = static_cast<uint64_t>(recipe.last - recipe.first) + 1;
      return static_cast<double>(recipe.first + static_cast<int64_t>((word >> 16) % count));
    }
    case Recipe::Kind::pages:
      return static_cast<double>(index % (recipe.last + 1));
    case Recipe::Kind::fixed:
      return recipe.low;
  }
  return 0;
}

Recipe by_type(DataType type) {
  switch (type) {
    case DataType::uint8:
      return integers(0, 15);
    case DataType::int4:
      return integers(-8, 7);
    case DataType::boolean:
      return integers(0, 1);
    case DataType::int8:
    case DataType::int32:
    case DataType::int64:
      return integers(-16, 16);
    case DataType::fp8_e8m0:
      return range(0.25, 4);
    default:
      return {};
  }
}

/// Operands that must be positive and not small: denominators, logarithms, roots.
bool wants_positive(const std::string& operation, std::string_view role) {
  if (operation == "div") return role == "in_1";
  return operation == "log" || operation == "sqrt" || operation == "rsqrt" ||
         operation == "reciprocal";
}

std::optional<int64_t> dim_of(const Graph& graph, const graph::Node& node, const char* role,
                              size_t axis) {
  const auto tensor = node.input(role);
  if (!tensor || graph.tensors[*tensor].dims.size() <= axis) return std::nullopt;
  return graph.tensors[*tensor].dims[axis];
}

/// Longest K/V sequence of an SDPA node: paged, K's third dim is the rows of one page.
int64_t longest_keys(const Graph& graph, const graph::Node& node) {
  const int64_t rows = dim_of(graph, node, "k", 2).value_or(1);
  const auto table = node.input("page_table_k");
  if (!table) return rows;
  const int64_t batches = std::max<int64_t>(1, dim_of(graph, node, "q", 0).value_or(1));
  const int64_t room = graph.tensors[*table].element_count() / batches * rows;
  return std::min(room, node.integer("max_seq_len_kv").value_or(room));
}

std::optional<Recipe> sdpa_recipe(const Graph& graph, const graph::Node& node,
                                  std::string_view role) {
  if (role == "seq_len_q") return integers(1, dim_of(graph, node, "q", 2).value_or(1));
  if (role == "seq_len_kv") return integers(1, longest_keys(graph, node));
  if (role == "page_table_k" || role == "page_table_v") {
    const auto pages = dim_of(graph, node, role == "page_table_k" ? "k" : "v", 0).value_or(1);
    return Recipe{Recipe::Kind::pages, 0, 0, 0, std::max<int64_t>(pages, 1) - 1};
  }
  if (role == "scale")
    return fixed(1 / std::sqrt(static_cast<double>(dim_of(graph, node, "q", 3).value_or(1))));
  if (role.starts_with("descale") || role == "scale_s" || role == "scale_o") return fixed(1);
  return std::nullopt;
}

/// What a tensor's part in a node asks for, or nothing.
std::optional<Recipe> by_role(const Graph& graph, const graph::Node& node, std::string_view role) {
  switch (node.type) {
    case NodeType::sdpa:
    case NodeType::sdpa_backward:
      return sdpa_recipe(graph, node, role);
    case NodeType::pointwise:
      if (wants_positive(node.text("operation").value_or(""), role)) return range(0.25, 2);
      return std::nullopt;
    case NodeType::batchnorm_inference:
    case NodeType::batchnorm_inference_variance_ext:
    case NodeType::batchnorm:
    case NodeType::layernorm:
    case NodeType::rmsnorm:
      if (role == "inv_variance" || role == "variance" || role == "scale") return range(0.5, 1.5);
      if (role == "epsilon") return fixed(1e-5);
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

bool is_integer(DataType type) {
  return reference::facts(type).integer;
}

Recipe recipe_for(const Graph& graph, size_t tensor) {
  const DataType type = graph.tensors[tensor].type;
  for (const auto& node : graph.nodes)
    for (const auto& input : node.inputs) {
      if (input.tensor != tensor) continue;
      const auto found = by_role(graph, node, input.role);
      if (!found) continue;
      // A real range has no meaning for integers: keep them away from zero instead.
      if (is_integer(type) && found->kind == Recipe::Kind::range) return integers(1, 7);
      return *found;
    }
  return by_type(type);
}

/// Memory for a tensor; refuses sizes that no machine has.
Result<uint64_t> size_of(const Tensor& tensor) {
  constexpr int64_t kLargest = int64_t{1} << 40;
  const int64_t bytes = tensor.span_bytes();
  if (bytes >= 0 && bytes <= kLargest) return static_cast<uint64_t>(bytes);
  return Error{Code::bad_input,
               "too-large",
               cat("tensor ", tensor.uid, " '", tensor.name, "'"),
               "the tensor does not fit into memory",
               cat("at most ", kLargest, " bytes"),
               cat(bytes, " bytes"),
               ""};
}

/// Zeros. The system hands memory out while it is filled, which takes seconds for a large tensor.
Result<Bytes> zeros(uint64_t size, const Check& check) {
  constexpr uint64_t kPart = uint64_t{64} << 20;
  Bytes out;
  out.reserve(size);
  while (out.size() < size) {
    if (check) HIPPLAN_TRY(check());
    out.resize(std::min<uint64_t>(size, out.size() + kPart));
  }
  return out;
}

/// Asked for every piece of a tensor, by any thread; the first error stops all.
class Stop {
 public:
  explicit Stop(const Check& check) : check_(check) {}
  bool asked() {
    if (!check_ || stopped_) return stopped_;
    auto going = check_();
    if (going) return false;
    const std::lock_guard lock(mutex_);
    if (result_.ok()) result_ = std::move(going);
    stopped_ = true;
    return true;
  }
  [[nodiscard]] const Result<void>& result() const { return result_; }

 private:
  const Check& check_;
  std::atomic<bool> stopped_{false};
  std::mutex mutex_;
  Result<void> result_;
};

Result<void> fill(const Tensor& tensor, const Recipe& recipe, const Stream& stream, unsigned jobs,
                  const Check& check, Bytes& bytes) {
  Stop stop(check);
  const auto shape = reference::row_shape(tensor);
  constexpr int64_t kChunk = 4096;
  const int64_t chunks = (shape.length + kChunk - 1) / kChunk;
  const int64_t rows = std::max<int64_t>(1, kChunk / shape.length);
  const int64_t groups = (shape.rows + rows - 1) / rows;
  const bool whole_bytes = graph::bits_of(tensor.type) % 8 == 0;
  parallel_for(static_cast<size_t>(groups * chunks), whole_bytes ? jobs : 1, [&](size_t piece) {
    if (stop.asked()) return;
    const int64_t begin = static_cast<int64_t>(piece) % chunks * kChunk;
    const int64_t count = std::min(kChunk, shape.length - begin);
    const int64_t first = static_cast<int64_t>(piece) / chunks * rows;
    double values[kChunk];
    for (int64_t row = first; row < std::min(first + rows, shape.rows); ++row) {
      for (int64_t i = 0; i < count; ++i) {
        const int64_t index = row * shape.length + begin + i;
        values[i] = number(recipe, stream.word(index), index);
      }
      const int64_t offset = reference::row_offset(tensor, row) + begin * shape.stride;
      reference::encode(tensor.type, bytes.data(), offset, shape.stride, count, values);
    }
  });
  return stop.result();
}

}  // namespace

Result<Buffers> random_inputs(const Graph& graph, uint64_t seed, unsigned jobs,
                              const Buffers* given, const Check& check) {
  Buffers out;
  for (const size_t i : graph.external_inputs()) {
    const Tensor& tensor = graph.tensors[i];
    if (given != nullptr) {
      if (const auto found = given->find(tensor.uid); found != given->end()) {
        out[tensor.uid] = found->second;
        continue;
      }
    }
    HIPPLAN_TRY_ASSIGN(const uint64_t size, size_of(tensor));
    HIPPLAN_TRY_ASSIGN(Bytes bytes, zeros(size, check));
    HIPPLAN_TRY(fill(tensor, recipe_for(graph, i), Stream(seed, tensor.uid), jobs, check, bytes));
    out[tensor.uid] = std::move(bytes);
  }
  return out;
}

Result<Buffers> poisoned_outputs(const Graph& graph, std::byte poison) {
  Buffers out;
  for (const size_t i : graph.external_outputs()) {
    HIPPLAN_TRY_ASSIGN(const uint64_t size, size_of(graph.tensors[i]));
    out[graph.tensors[i].uid] = Bytes(size, poison);
  }
  return out;
}

reference::Inputs views(const Buffers& buffers) {
  reference::Inputs out;
  for (const auto& [uid, bytes] : buffers) out[uid] = bytes;
  return out;
}

}  // namespace hipplan::run
