#include "plan/diff_graph.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/result.h"
#include "json/json.h"

namespace hipplan::plan {
namespace {

using json::Kind;
using json::Value;

/// A field's value; empty when it is null or not there.
std::string field_text(const Value* value) {
  if (value == nullptr || value->is_null()) return "";
  if (value->kind == Kind::string) return value->string;
  if (value->kind != Kind::array) return json::print(*value);
  std::string out = "[";
  for (const auto& item : value->items) out += cat(out.size() == 1 ? "" : ", ", field_text(&item));
  return out + "]";
}

std::string field_text(const Value& object, std::string_view key) {
  return field_text(object.find(key));
}

/// Collects the differences of two graphs.
class GraphComparer {
 public:
  std::vector<GraphDifference> run(const Value& a, const Value& b) {
    fields("", a, b, true);
    tensors(a.find("tensors")->items, b.find("tensors")->items);
    nodes(a.find("nodes")->items, b.find("nodes")->items);
    return std::move(out_);
  }

 private:
  using List = std::vector<Value>;
  /// Positions in two lists; kNone: in one list only.
  static constexpr size_t kNone = SIZE_MAX;
  using Pairs = std::vector<std::pair<size_t, size_t>>;

  void add(std::string name, std::string a, std::string b) {
    if (a != b) out_.push_back({std::move(name), std::move(a), std::move(b)});
  }

  /// Texts stand without quotes where they differ anyway; "1" and 1 are told apart by them.
  void values(const std::string& name, const Value* a, const Value* b) {
    std::string left = field_text(a), right = field_text(b);
    if (left == right && !left.empty())
      add(name, json::print(*a), json::print(*b));
    else
      add(name, std::move(left), std::move(right));
  }

  /// Every field of two objects; those of objects inside by their path.
  void fields(const std::string& place, const Value& a, const Value& b, bool whole_graph = false) {
    const auto field = [&](const std::string& key) {
      if (whole_graph && (key == "tensors" || key == "nodes")) return;
      static const Value kNothing;
      const Value *left = a.find(key), *right = b.find(key);
      const auto open = [](const Value* value) {  // an object, or what may stand for one
        return value == nullptr || value->is_null() || value->kind == Kind::object;
      };
      const bool objects = open(left) && open(right);
      const std::string name = place.empty() ? key : place + "." + key;
      if (objects)
        fields(name, left ? *left : kNothing, right ? *right : kNothing);
      else
        values(name, left, right);
    };
    for (const auto& [key, value] : a.members) field(key);
    for (const auto& [key, value] : b.members)
      if (a.find(key) == nullptr) field(key);
  }

  /// Pairs what has the same value of `key`, as far as it stands once in each list and is free yet.
  static void pair_by(const char* key, const List& a, const List& b, std::vector<size_t>& to_b,
                      std::vector<size_t>& to_a) {
    std::map<std::string, std::pair<Pairs::value_type, Pairs::value_type>> seen;  // count, position
    for (size_t i = 0; i < a.size(); ++i)
      if (to_b[i] == kNone) {
        auto& [count, position] = seen[field_text(a[i], key)];
        ++count.first, position.first = i;
      }
    for (size_t i = 0; i < b.size(); ++i)
      if (to_a[i] == kNone) {
        auto& [count, position] = seen[field_text(b[i], key)];
        ++count.second, position.second = i;
      }
    for (const auto& [value, found] : seen) {
      const auto& [count, position] = found;
      if (value.empty() || count.first != 1 || count.second != 1) continue;
      to_b[position.first] = position.second;
      to_a[position.second] = position.first;
    }
  }

  void tensors(const List& a, const List& b) {
    std::vector<size_t> to_b(a.size(), kNone), to_a(b.size(), kNone);
    pair_by("uid", a, b, to_b, to_a);
    pair_by("name", a, b, to_b, to_a);
    const auto place = [](const Value& t) {
      const std::string name = field_text(t, "name");
      return cat("tensors[", field_text(t, "uid"), name.empty() ? "" : " ", name, "]");
    };
    const auto summary = [](const Value& t) {
      return field_text(t, "data_type") + " " + field_text(t, "dims");
    };
    for (size_t i = 0; i < a.size(); ++i) {
      if (to_b[i] == kNone)
        add(place(a[i]), summary(a[i]), "");
      else
        fields(place(a[i]), a[i], b[to_b[i]]);
    }
    for (size_t i = 0; i < b.size(); ++i)
      if (to_a[i] == kNone) add(place(b[i]), "", summary(b[i]));
  }

  /// Nodes of the same type, in both orders, as many as possible: their longest common sequence.
  static Pairs aligned(const List& a, const List& b) {
    const auto same = [&](size_t i, size_t j) {
      return field_text(a[i], "type") == field_text(b[j], "type");
    };
    size_t front = 0, i = a.size(), j = b.size();
    while (front < std::min(i, j) && same(front, front)) ++front;
    while (i > front && j > front && same(i - 1, j - 1)) --i, --j;
    Pairs middle = common(front, i, front, j, same), out;
    for (size_t k = 0; k < front; ++k) out.emplace_back(k, k);
    out.insert(out.end(), middle.begin(), middle.end());
    for (; i < a.size(); ++i, ++j) out.emplace_back(i, j);
    return out;
  }

  /// The same for positions [a0, a1) and [b0, b1); those that are in one list only are paired with
  /// kNone.
  template <class Same>
  static Pairs common(size_t a0, size_t a1, size_t b0, size_t b1, const Same& same) {
    const size_t n = a1 - a0, m = b1 - b0;
    // length[i][j]: of the common sequence of what starts at a0 + i and b0 + j.
    const bool small = n * m <= kMostCells;
    std::vector<uint32_t> length(small ? (n + 1) * (m + 1) : 0);
    const auto at = [&](size_t i, size_t j) -> uint32_t& { return length[i * (m + 1) + j]; };
    for (size_t i = small ? n : 0; i-- > 0;)
      for (size_t j = m; j-- > 0;)
        at(i, j) =
            same(a0 + i, b0 + j) ? at(i + 1, j + 1) + 1 : std::max(at(i + 1, j), at(i, j + 1));
    Pairs out;
    size_t i = 0, j = 0;
    while (small && i < n && j < m) {
      if (same(a0 + i, b0 + j))
        out.emplace_back(a0 + i++, b0 + j++);
      else if (at(i + 1, j) >= at(i, j + 1))
        out.emplace_back(a0 + i++, kNone);
      else
        out.emplace_back(kNone, b0 + j++);
    }
    while (i < n) out.emplace_back(a0 + i++, kNone);
    while (j < m) out.emplace_back(kNone, b0 + j++);
    return out;
  }

  void nodes(const List& a, const List& b) {
    const auto place = [](const List& list, size_t i) {
      const std::string name = field_text(list[i], "name");
      return cat("nodes[", i, name.empty() ? "" : " ", name, "]");
    };
    for (const auto& [i, j] : aligned(a, b)) {
      if (j == kNone)
        add(place(a, i), field_text(a[i], "type"), "");
      else if (i == kNone)
        add(place(b, j), "", field_text(b[j], "type"));
      else
        fields(place(a, i), a[i], b[j]);
    }
  }

  /// Nodes of one graph times nodes of the other beyond which nothing is aligned.
  static constexpr size_t kMostCells = 1u << 22;
  std::vector<GraphDifference> out_;
};

bool is_graph(const Value& value) {
  for (const char* key : {"tensors", "nodes"})
    if (const Value* list = value.find(key); list == nullptr || list->kind != Kind::array)
      return false;
  return true;
}

}  // namespace

std::vector<GraphDifference> diff_graphs(std::string_view a, std::string_view b) {
  const auto left = json::parse(a, "graph"), right = json::parse(b, "graph");
  if (!left || !right || !is_graph(*left) || !is_graph(*right)) return {};
  return GraphComparer().run(*left, *right);
}

}  // namespace hipplan::plan
