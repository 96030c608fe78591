// What the parts of the graph reader share. Internal to lib/graph.
#pragma once

#include <string>
#include <string_view>

#include "graph/graph.h"
#include "graph/schema.h"
#include "graph/uid_index.h"
#include "json/json.h"

namespace hipplan::graph::detail {

struct ReadContext {
  const std::string& where;
  const ReadOptions& options;
  const DiagnosticSink& sink;
};

/// Key path of a value: "nodes[2].inputs.x_tensor_uid". Made into text only for messages.
struct KeyPath {
  std::string_view list = {};  ///< "tensors", "nodes" or empty
  size_t index = 0;
  std::string_view object = {};  ///< "inputs", … or empty
  std::string_view key = {};
  [[nodiscard]] std::string text() const;
  [[nodiscard]] KeyPath with(std::string_view new_key) const {
    KeyPath path = *this;
    path.key = new_key;
    return path;
  }
};

/// Short description of a value: `string "abc"`, `integer 5`, `array of 3`.
[[nodiscard]] std::string describe(const json::Value& value);
/// bad_input at that value.
[[nodiscard]] Error fail(const ReadContext& context, const KeyPath& path, const json::Value& value,
                         std::string reason, std::string what, std::string expected,
                         std::string found);
void note(const ReadContext& context, const KeyPath& path, const json::Value& value,
          Severity severity, const char* reason, std::string text);

// A value of one kind. A null is like an absent key: callers test for it first.
Result<bool> want_flag(const ReadContext& context, const KeyPath& path, const json::Value& value);
Result<int64_t> want_integer(const ReadContext& context, const KeyPath& path,
                             const json::Value& value, int64_t min = INT64_MIN,
                             int64_t max = INT64_MAX);
/// Integer or number whose magnitude fits `largest`.
Result<double> want_number(const ReadContext& context, const KeyPath& path,
                           const json::Value& value, double largest);
Result<std::string> want_text(const ReadContext& context, const KeyPath& path,
                              const json::Value& value);
Result<std::vector<int64_t>> want_list(const ReadContext& context, const KeyPath& path,
                                       const json::Value& value, int64_t min = INT64_MIN,
                                       int64_t max = INT64_MAX);
Result<DataType> want_data_type(const ReadContext& context, const KeyPath& path,
                                const json::Value& value, bool is_mma_core_mode = false);
/// One of the choices, spelled exactly.
Result<std::string> want_choice(const ReadContext& context, const KeyPath& path,
                                const json::Value& value,
                                std::span<const std::string_view> choices);
Result<void> want_kind(const ReadContext& context, const KeyPath& path, const json::Value& value,
                       json::Kind kind);

/// Finds keys in an object and remembers how many, so that unknown ones cost nothing unless
/// present.
class ObjectReader {
 public:
  ObjectReader(const ReadContext& context, KeyPath path, const json::Value& object)
      : context_(context), path_(path), object_(object) {}
  /// The value of the key; null when the key is absent or holds null.
  const json::Value* optional(std::string_view key);
  /// The value of a key that must be there and not be null.
  Result<const json::Value*> required(std::string_view key);
  /// To call at the end: refuses keys that were never asked for, or warns about them.
  Result<void> finish();
  [[nodiscard]] KeyPath path(std::string_view key) const { return path_.with(key); }
  [[nodiscard]] const json::Value& object() const { return object_; }

 private:
  const json::Value* lookup(std::string_view key);
  const ReadContext& context_;
  KeyPath path_;
  const json::Value& object_;
  size_t next_ = 0;
  std::vector<uint64_t> seen_;
  size_t seen_count_ = 0;
};

Result<Tensor> read_tensor(const ReadContext& context, size_t index, const json::Value& value);
Result<Node> read_node(const ReadContext& context, size_t index, const json::Value& value,
                       const UidIndex& uids);

/// Gives tensors and nodes the types and dims that the graph's defaults and the ops define.
void infer(Graph& graph);

}  // namespace hipplan::graph::detail
