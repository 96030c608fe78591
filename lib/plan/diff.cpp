#include "plan/diff.h"

#include <algorithm>

#include "plan/diff_graph.h"
#include "plan/print.h"
#include "plan/print_common.h"

namespace hipplan::plan {
namespace {

std::string text(const std::string& value) {
  return value;
}
std::string text(bool value) {
  return value ? "true" : "false";
}
template <class T>
  requires std::is_integral_v<T>
std::string text(T value) {
  return std::to_string(value);
}

std::string list_text(const std::vector<int64_t>& values) {
  return value_text(values);
}

/// Collects differences of one entry.
class Collector {
 public:
  Collector(std::vector<Difference>& to, std::string entry) : to_(to), entry_(std::move(entry)) {}
  void add(const char* area, std::string name, std::string a, std::string b) {
    to_.push_back({area, entry_, std::move(name), std::move(a), std::move(b)});
  }
  template <class T>
  void compare(const char* area, const std::string& name, const T& a, const T& b) {
    if (!(a == b)) add(area, name, text(a), text(b));
  }

 private:
  std::vector<Difference>& to_;
  std::string entry_;
};

std::string kernel_place(size_t i) {
  return cat("payload.kernels[", i, "]");
}

std::string argument_text(const codeobject::Argument& a) {
  return cat(a.kind, " ", a.size, " bytes at ", a.offset, a.name.empty() ? "" : " ", a.name);
}

void diff_signature(Collector& to, const KernelImage& a, const KernelImage& b,
                    const std::string& place) {
  const size_t count = std::max(a.signature.size(), b.signature.size());
  for (size_t i = 0; i < count; ++i) {
    const std::string left = i < a.signature.size() ? argument_text(a.signature[i]) : "";
    const std::string right = i < b.signature.size() ? argument_text(b.signature[i]) : "";
    to.compare("decision", cat(place, ".signature[", i, "]"), left, right);
  }
}

void diff_kernel(Collector& to, const KernelImage& a, const KernelImage& b, size_t i) {
  const std::string place = kernel_place(i);
  to.compare("decision", place + ".launch_name", a.launch_name, b.launch_name);
  to.compare("decision", place + ".source_kind", std::string(source_kind_name(a.source_kind)),
             std::string(source_kind_name(b.source_kind)));
  to.compare("decision", place + ".symbol", a.symbol, b.symbol);
  to.compare("decision", place + ".target", a.target, b.target);
  to.compare("code", place + ".sha256", a.sha256.hex(), b.sha256.hex());
  diff_signature(to, a, b, place);
}

void diff_kernels(Collector& to, const Payload& a, const Payload& b) {
  const size_t both = std::min(a.kernels.size(), b.kernels.size());
  for (size_t i = 0; i < both; ++i) diff_kernel(to, a.kernels[i], b.kernels[i], i);
  for (size_t i = both; i < a.kernels.size(); ++i)
    to.add("decision", kernel_place(i), a.kernels[i].symbol, "");
  for (size_t i = both; i < b.kernels.size(); ++i)
    to.add("decision", kernel_place(i), "", b.kernels[i].symbol);
}

void diff_values(Collector& to, const LaunchValues& a, const LaunchValues& b) {
  const auto find = [](const LaunchValues& values, const std::string& name) {
    return std::find_if(values.begin(), values.end(),
                        [&](const LaunchValue& v) { return v.name == name; });
  };
  const auto typed = [](const ValueData& data) {
    return cat(value_type_name(data), " ", value_text(data));
  };
  bool same_names = a.size() == b.size();
  for (size_t i = 0; i < a.size(); ++i) {
    const auto other = find(b, a[i].name);
    same_names = same_names && i < b.size() && a[i].name == b[i].name;
    const std::string name = "payload.values." + a[i].name;
    if (other == b.end())
      to.add("decision", name, typed(a[i].data), "");
    else if (!(other->data == a[i].data))
      to.add("decision", name, typed(a[i].data), typed(other->data));
  }
  bool extra = false;
  for (const auto& value : b) {
    if (find(a, value.name) != a.end()) continue;
    extra = true;
    to.add("decision", "payload.values." + value.name, "", typed(value.data));
  }
  if (!same_names && !extra && a.size() == b.size())
    to.add("decision", "payload.values", "one order", "another order");
}

void diff_envelope(Collector& to, const Envelope& a, const Envelope& b) {
  to.compare("decision", "envelope.version", a.version, b.version);
  to.compare("decision", "envelope.engine_id", engine_id_text(a.engine_id),
             engine_id_text(b.engine_id));
  to.compare("decision", "envelope.workspace_size", a.workspace_size, b.workspace_size);
  to.compare("decision", "envelope.tensor_uids", list_text(a.tensor_uids),
             list_text(b.tensor_uids));
  to.compare("decision", "envelope.tensor_alignments", list_text(a.tensor_alignments),
             list_text(b.tensor_alignments));
  to.compare("decision", "envelope.is_override_shape_enabled", a.is_override_shape_enabled,
             b.is_override_shape_enabled);
  to.compare("decision", "envelope.provider_name", a.provider_name, b.provider_name);
  to.compare("diagnostic", "envelope.provider_version", a.provider_version, b.provider_version);
}

void diff_payload(Collector& to, const Payload& a, const Payload& b) {
  to.compare("decision", "payload.engine_name", a.engine_name, b.engine_name);
  to.compare("decision", "payload.kernel_id", a.kernel_id.text(), b.kernel_id.text());
  to.compare("diagnostic", "payload.kernel_name", a.kernel_name, b.kernel_name);
  to.compare("decision", "payload.workspace_bytes", a.workspace_bytes, b.workspace_bytes);
  to.compare("decision", "payload.dispatch", a.dispatch, b.dispatch);
  diff_values(to, a.values, b.values);
  diff_kernels(to, a, b);
  to.compare("diagnostic", "payload.provider_version", a.provider_version, b.provider_version);
}

/// A text as its digest and size; texts are compared whole.
std::string summary(const std::string& value) {
  if (value.empty()) return "";
  return cat(sha256(as_bytes(value)).hex().substr(0, 16), " (", value.size(), " bytes)");
}

void diff_graph_texts(Collector& to, const std::string& a, const std::string& b) {
  if (a == b) return;
  const auto differences = diff_graphs(a, b);
  for (const auto& d : differences) to.add("graph", d.name, d.a, d.b);
  if (differences.empty()) to.add("graph", "graph", summary(a), summary(b));
}

void diff_texts(Collector& to, const Plan& a, const Plan& b) {
  diff_graph_texts(to, a.graph, b.graph);
  const struct {
    const char* area;
    const std::string &a, &b;
  } texts[] = {{"reasons", a.reasons, b.reasons},
               {"measurements", a.measurements, b.measurements},
               {"evidence", a.evidence, b.evidence},
               {"provenance", a.provenance, b.provenance}};
  for (const auto& t : texts)
    if (t.a != t.b) to.add(t.area, t.area, summary(t.a), summary(t.b));
  if (!(a.extra == b.extra))
    to.add("extra", "extra", cat(a.extra.size(), " parts"), cat(b.extra.size(), " parts"));
}

}  // namespace

std::vector<Difference> diff_plans(const Plan& a, const Plan& b) {
  std::vector<Difference> out;
  Collector to(out, a.graph_key.hex() + "/" + a.target);
  to.compare("decision", "graph_key", a.graph_key.hex(), b.graph_key.hex());
  to.compare("decision", "target", a.target, b.target);
  diff_envelope(to, a.envelope, b.envelope);
  diff_payload(to, a.payload, b.payload);
  diff_texts(to, a, b);
  return out;
}

}  // namespace hipplan::plan
