// The operation graph in memory: what a hipDNN JSON graph says, checked, with names and places
// kept.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/diagnostics.h"
#include "base/hash.h"
#include "base/result.h"

namespace hipplan::graph {

enum class DataType {
  unset,
  float32,
  half,
  bfloat16,
  float64,
  uint8,
  int32,
  int8,
  fp8_e4m3,
  fp8_e5m2,
  fp8_e8m0,
  fp4_e2m1,
  int4,
  fp6_e2m3,
  fp6_e3m2,
  int64,
  boolean,
};
/// The dialect's spelling: "float", "half", "bfloat16", "double", …
[[nodiscard]] const char* data_type_name(DataType type);
[[nodiscard]] std::optional<DataType> parse_data_type(std::string_view name);
/// Bits of one element (4 for fp4 and int4, 6 for fp6), 0 for unset.
[[nodiscard]] unsigned bits_of(DataType type);

/// Node types; names are the dialect's `type` values without the suffix "Attributes".
enum class NodeType {
  batchnorm_inference,
  batchnorm_inference_variance_ext,
  batchnorm,
  batchnorm_backward,
  pointwise,
  convolution_fwd,
  convolution_bwd,
  convolution_wrw,
  matmul,
  sdpa,
  sdpa_backward,
  layernorm,
  layernorm_backward,
  rmsnorm,
  rmsnorm_backward,
  block_scale_dequantize,
  block_scale_quantize,
  custom_op,
  reduction,
  resample_fwd,
  resample_bwd,
  moe_grouped_matmul,
  moe_grouped_matmul_bwd,
};
/// The dialect's spelling: "ConvolutionFwdAttributes", …
[[nodiscard]] const char* node_type_name(NodeType type);

/// Line and column (both from 1) of a value in the JSON text; 0 when unknown.
struct Place {
  uint32_t line = 0;
  uint32_t column = 0;
};

/// A constant in the graph. Floats of every width are held as double, integers as int64.
using Scalar = std::variant<double, int64_t, bool>;

struct Tensor {
  int64_t uid = 0;
  std::string name;
  DataType type = DataType::unset;
  std::vector<int64_t> dims;     ///< elements, each >= 1 after check()
  std::vector<int64_t> strides;  ///< elements, same length as dims
  bool is_virtual = false;       ///< an intermediate that never reaches memory of the caller
  bool runtime_pass_by_value = false;
  int64_t alignment = 16;  ///< bytes
  std::optional<int64_t> ragged_offset_uid;
  int64_t ragged_offset_multiplier = 1;
  std::optional<Scalar> value;
  std::string value_type;  ///< "Float32Value", …; empty without a value
  Place place;

  [[nodiscard]] int64_t element_count() const;
  /// 1 + the largest element offset that the dims and strides reach. Checked against overflow by
  /// check().
  [[nodiscard]] int64_t span_elements() const;
  /// Bytes that a buffer for this tensor needs.
  [[nodiscard]] int64_t span_bytes() const;
};

/// One tensor reference of a node: the role without "_tensor_uid" ("x", "in_0", "attn_mask").
struct Reference {
  std::string role;
  size_t tensor = 0;  ///< position in Graph::tensors
};

using AttributeValue = std::variant<bool, int64_t, double, std::string, std::vector<int64_t>>;
/// One setting of a node by the dialect's key ("stride", "attn_scale_value", "operation", "mode").
/// Keys that are absent or null in the file are absent here.
struct Attribute {
  std::string key;
  AttributeValue value;
};

struct Node {
  std::string name;
  NodeType type = NodeType::pointwise;
  DataType compute_type = DataType::unset;
  std::vector<Reference> inputs, outputs;
  std::vector<Attribute> attributes;
  Place place;

  /// Position of the tensor in that role, or nothing.
  [[nodiscard]] std::optional<size_t> input(std::string_view role) const;
  [[nodiscard]] std::optional<size_t> output(std::string_view role) const;
  [[nodiscard]] const AttributeValue* attribute(std::string_view key) const;
  // Typed shortcuts; nothing when absent or of another type (an integer widens to double).
  [[nodiscard]] std::optional<bool> flag(std::string_view key) const;
  [[nodiscard]] std::optional<int64_t> integer(std::string_view key) const;
  [[nodiscard]] std::optional<double> number(std::string_view key) const;
  [[nodiscard]] std::optional<std::string> text(std::string_view key) const;
  [[nodiscard]] const std::vector<int64_t>* list(std::string_view key) const;
};

struct Graph {
  std::string name;
  DataType compute_type = DataType::unset, io_type = DataType::unset,
           intermediate_type = DataType::unset;
  std::vector<Tensor> tensors;
  std::vector<Node> nodes;  ///< topological order
  std::optional<int64_t> preferred_engine_id;
  bool override_shape_enabled = false;
  std::optional<std::string> id;
  std::optional<std::string> min_engine_api_version;  ///< "1.0.0"

  [[nodiscard]] std::optional<size_t> tensor_by_uid(int64_t uid) const;
  /// Positions of tensors that the caller provides (read, never written, not virtual, no value) and
  /// of those that the graph writes for the caller, in the order of `tensors`.
  [[nodiscard]] std::vector<size_t> external_inputs() const;
  [[nodiscard]] std::vector<size_t> external_outputs() const;
};

struct ReadOptions {
  bool allow_unknown_keys = false;  ///< warn instead of refusing
};

/// Parses, resolves, infers defaults and checks. Errors carry "file:line:column" and the key path.
Result<Graph> read_graph(std::string_view json_text, const std::string& where,
                         const ReadOptions& options, const DiagnosticSink& sink);
/// The rules of check() alone, for graphs built by code: uids, references, order, shapes, strides,
/// types.
Result<void> check(const Graph& graph, const std::string& where);
/// The dialect's JSON, every key written, tensors and nodes in their order; read_graph takes it
/// back.
[[nodiscard]] std::string print_graph(const Graph& graph);

/// SHA-256 over the graph's meaning: names, defaults, ids left out, references by tensor position
/// (formats: docs/graph-dialect.md). Equal meaning gives equal keys; same_meaning decides.
[[nodiscard]] Digest content_key(const Graph& graph);
[[nodiscard]] bool same_meaning(const Graph& a, const Graph& b);

}  // namespace hipplan::graph
