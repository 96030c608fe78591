#include "plan/diff.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "base/counted.h"
#include "plan/diff_graph.h"
#include "plan/errors.h"
#include "plan/layout.h"
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

std::string entry_name(const EntryInfo& entry) {
  return entry.graph_key.hex() + "/" + entry.target;
}

Result<std::vector<EntryInfo>> entries_of(const File& file) {
  std::vector<EntryInfo> out;
  HIPPLAN_TRY(file.for_each([&](const EntryInfo& entry) {
    out.push_back(entry);
    return true;
  }));
  return out;
}

/// Compares two files entry by entry.
class FileComparer {
 public:
  FileComparer(const File& a, const File& b, size_t most) : a_(a), b_(b), most_(most) {}

  Result<FileDiff> run() {
    HIPPLAN_TRY_ASSIGN(const auto left, entries_of(a_));
    HIPPLAN_TRY_ASSIGN(const auto right, entries_of(b_));
    if (left.size() == 1 && right.size() == 1) {
      HIPPLAN_TRY(both(left[0], right[0]));
    } else {
      HIPPLAN_TRY(merge(left, right));
      HIPPLAN_TRY(graphs(left, right));
    }
    sections();
    return std::move(out_);
  }

 private:
  static auto key(const EntryInfo& e) { return std::tie(e.graph_key, e.target); }

  Result<void> merge(const std::vector<EntryInfo>& left, const std::vector<EntryInfo>& right) {
    size_t i = 0, j = 0;
    while (i < left.size() || j < right.size()) {
      if (j == right.size() || (i < left.size() && key(left[i]) < key(right[j])))
        one(left[i++], true);
      else if (i == left.size() || key(right[j]) < key(left[i]))
        one(right[j++], false);
      else
        HIPPLAN_TRY(both(left[i++], right[j++]));
    }
    return {};
  }
  void one(const EntryInfo& entry, bool in_a) {
    ++(in_a ? out_.only_in_a : out_.only_in_b);
    const std::string digest = entry.plan_digest.hex();
    keep({{"entry", entry_name(entry), "entry", in_a ? digest : "", in_a ? "" : digest}});
  }
  /// The first entry of each graph that the other file does not have.
  static std::vector<EntryInfo> own_graphs(const std::vector<EntryInfo>& entries,
                                           const std::vector<EntryInfo>& others) {
    const auto less = [](const EntryInfo& x, const EntryInfo& y) {
      return x.graph_key < y.graph_key;
    };
    std::vector<EntryInfo> out;
    for (const auto& entry : entries) {
      const bool seen = !out.empty() && out.back().graph_key == entry.graph_key;
      if (!seen && !std::binary_search(others.begin(), others.end(), entry, less))
        out.push_back(entry);
    }
    return out;
  }
  /// Graphs by their names, those that have a name of their own.
  static Result<std::map<std::string, Plan>> by_name(const File& file,
                                                     const std::vector<EntryInfo>& graphs,
                                                     bool only_one) {
    std::map<std::string, Plan> out;
    std::set<std::string> twice;
    for (const auto& entry : graphs) {
      HIPPLAN_TRY_ASSIGN(auto plan, file.read_plan(entry, false));
      const std::string name = only_one ? "" : graph_name(plan.graph);
      if (plan.graph.empty() || (name.empty() && !only_one)) continue;
      if (!out.emplace(name, std::move(plan)).second) twice.insert(name);
    }
    for (const auto& name : twice) out.erase(name);
    return out;
  }
  /// What became of graphs that are in one file only: compared with the other file's graph of the
  /// same name, or with its only one.
  Result<void> graphs(const std::vector<EntryInfo>& left, const std::vector<EntryInfo>& right) {
    const auto own_a = own_graphs(left, right), own_b = own_graphs(right, left);
    if (own_a.size() > kMostGraphs || own_b.size() > kMostGraphs) return {};
    const bool only_one = own_a.size() == 1 && own_b.size() == 1;
    HIPPLAN_TRY_ASSIGN(const auto names_a, by_name(a_, own_a, only_one));
    HIPPLAN_TRY_ASSIGN(const auto names_b, by_name(b_, own_b, only_one));
    for (const auto& [name, plan] : names_a) {
      const auto other = names_b.find(name);
      if (other == names_b.end()) continue;
      std::vector<Difference> found;
      Collector to(found, plan.graph_key.hex() + " -> " + other->second.graph_key.hex());
      for (const auto& d : diff_graphs(plan.graph, other->second.graph))
        to.add("graph", d.name, d.a, d.b);
      keep(std::move(found));
    }
    return {};
  }
  Result<void> both(const EntryInfo& left, const EntryInfo& right) {
    ++out_.compared;
    // A record names its objects by digest: equal records mean equal plans.
    if (left.record_digest == right.record_digest) return {};
    HIPPLAN_TRY_ASSIGN(const auto plan_a, a_.read_plan(left, false));
    HIPPLAN_TRY_ASSIGN(const auto plan_b, b_.read_plan(right, false));
    keep(diff_plans(plan_a, plan_b));
    return {};
  }
  void sections() {
    const auto equal = [](ByteView x, ByteView y) {
      return x.size() == y.size() && std::equal(x.begin(), x.end(), y.begin());
    };
    out_.same_bytes = equal(a_.bytes(), b_.bytes());
    if (out_.same_bytes) return;
    std::map<uint16_t, std::pair<std::string, std::string>> unknown;
    for (const auto& s : a_.sections())
      if (!is_known_section(s.number)) unknown[s.number].first = s.sha256.hex();
    for (const auto& s : b_.sections())
      if (!is_known_section(s.number)) unknown[s.number].second = s.sha256.hex();
    for (const auto& [type, digests] : unknown)
      if (digests.first != digests.second && !is_object_section(type))
        keep({{"section", "", section_name(type), digests.first, digests.second}});
  }
  void keep(std::vector<Difference> more) {
    for (auto& difference : more) {
      if (out_.differences.size() >= most_) {
        out_.truncated = true;
        return;
      }
      out_.differences.push_back(std::move(difference));
    }
  }
  /// Graphs of one file that are read to find those of the same name in the other.
  static constexpr size_t kMostGraphs = 1000;
  const File &a_, &b_;
  size_t most_;
  FileDiff out_;
};

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

Result<FileDiff> diff_files(const File& a, const File& b, size_t max_differences) {
  return FileComparer(a, b, max_differences).run();
}

namespace {

/// The line above the differences of one entry, or of one graph with another.
std::string heading(const std::string& entry) {
  return cat(entry.find('/') == std::string::npos ? "graph " : "plan ", harmless(entry));
}

}  // namespace

std::string diff_text(const FileDiff& diff, const std::string& name_a, const std::string& name_b) {
  std::string out;
  std::string entry = "\n";
  for (const auto& d : diff.differences) {
    if (d.area == "entry") {
      out += cat(heading(d.entry), ": only in ", d.b.empty() ? name_a : name_b, "\n");
      continue;
    }
    if (d.entry != entry && !d.entry.empty()) out += heading(d.entry) + "\n";
    entry = d.entry;
    const auto shown = [](const std::string& value) {
      return value.empty() ? std::string("(absent)") : harmless(value);
    };
    out += cat("  ", d.area, d.name == d.area ? "" : " " + harmless(d.name), ": ", shown(d.a),
               " -> ", shown(d.b), "\n");
  }
  if (diff.truncated) out += "  … more differences are not shown\n";
  if (diff.differences.empty())
    return out + cat(name_a, " and ", name_b,
                     diff.same_bytes ? " are the same file\n" : " hold the same plans\n");
  return out + cat(counted(diff.differences.size(), "difference"), " in ",
                   counted(diff.compared, "plan"), " compared; only in ", name_a, ": ",
                   diff.only_in_a, ", only in ", name_b, ": ", diff.only_in_b, "\n");
}

void diff_json(json::Writer& out, const FileDiff& diff, const std::string& name_a,
               const std::string& name_b) {
  out.begin_object().member("schema", "hipplan.diff/1").member("a", name_a).member("b", name_b);
  out.member("same", diff.differences.empty()).member("same_bytes", diff.same_bytes);
  out.member("plans_compared", diff.compared).member("only_in_a", diff.only_in_a);
  out.member("only_in_b", diff.only_in_b).member("truncated", diff.truncated);
  out.key("differences").begin_array();
  for (const auto& d : diff.differences) {
    out.begin_object().member("area", d.area).member("entry", d.entry).member("name", d.name);
    d.a.empty() ? out.key("a").null() : out.member("a", d.a);
    d.b.empty() ? out.key("b").null() : out.member("b", d.b);
    out.end_object();
  }
  out.end_array().end_object();
}

}  // namespace hipplan::plan
