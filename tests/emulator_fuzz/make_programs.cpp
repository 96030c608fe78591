// Writes random programs as text that both a GPU compiler and the host's compile.
//   make_programs SEED COUNT > programs.h
// A program is a sequence of steps on the items of a workgroup: statements of one item, exchanges
// through shared memory between barriers, shuffles, atomics. Everything is defined and rounds once,
// so that results agree to the bit. The same seed gives the same text.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <string>

namespace {

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  unsigned below(unsigned bound) {
    state_ += 0x9e3779b97f4a7c15ull;
    uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return static_cast<unsigned>((z ^ (z >> 31)) % bound);
  }

 private:
  uint64_t state_;
};

class Writer {
 public:
  explicit Writer(uint64_t seed) : random_(seed) {}

  /// One program: functions of one item, the kernel, the host's loops.
  void program(unsigned number) {
    const std::string name = "program_" + std::to_string(number);
    std::string functions, kernel, host;
    const unsigned steps = 3 + random_.below(4);
    for (unsigned i = 0; i < steps; ++i) {
      const unsigned kind = i == 0 ? 0 : random_.below(5);
      if (kind < 2)
        compute(name + "_" + std::to_string(i), functions, kernel, host);
      else if (kind == 2)
        exchange(kernel, host);
      else if (kind == 3)
        shuffle(kernel, host);
      else
        atomics(kernel, host);
    }
    print(name, functions, kernel, host);
  }
  /// A program of one step with this body.
  static void program(unsigned number, const std::string& body) {
    const std::string name = "program_" + std::to_string(number);
    print(name, "FN void " + name + "_0(Item& s) {\n" + body + "}\n", "  " + name + "_0(s);\n",
          "  for (u32 i = 0; i < kItems; ++i) " + name + "_0(s[i]);\n");
  }

 private:
  static void print(const std::string& name, const std::string& functions,
                    const std::string& kernel, const std::string& host) {
    std::printf("%s#if defined(__HIP__)\nKERNEL %s(u32* out, const u32* in) {\n", functions.c_str(),
                name.c_str());
    std::printf(
        "  SHARED u32 shared[kItems], counters[4];\n  Item s;\n  init(s, in, index());\n"
        "  if (item() < 4) counters[item()] = 0;\n  barrier();\n%s  finish(s, out, index());\n}\n",
        kernel.c_str());
    std::printf("#else\nextern \"C\" void %s(u32* out, const u32* in, u32 group) {\n",
                name.c_str());
    std::printf(
        "  u32 shared[kItems] = {}, counters[4] = {};\n  Item s[kItems];\n  (void)shared, "
        "(void)counters;\n"
        "  for (u32 i = 0; i < kItems; ++i) init(s[i], in, group * kItems + i);\n%s"
        "  for (u32 i = 0; i < kItems; ++i) finish(s[i], out, group * kItems + i);\n}\n#endif\n",
        host.c_str());
  }

  /// Parts in order: a list is evaluated from left to right, so that the text depends on the seed
  /// only.
  static std::string joined(std::initializer_list<std::string> parts) {
    std::string out;
    for (const auto& part : parts) out += part;
    return out;
  }
  std::string number(unsigned below) { return std::to_string(random_.below(below)); }
  std::string pick(const char* name, unsigned count) {
    return std::string("s.") + name + "[" + number(count) + "]";
  }
  std::string constant() {
    static const char* const kEdges[] = {"0u",          "1u",          "0x80000000u",
                                         "0xffffffffu", "0x7fffffffu", "0xffffu"};
    return random_.below(3) == 0 ? kEdges[random_.below(6)]
                                 : std::to_string(random_.below(1u << 30)) + "u";
  }

  std::string word(unsigned depth) {
    if (depth == 0) return random_.below(4) == 0 ? constant() : pick("v", 6);
    const auto a = [&] { return word(depth - 1); };
    switch (random_.below(17)) {
      case 0:
        return joined({"(", a(), " + ", a(), ")"});
      case 1:
        return joined({"(", a(), " - ", a(), ")"});
      case 2:
        return joined({"(", a(), " * ", a(), ")"});
      case 3:
        return joined({"(", a(), " ^ ", a(), ")"});
      case 4:
        return joined({"(", a(), " & ", a(), ")"});
      case 5:
        return joined({"(", a(), " | ~", a(), ")"});
      case 6:
        return joined({"(", a(), " << (", a(), " & 31u))"});
      case 7:
        return joined({"((u32)((i32)", a(), " >> (", a(), " & 31u)))"});
      case 8:
        return joined({"rotate(", a(), ", ", a(), ")"});
      case 9:
        return joined({"high_product(", a(), ", ", a(), ")"});
      case 10:
        return joined({"(leading(", a(), ") + ones(", a(), "))"});
      case 11:
        return joined({"((i32)", a(), " < (i32)", a(), " ? ", a(), " : ", a(), ")"});
      case 12:
        return joined({"(", a(), " % (", a(), " | 1u))"});
      case 13:
        return joined({"narrow(", a(), ")"});
      case 14:
        return joined({"((u32)to_int(", real(depth - 1), "))"});
      case 15:
        return joined({"((u32)(", wide(depth - 1), " >> 17))"});
      default:
        return joined({"(", real(depth - 1), " < ", real(depth - 1), " ? ", a(), " : 5u)"});
    }
  }
  std::string wide(unsigned depth) {
    if (depth == 0) return pick("w", 2);
    const auto a = [&] { return wide(depth - 1); };
    switch (random_.below(7)) {
      case 0:
        return joined({"(", a(), " + ", a(), ")"});
      case 1:
        return joined({"(", a(), " * ", a(), ")"});
      case 2:
        return joined({"(", a(), " - (u64)", word(depth - 1), ")"});
      case 3:
        return joined({"(", a(), " << (", word(depth - 1), " & 63u))"});
      case 4:
        return joined({"((u64)((i64)", a(), " >> (", word(depth - 1), " & 63u)))"});
      case 5:
        return joined({"((u64)", word(depth - 1), " * ", word(depth - 1), ")"});
      default:
        return joined({"(", a(), " > ", a(), " ? ", a(), " : ~", a(), ")"});
    }
  }
  std::string real(unsigned depth) {
    if (depth == 0) return pick("f", 4);
    const auto a = [&] { return real(depth - 1); };
    switch (random_.below(10)) {
      case 0:
        return joined({"tame(", a(), " + ", a(), ")"});
      case 1:
        return joined({"tame(", a(), " - ", a(), ")"});
      case 2:
        return joined({"tame(", a(), " * ", a(), ")"});
      case 3:
        return joined({"tame(__builtin_fmaf(", a(), ", ", a(), ", ", a(), "))"});
      case 4:
        return joined({"tame(", a(), " / ", a(), ")"});
      case 5:
        return joined({"__builtin_sqrtf(__builtin_fabsf(", a(), "))"});
      case 6:
        return joined({"(float)", word(depth - 1)});
      case 7:
        return joined({"(float)(i32)", word(depth - 1)});
      case 8:
        return joined({"half_round(", a(), ")"});
      default:
        return joined({"tame((float)(wide(", a(), ") * wide(", a(), ")))"});
    }
  }

  std::string assignment() {
    const unsigned kind = random_.below(6);
    if (kind == 0) return joined({pick("w", 2), " = ", wide(2), ";"});
    if (kind <= 2) return joined({pick("f", 4), " = ", real(2), ";"});
    return joined({pick("v", 6), " = ", word(2), ";"});
  }
  std::string statement(unsigned depth) {
    const unsigned kind = depth == 0 ? 9 : random_.below(8);
    if (kind == 0)
      return joined({"if ((", word(1), " & 3u) == ", number(4), "u) { ", statement(depth - 1), " ",
                     statement(depth - 1), " } else { ", statement(depth - 1), " }"});
    if (kind == 1)
      return joined({"for (u32 k = ", pick("v", 6), " & 7u; k != 0; --k) { ", statement(depth - 1),
                     " ", pick("v", 6), " += k; }"});
    return assignment();
  }

  void compute(const std::string& name, std::string& functions, std::string& kernel,
               std::string& host) {
    functions += "FN void " + name + "(Item& s) {\n";
    const unsigned count = 3 + random_.below(4);
    for (unsigned i = 0; i < count; ++i) functions += "  " + statement(2) + "\n";
    functions += "}\n";
    kernel += "  " + name + "(s);\n";
    host += "  for (u32 i = 0; i < kItems; ++i) " + name + "(s[i]);\n";
  }
  void exchange(std::string& kernel, std::string& host) {
    const std::string from = number(6), to = number(6);
    const std::string at = joined({number(64), " * 2 + 1) + ", number(128), ") & 127u]"});
    kernel += "  shared[item()] = s.v[" + from + "];\n  barrier();\n  s.v[" + to +
              "] ^= shared[(item() * (" + at + ";\n  barrier();\n";
    host += "  for (u32 i = 0; i < kItems; ++i) shared[i] = s[i].v[" + from +
            "];\n"
            "  for (u32 i = 0; i < kItems; ++i) s[i].v[" +
            to + "] ^= shared[(i * (" + at + ";\n";
  }
  void shuffle(std::string& kernel, std::string& host) {
    const std::string from = number(6), to = number(6),
                      bits = std::to_string(1 + random_.below(31));
    kernel += "  s.v[" + to + "] += shuffle(s.v[" + from + "], " + bits + ");\n";
    host += "  for (u32 i = 0; i < kItems; ++i) shared[i] = s[i].v[" + from +
            "];\n"
            "  for (u32 i = 0; i < kItems; ++i) s[i].v[" +
            to + "] += shared[i ^ " + bits + "u];\n";
  }
  void atomics(std::string& kernel, std::string& host) {
    const std::string at = number(6), value = number(6), to = number(6);
    kernel += "  add(&counters[s.v[" + at + "] & 3u], s.v[" + value + "]);\n  barrier();\n  s.v[" +
              to + "] ^= counters[item() & 3u];\n  barrier();\n";
    host += "  for (u32 i = 0; i < kItems; ++i) counters[s[i].v[" + at + "] & 3u] += s[i].v[" +
            value +
            "];\n"
            "  for (u32 i = 0; i < kItems; ++i) s[i].v[" +
            to + "] ^= counters[i & 3u];\n";
  }

  Random random_;
};

/// Steps over which host and GPU once disagreed.
constexpr const char* kFound[] = {
    // 0 - (+0): a host's compiler made it the negative of a number that is never negative.
    "  s.v[1] &= 3u;\n  s.f[2] = (float)0u - (float)s.v[1];\n",
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: make_programs SEED COUNT\n");
    return 2;
  }
  auto count = static_cast<unsigned>(std::strtoul(argv[2], nullptr, 10));
  std::printf("#include \"prelude.h\"\n");
  for (unsigned i = 0; i < count; ++i) {
    Writer writer(std::strtoull(argv[1], nullptr, 10) * 1000003 + i);
    writer.program(i);
  }
  for (const char* body : kFound) Writer::program(count++, body);
  return 0;
}
