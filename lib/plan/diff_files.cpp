// Files entry by entry, and differences as text and JSON.
#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "base/counted.h"
#include "plan/diff.h"
#include "plan/diff_graph.h"
#include "plan/errors.h"
#include "plan/layout.h"
#include "plan/print.h"
#include "plan/print_common.h"

namespace hipplan::plan {
namespace {

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
      const std::string keys = plan.graph_key.hex() + " -> " + other->second.graph_key.hex();
      std::vector<Difference> found;
      for (const auto& d : diff_graphs(plan.graph, other->second.graph))
        found.push_back({"graph", keys, d.name, d.a, d.b, true});
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

Result<FileDiff> diff_files(const File& a, const File& b, size_t max_differences) {
  return FileComparer(a, b, max_differences).run();
}

namespace {

/// The line above the differences of one entry, or of one graph with another.
std::string heading(const Difference& difference) {
  return cat(difference.of_graphs ? "graph " : "plan ", harmless(difference.entry));
}

}  // namespace

std::string diff_text(const FileDiff& diff, const std::string& name_a, const std::string& name_b) {
  std::string out;
  std::string entry = "\n";
  for (const auto& d : diff.differences) {
    if (d.area == "entry") {
      out += cat(heading(d), ": only in ", harmless(d.b.empty() ? name_a : name_b), "\n");
      continue;
    }
    if (d.entry != entry && !d.entry.empty()) out += heading(d) + "\n";
    entry = d.entry;
    const auto shown = [](const std::string& value) {
      return value.empty() ? std::string("(absent)") : harmless(value);
    };
    out += cat("  ", d.area, d.name == d.area ? "" : " " + harmless(d.name), ": ", shown(d.a),
               " -> ", shown(d.b), "\n");
  }
  if (diff.truncated) out += "  … more differences are not shown\n";
  if (diff.differences.empty())
    return out + cat(harmless(name_a), " and ", harmless(name_b),
                     diff.same_bytes ? " are the same file\n" : " hold the same plans\n");
  // Plans of one file only are counted apart; of graphs that have no plan in common too.
  const auto count = [&](const auto& counts) {
    return static_cast<uint64_t>(
        std::count_if(diff.differences.begin(), diff.differences.end(), counts));
  };
  const uint64_t of_graphs = count([](const Difference& d) { return d.of_graphs; });
  const uint64_t entries = count([](const Difference& d) { return d.area == "entry"; });
  return out + cat(counted(diff.differences.size() - of_graphs - entries, "difference"), " in ",
                   counted(diff.compared, "plan"), " compared",
                   of_graphs == 0 ? "" : cat(", ", of_graphs, " between graphs"), "; only in ",
                   harmless(name_a), ": ", diff.only_in_a, ", only in ", harmless(name_b), ": ",
                   diff.only_in_b, "\n");
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
