#include <doctest/doctest.h>

#include <functional>

#include "graph_builder.h"

using namespace hipplan;
using namespace hipplan::test;

namespace {

struct Shape {
  int64_t b = 1, hq = 1, hk = 1, sq = 1, sk = 1, d = 1, dv = 1;
  [[nodiscard]] size_t q() const { return static_cast<size_t>(b * hq * sq * d); }
  [[nodiscard]] size_t k() const { return static_cast<size_t>(b * hk * sk * d); }
  [[nodiscard]] size_t v() const { return static_cast<size_t>(b * hk * sk * dv); }
};

/// An SDPA node over random or given numbers; roles and attributes can be added before run().
struct Sdpa {
  GraphBuilder g;
  Shape s;
  Numbers q, k, v;
  int64_t o = 0, stats = 0, max = 0, sum_exp = 0;
  GraphBuilder::Roles in;
  std::vector<graph::Attribute> attributes;

  explicit Sdpa(const Shape& shape, DataType type = DataType::float32)
      : s(shape), q(noise(s.q(), 11)), k(noise(s.k(), 12)), v(noise(s.v(), 13)) {
    if (type != DataType::float32)
      for (auto* all : {&q, &k, &v})
        for (auto& x : *all) x = reference::rounded(type, x);
    in = {{"q", g.input(type, {s.b, s.hq, s.sq, s.d}, q)},
          {"k", g.input(type, {s.b, s.hk, s.sk, s.d}, k)},
          {"v", g.input(type, {s.b, s.hk, s.sk, s.dv}, v)}};
    o = g.tensor(type, {s.b, s.hq, s.sq, s.dv});
    stats = g.tensor(DataType::float32, {s.b, s.hq, s.sq, 1});
    max = g.tensor(DataType::float32, {s.b, s.hq, s.sq, 1});
    sum_exp = g.tensor(DataType::float32, {s.b, s.hq, s.sq, 1});
  }
  Result<reference::Outputs> run(unsigned jobs = 1) {
    g.graph.nodes.clear();
    g.node(NodeType::sdpa, in, {{"o", o}, {"stats", stats}, {"max", max}, {"sum_exp", sum_exp}},
           attributes);
    return g.run(jobs);
  }
  Numbers out(int64_t uid) {
    auto all = run();
    return all ? all->at(uid).values : Numbers{};
  }
};

/// Extra term of a score at (b, h, i, j), -infinity where the key is hidden.
using Extra = std::function<double(int64_t, int64_t, int64_t, int64_t)>;

/// Attention the slow way: a table of probabilities for each row, in long double.
Numbers slow(const Sdpa& a, double scale, const Extra& extra = {}) {
  const Shape& s = a.s;
  Numbers out;
  for (int64_t b = 0; b < s.b; ++b)
    for (int64_t h = 0; h < s.hq; ++h)
      for (int64_t i = 0; i < s.sq; ++i) {
        const int64_t kv = b * s.hk + h / (s.hq / s.hk);
        std::vector<long double> weight;
        long double total = 0;
        for (int64_t j = 0; j < s.sk; ++j) {
          long double score = 0;
          for (int64_t d = 0; d < s.d; ++d)
            score += static_cast<long double>(
                         a.q[static_cast<size_t>(((b * s.hq + h) * s.sq + i) * s.d + d)]) *
                     a.k[static_cast<size_t>((kv * s.sk + j) * s.d + d)];
          score = score * scale + (extra ? extra(b, h, i, j) : 0.0);
          weight.push_back(std::exp(score));
          total += weight.back();
        }
        for (int64_t d = 0; d < s.dv; ++d) {
          long double sum = 0;
          for (int64_t j = 0; j < s.sk; ++j)
            sum += weight[static_cast<size_t>(j)] *
                   a.v[static_cast<size_t>((kv * s.sk + j) * s.dv + d)];
          out.push_back(total == 0 ? 0.0 : static_cast<double>(sum / total));
        }
      }
  return out;
}

double visible(bool yes) {
  return yes ? 0.0 : -INFINITY;
}

}  // namespace

TEST_CASE("attention against the table of probabilities, default scale and grouped heads") {
  Sdpa a({2, 6, 2, 5, 7, 4, 3});
  CHECK(distance(a.out(a.o), slow(a, 0.5)) < 1e-14);
  a.attributes = {{"attn_scale_value", 0.125}};
  CHECK(distance(a.out(a.o), slow(a, 0.125)) < 1e-14);
  a.in.push_back({"scale", a.g.input(DataType::float32, {1}, {2.0})});
  CHECK(distance(a.out(a.o), slow(a, 2)) < 1e-14);
}

TEST_CASE("probabilities sum to one: constant values come out constant") {
  Sdpa a({1, 2, 2, 9, 33, 8, 2});
  a.g.set(3, Numbers(a.s.v(), 0.75));
  for (const double x : a.out(a.o)) CHECK(x == doctest::Approx(0.75).epsilon(1e-14));
}

TEST_CASE("causal masks by flag and by bounds") {
  Sdpa a({1, 2, 1, 4, 6, 4, 4});
  const auto top = [](int64_t, int64_t, int64_t i, int64_t j) { return visible(j <= i); };
  const auto bottom = [](int64_t, int64_t, int64_t i, int64_t j) { return visible(j <= i + 2); };
  a.attributes = {{"causal_mask", true}};
  CHECK(distance(a.out(a.o), slow(a, 0.5, top)) < 1e-14);
  a.attributes = {{"right_bound", int64_t{0}}};
  CHECK(distance(a.out(a.o), slow(a, 0.5, top)) < 1e-14);
  a.attributes = {{"causal_mask_bottom_right", true}};
  CHECK(distance(a.out(a.o), slow(a, 0.5, bottom)) < 1e-14);
  a.attributes = {{"left_bound", int64_t{-1}},
                  {"right_bound", int64_t{0}},
                  {"diagonal_alignment", std::string("BOTTOM_RIGHT")}};
  CHECK(distance(a.out(a.o), slow(a, 0.5, bottom)) < 1e-14);
  // The first row of a top-left causal mask sees one key only.
  a.attributes = {{"causal_mask", true}};
  const Numbers o = a.out(a.o);
  CHECK(Numbers(o.begin(), o.begin() + 4) == Numbers(a.v.begin(), a.v.begin() + 4));
}

TEST_CASE("sliding windows count the diagonal") {
  Sdpa a({1, 1, 1, 6, 6, 2, 3});
  a.attributes = {{"left_bound", int64_t{1}}, {"right_bound", int64_t{0}}};
  CHECK(distance(a.out(a.o), a.v) < 1e-14);  // the diagonal alone
  a.attributes = {{"left_bound", int64_t{3}}, {"right_bound", int64_t{1}}};
  CHECK(distance(a.out(a.o), slow(a, std::sqrt(0.5), [](auto, auto, int64_t i, int64_t j) {
                   return visible(j >= i - 2 && j <= i + 1);
                 })) < 1e-14);
  a.attributes = {{"left_bound", int64_t{2}}};
  CHECK(distance(a.out(a.o), slow(a, std::sqrt(0.5), [](auto, auto, int64_t i, int64_t j) {
                   return visible(j >= i - 1);
                 })) < 1e-14);
}

TEST_CASE("masks are added after scaling and broadcast") {
  Sdpa a({2, 2, 2, 3, 4, 2, 2});
  const Numbers bias = noise(2 * 4, 5);
  a.in.push_back({"attn_mask", a.g.input(DataType::float32, {1, 2, 1, 4}, bias)});
  CHECK(distance(a.out(a.o), slow(a, std::sqrt(0.5), [&](auto, int64_t h, auto, int64_t j) {
                   return bias[static_cast<size_t>(h * 4 + j)];
                 })) < 1e-14);
  const Numbers keep{1, 0, 1, 1, 0, 1, 1, 0, 1, 1, 1, 1};
  a.in.back().second = a.g.input(DataType::boolean, {3, 4}, keep);
  CHECK(distance(a.out(a.o), slow(a, std::sqrt(0.5), [&](auto, auto, int64_t i, int64_t j) {
                   return visible(keep[static_cast<size_t>(i * 4 + j)] != 0);
                 })) < 1e-14);
}

TEST_CASE("sequence lengths hide keys, clear rows, and move the bottom right corner") {
  Sdpa a({2, 1, 1, 4, 6, 2, 2});
  a.in.push_back({"seq_len_q", a.g.input(DataType::int32, {2}, {4, 2})});
  a.in.push_back({"seq_len_kv", a.g.input(DataType::int32, {2}, {3, 5})});
  a.attributes = {{"padding_mask", true}};
  const int64_t lq[] = {4, 2}, lk[] = {3, 5};
  CHECK(distance(a.out(a.o), slow(a, std::sqrt(0.5), [&](int64_t b, auto, int64_t i, int64_t j) {
                   return visible(i < lq[b] && j < lk[b]);
                 })) < 1e-14);
  a.attributes = {{"causal_mask_bottom_right", true}};
  const auto corner = [&](int64_t b, auto, int64_t i, int64_t j) {
    return visible(i < lq[b] && j < lk[b] && j <= i + lk[b] - lq[b]);
  };
  const auto all = a.run();
  REQUIRE(all.ok());
  CHECK(distance(all->at(a.o).values, slow(a, std::sqrt(0.5), corner)) < 1e-14);
  // Batch 0 has three keys for four rows: its first row sees none.
  CHECK(all->at(a.o).values[0] == 0);
  CHECK(all->at(a.o).bounds[0] == 0);
  CHECK(all->at(a.stats).values[0] == -INFINITY);
  CHECK(all->at(a.max).values[0] == -INFINITY);
  CHECK(all->at(a.sum_exp).values[0] == 0);

  a.g.set(a.in[4].second, {3, 7});
  CHECK(a.run().error().reason == "input-value");
  a.g.set(a.in[4].second, {3, 5});
  a.in.erase(a.in.begin() + 3);
  a.attributes = {{"padding_mask", true}};
  CHECK(a.run().error().reason == "missing-tensor");
}

TEST_CASE("paged keys and values give what contiguous ones give") {
  Sdpa plain({2, 2, 2, 3, 8, 4, 4});
  plain.in.push_back({"seq_len_q", plain.g.input(DataType::int32, {2}, {3, 3})});
  plain.in.push_back({"seq_len_kv", plain.g.input(DataType::int32, {2}, {8, 5})});
  const Numbers expected = plain.out(plain.o);

  // Pages of two rows, four a batch, scattered over ten; page of (batch, place) by formula.
  const auto page = [](int64_t b, int64_t place) { return (7 * (b * 4 + place) + 3) % 10; };
  const auto scattered = [&](const Numbers& from) {
    Numbers to(10 * 2 * 2 * 4, 99.0);
    for (int64_t b = 0; b < 2; ++b)
      for (int64_t h = 0; h < 2; ++h)
        for (int64_t j = 0; j < 8; ++j)
          for (int64_t d = 0; d < 4; ++d)
            to[static_cast<size_t>(((page(b, j / 2) * 2 + h) * 2 + j % 2) * 4 + d)] =
                from[static_cast<size_t>(((b * 2 + h) * 8 + j) * 4 + d)];
    return to;
  };
  Sdpa paged({2, 2, 2, 3, 8, 4, 4});
  Numbers table;
  for (int64_t b = 0; b < 2; ++b)
    for (int64_t p = 0; p < 4; ++p) table.push_back(static_cast<double>(page(b, p)));
  table[7] = -5;  // beyond the five keys of batch 1: never read
  paged.in[1].second = paged.g.input(DataType::float32, {10, 2, 2, 4}, scattered(paged.k));
  paged.in[2].second = paged.g.input(DataType::float32, {10, 2, 2, 4}, scattered(paged.v));
  const auto tables = paged.g.input(DataType::int32, {2, 1, 4, 1}, table);
  paged.in.push_back({"page_table_k", tables});
  paged.in.push_back({"page_table_v", tables});
  paged.in.push_back({"seq_len_q", paged.g.input(DataType::int32, {2}, {3, 3})});
  paged.in.push_back({"seq_len_kv", paged.g.input(DataType::int32, {2}, {8, 5})});
  paged.attributes = {{"max_seq_len_kv", int64_t{8}}};
  CHECK(paged.out(paged.o) == expected);

  table[6] = 10;
  paged.g.set(tables, table);
  const auto refused = paged.run();
  REQUIRE(!refused.ok());
  CHECK(refused.error().text() ==
        "node 'n0': element 6 of 'page_table_k' is out of range; expected 0 to 9, found 10");
}

TEST_CASE("stats, max and sum of exponentials fit together") {
  Sdpa a({1, 2, 1, 3, 5, 4, 2});
  a.attributes = {{"attn_scale_value", 1.0}};
  const auto all = a.run();
  REQUIRE(all.ok());
  for (size_t row = 0; row < 6; ++row) {
    double largest = -INFINITY, sum = 0;
    for (size_t j = 0; j < 5; ++j) {
      double s = 0;
      for (size_t d = 0; d < 4; ++d) s += a.q[row * 4 + d] * a.k[j * 4 + d];
      largest = std::fmax(largest, s);
      sum += std::exp(s);
    }
    CHECK(all->at(a.max).values[row] == doctest::Approx(largest).epsilon(1e-14));
    CHECK(all->at(a.stats).values[row] == doctest::Approx(std::log(sum)).epsilon(1e-14));
    CHECK(all->at(a.sum_exp).values[row] ==
          doctest::Approx(sum / std::exp(largest)).epsilon(1e-14));
  }
}

TEST_CASE("a float kernel with online softmax is inside the bounds, a wrong one is not") {
  Sdpa a({1, 1, 1, 8, 96, 32, 16});
  const auto all = a.run(3);
  REQUIRE(all.ok());
  const auto kernel = [&](float scale) {
    Numbers out;
    for (size_t i = 0; i < 8; ++i) {
      float max = -INFINITY, total = 0, o[16] = {};
      for (size_t j = 0; j < 96; ++j) {
        float s = 0;
        for (size_t d = 0; d < 32; ++d)
          s += static_cast<float>(a.q[i * 32 + d]) * static_cast<float>(a.k[j * 32 + d]);
        s *= scale;
        const float next = std::fmax(max, s), keep = std::exp(max - next), p = std::exp(s - next);
        total = total * keep + p;
        for (size_t d = 0; d < 16; ++d)
          o[d] = o[d] * keep + p * static_cast<float>(a.v[j * 16 + d]);
        max = next;
      }
      for (const float x : o) out.push_back(static_cast<double>(x / total));
    }
    return out;
  };
  const float scale = 1.0f / std::sqrt(32.0f);
  CHECK(worst_ratio(all->at(a.o), kernel(scale)) <= 1);
  CHECK(worst_ratio(all->at(a.o), kernel(scale * 1.001f)) > 1);
  CHECK(a.run(1)->at(a.o).values == all->at(a.o).values);
}

TEST_CASE("half probabilities are allowed where v is half") {
  Sdpa exact({1, 1, 1, 2, 64, 8, 4}), rounding({1, 1, 1, 2, 64, 8, 4}, DataType::half);
  const double wide = exact.run()->at(exact.o).bounds[0],
               narrow = rounding.run()->at(rounding.o).bounds[0];
  CHECK(narrow > 0x1p-12 * 0.5 * 0.1);
  CHECK(wide < 1e-4);
  CHECK(narrow < 5e-3);
}

TEST_CASE("features without an answer are named") {
  const auto refusal = [](const std::vector<graph::Attribute>& attributes,
                          const char* role = nullptr) {
    Sdpa a({1, 1, 1, 2, 2, 2, 2});
    a.attributes = attributes;
    if (role != nullptr) a.in.push_back({role, a.g.input(DataType::float32, {1}, {1})});
    const auto result = a.run();
    if (result.ok()) return std::string("evaluated");
    CHECK(result.error().code == Code::negative);
    CHECK(result.error().reason == "reference-unsupported");
    return result.error().what;
  };
  CHECK(refusal({{"alibi_mask", true}}) ==
        "SDPA with alibi_mask is not evaluated by the CPU reference");
  CHECK(refusal({{"dropout_probability", 0.1}}) ==
        "SDPA with dropout is not evaluated by the CPU reference");
  CHECK(refusal({}, "sink_token") == "SDPA with sink_token is not evaluated by the CPU reference");
  CHECK(refusal({{"dropout_probability", 0.0}}) == "evaluated");
  CHECK(refusal({}, "descale_q") == "evaluated");
}

TEST_CASE("heads that do not divide are refused") {
  Sdpa a({1, 3, 2, 2, 2, 2, 2});
  CHECK(a.run().error().reason == "shape");
}
