// The loader's rules, one small tree each.
#include <doctest/doctest.h>

#include <algorithm>

#include "descriptor/emit.h"
#include "descriptor/loader.h"
#include "faults.h"
#include "tree.h"

using namespace hipplan;
using namespace hipplan::test;
using descriptor::Loaded;

namespace {

Loaded load_tree(const Tree& tree, const descriptor::LoadOptions& options = {}) {
  auto loaded = descriptor::load({tree.root()}, options);
  REQUIRE(loaded.ok());
  return std::move(loaded).value();
}

/// Diagnostics as "severity reason" in order, for whole comparisons.
std::vector<std::string> told(const Loaded& loaded) {
  std::vector<std::string> out;
  for (const auto& entry : loaded.diagnostics)
    out.push_back((entry.severity == Severity::error ? "error " : "warning ") + entry.reason);
  return out;
}

std::string all_text(const Loaded& loaded) {
  std::string out;
  for (const auto& entry : loaded.diagnostics)
    out += entry.reason + " | " + entry.where + " | " + entry.text + "\n";
  return out;
}

using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("a sound set loads completely and without a word") {
  Tree tree;
  write_sound_set(tree);
  const Loaded loaded = load_tree(tree);
  INFO(all_text(loaded));
  CHECK(loaded.diagnostics.empty());
  CHECK(loaded.files_read == 7);
  REQUIRE(loaded.set->engines.size() == 1);
  const descriptor::Engine& engine = *loaded.set->engines[0];
  CHECK(engine.name == "test:Engine");
  CHECK(engine.engine_id == engine_id("test:Engine"));
  CHECK(engine.graph_match == "test.graph");
  CHECK(engine.sdk_version == "1.2.0");
  CHECK(engine.knobs == Texts{"block_size"});
  REQUIRE(engine.heuristic != nullptr);
  CHECK(engine.heuristic->symbol == "test.rank");
  CHECK(engine.heuristic_for("gfx942") == engine.heuristic);
  REQUIRE(engine.packs.size() == 1);
  const descriptor::Pack& pack = *engine.packs[0];
  CHECK(pack.arch == Texts{"gfx90a", "gfx942"});
  REQUIRE(pack.kernels.size() == 2);
  CHECK(pack.dispatch->symbol == "test.dispatch");
  CHECK(pack.matchers[0]->scope == descriptor::Scope::kernel);

  SUBCASE("metadata is completed in the schema's order, ints widen to float") {
    const auto& values = pack.kernels[0].values;
    REQUIRE(values.size() == 5);
    CHECK(values[0] == ValueData(int64_t{64}));
    CHECK(values[1] == ValueData(std::string("float")));
    CHECK(values[2] == ValueData(2.0));
    CHECK(values[3] == ValueData(std::vector<int64_t>{1, 2}));
    CHECK(values[4] == ValueData(true));
    CHECK(pack.kernels[1].values[0] == ValueData(int64_t{256}));
  }
  SUBCASE("kernel sources are read and their paths resolved from the file's folder") {
    const auto& source = pack.kernels[0].kernel->sources.at(0);
    CHECK(source.path == (tree.root() / "kpack/a.kpack").string());
    CHECK(source.symbol == "inline_kernel");
    CHECK(source.sha256.hex() == std::string(64, 'a'));
    CHECK(source.signature == std::vector<descriptor::Argument>{{"global_buffer", 8, 0, "x"}});
  }
  SUBCASE("engines are found by name and by id") {
    CHECK(loaded.set->find_engine("test:Engine") == &engine);
    CHECK(loaded.set->find_engine("test:engine") == nullptr);
    CHECK(loaded.set->find_engine(engine_id("test:Engine")) == &engine);
    CHECK(loaded.set->find_engine(int64_t{1}) == nullptr);
  }
}

TEST_CASE("comments are read, folders mean nothing, other files are passed over") {
  Tree tree;
  write_sound_set(tree, "deep/er/");
  tree.write("deep/er/m.umd.json", "// one line\n" + matcher_text() + "/* tail */");
  tree.write("README.md", "x")
      .write("deep/notes.json", "{}")
      .write("x.jsonc", "{}")
      .write(".ued.json", "{}");
  tree.write("a.UED.json", "{}");
  const Loaded loaded = load_tree(tree);
  CHECK(loaded.set->engines.size() == 1);
  CHECK(told(loaded) == Texts(4, "warning not-a-descriptor"));
  CHECK_FALSE(loaded.has_errors());
}

TEST_CASE("a root that is no folder is refused") {
  Tree tree;
  tree.write("file", "x");
  for (const char* name : {"missing", "file"}) {
    const auto loaded = descriptor::load({tree.root() / name});
    REQUIRE_FALSE(loaded.ok());
    CHECK(loaded.error().code == Code::bad_input);
    CHECK(loaded.error().where == (tree.root() / name).string());
  }
}

TEST_CASE("each fault is told and costs exactly what depends on it") {
  for (const Fault& fault : faults()) {
    Tree tree;
    for (auto [file, text] : sound_files()) {
      if (file == fault.file) text = replaced(text, fault.from, fault.to);
      tree.write(file, text);
    }
    const Loaded loaded = load_tree(tree);
    Texts expected = fault.told, found = told(loaded);
    CAPTURE(fault.name);
    INFO(all_text(loaded));
    CHECK(found == expected);
    CHECK(loaded.set->engines.size() == fault.engines);
    for (const auto& entry : loaded.diagnostics) CHECK(entry.where.find(tree.root().string()) == 0);
  }
}

TEST_CASE("diagnostics of a file carry line and column") {
  Tree tree;
  tree.write("m.umd.json",
             "{\"version\": \"1.0\",\n  \"id\": \"x\",\n\"name\": \"n\", \"scope\": \"graph\", "
             "\"match_symbol\": \"s\"}");
  const Loaded loaded = load_tree(tree);
  REQUIRE(loaded.diagnostics.size() == 1);
  CHECK(loaded.diagnostics[0].where == (tree.root() / "m.umd.json").string() + ":2:9");
}

TEST_CASE("two engines with one name are both dropped") {
  Tree tree;
  write_sound_set(tree);
  tree.write("e2.ued.json", replaced(engine_text(), uuid(1), uuid(11)));
  const Loaded loaded = load_tree(tree);
  CHECK(told(loaded) ==
        Texts{"error engine-name-collision", "error engine-name-collision", "error orphan-pack"});
  CHECK(loaded.set->engines.empty());
}

TEST_CASE("identities: copies collapse, contradictions poison, later roots are refused") {
  Tree tree, later;
  write_sound_set(tree);
  const auto copy = [](std::string text) { return "// copy\n" + text; };
  SUBCASE("the same content in another layout is one descriptor") {
    tree.write("z/e.ued.json", copy(engine_text())).write("z/p.kdp.json", copy(pack_text()));
    const Loaded loaded = load_tree(tree);
    CHECK(loaded.diagnostics.empty());
    CHECK(loaded.set->packs.size() == 1);
  }
  SUBCASE("key order does not matter") {
    tree.write("z.udd.json", R"({"dispatch_symbol": "test.dispatch", "name": "dispatch", "id": )" +
                                 quoted(uuid(4)) + R"(, "version": "1.0"})");
    CHECK(load_tree(tree).diagnostics.empty());
  }
  SUBCASE("other content in one root removes both, and a third copy does not bring it back") {
    tree.write("d2.udd.json", replaced(dispatch_text(), "test.dispatch", "other"));
    tree.write("d3.udd.json", dispatch_text());
    const Loaded loaded = load_tree(tree);
    CHECK(told(loaded) == Texts{"error contradicting-descriptors",
                                "error contradicting-descriptors", "error dangling-reference",
                                "error engine-without-pack"});
  }
  SUBCASE("other content in a later root is refused, the first stays") {
    later.write("d.udd.json", replaced(dispatch_text(), "test.dispatch", "other"));
    auto loaded = descriptor::load({tree.root(), later.root()});
    REQUIRE(loaded.ok());
    CHECK(told(*loaded) == Texts{"error later-root-refused"});
    REQUIRE(loaded->set->packs.size() == 1);
    CHECK(loaded->set->packs[0]->dispatch->symbol == "test.dispatch");
  }
  SUBCASE("the same UUID in another kind is another identity") {
    tree.write("x.udd.json", replaced(dispatch_text(), uuid(4), uuid(3)));
    CHECK(load_tree(tree).diagnostics.empty());
  }
  SUBCASE("packs and kernels of other architectures are other identities") {
    std::string other = replaced(replaced(pack_text(), "gfx942", "gfx950"), "gfx90a", "gfx1100");
    tree.write("p2.kdp.json", other);
    const Loaded loaded = load_tree(tree);
    CHECK(loaded.diagnostics.empty());
    CHECK(loaded.set->packs.size() == 2);
  }
}

TEST_CASE("stand-alone kernels: shards per architecture, ambiguity, and being forgotten") {
  Tree tree;
  write_sound_set(tree);
  const auto with_arch = [](const char* arch) {
    return replaced(kernel_text(), R"("priority": 0)",
                    std::string(R"("priority": 0, "arch": [")") + arch + "\"]");
  };
  SUBCASE("a shard outside the pack's architectures is not taken") {
    tree.write("k2.ukd.json", with_arch("gfx1100"));
    CHECK(load_tree(tree).diagnostics.empty());
  }
  SUBCASE("two shards that fit are ambiguous") {
    tree.write("k2.ukd.json", with_arch("gfx942"));
    CHECK(told(load_tree(tree)) == Texts{"error ambiguous-kernel", "error engine-without-pack"});
  }
  SUBCASE("a kernel in no pack is worth a warning") {
    tree.write("k2.ukd.json", replaced(kernel_text(), uuid(8), uuid(18)));
    CHECK(told(load_tree(tree)) == Texts{"warning unreferenced-kernel"});
  }
}

TEST_CASE("a metadata tuple is one kernel's per engine where architectures overlap") {
  Tree tree;
  write_sound_set(tree);
  std::string second = replaced(replaced(pack_text(), uuid(6), uuid(16)), uuid(7), uuid(17));
  SUBCASE("other architectures") {
    tree.write("p2.kdp.json", replaced(replaced(second, "gfx942", "gfx950"), "gfx90a", "gfx1100"));
    const Loaded loaded = load_tree(tree);
    CHECK(loaded.diagnostics.empty());
    CHECK(loaded.set->packs.size() == 2);
  }
  SUBCASE("one shared architecture") {
    tree.write("p2.kdp.json",
               replaced(replaced(second, "gfx942", "gfx950"), ", " + quoted(uuid(8)), ""));
    const Loaded loaded = load_tree(tree);
    CHECK(told(loaded) == Texts{"error duplicate-metadata", "error pack-without-kernels"});
    CHECK(loaded.set->packs.size() == 1);
  }
  SUBCASE("any architecture") {
    tree.write("p2.kdp.json", replaced(second, R"("arch": ["gfx942", "gfx90a"], )", ""));
    const Loaded loaded = load_tree(tree);
    CHECK(told(loaded) == Texts{"error duplicate-metadata", "error duplicate-metadata",
                                "error pack-without-kernels"});
    CHECK(loaded.set->engines.size() == 1);
  }
}

TEST_CASE("multi-launch kernels need version 1.1 and one launch set per dispatch") {
  Tree tree;
  write_sound_set(tree);
  const std::string single = "\"kernel_source\": " + packed_source("shared_kernel");
  const std::string two = "\"sources\": {\"second\": " + packed_source("b") +
                          ", \"first\": " + packed_source("a") + "}";
  const std::string multi = replaced(replaced(kernel_text(), single, two), "1.0", "1.1");
  // A pack of the multi-launch kernel alone.
  const std::string pack = pack_text();
  const size_t list = pack.find("[{");
  const std::string alone = pack.substr(0, list) + "[" + quoted(uuid(8)) + "]}";
  SUBCASE("sources are sorted by launch name") {
    tree.write("k.ukd.json", multi).write("p.kdp.json", alone);
    const Loaded loaded = load_tree(tree);
    INFO(all_text(loaded));
    CHECK(loaded.diagnostics.empty());
    const auto& kernel = *loaded.set->packs.at(0)->kernels.at(0).kernel;
    CHECK(kernel.multi_launch);
    REQUIRE(kernel.sources.size() == 2);
    CHECK(kernel.sources[0].launch_name == "first");
    CHECK(kernel.sources[0].symbol == "a");
    CHECK(kernel.sources[1].launch_name == "second");
  }
  SUBCASE("version 1.0 cannot have sources") {
    tree.write("k.ukd.json", replaced(multi, "1.1", "1.0")).write("p.kdp.json", alone);
    CHECK(told(load_tree(tree))[0] == "error bad-version");
  }
  SUBCASE("one pack cannot mix launch sets") {
    tree.write("k.ukd.json", multi);
    CHECK(told(load_tree(tree)) == Texts{"error launch-set", "error engine-without-pack"});
  }
  SUBCASE("kinds cannot be mixed, embedded sources cannot be launches") {
    const std::string embedded =
        R"({"kind": "embedded_source", "source_file": "a.cpp", "entry_point": "a"})";
    tree.write("k.ukd.json", replaced(multi, packed_source("a"), embedded))
        .write("p.kdp.json", alone);
    CHECK(told(load_tree(tree))[0] == "error bad-source");
  }
  SUBCASE("kernel_source and sources exclude each other") {
    tree.write("k.ukd.json", replaced(multi, two, two + ", " + single)).write("p.kdp.json", alone);
    CHECK(told(load_tree(tree))[0] == "error bad-source");
  }
}

TEST_CASE("authored kernel sources") {
  Tree tree;
  write_sound_set(tree);
  const auto with = [](const std::string& source) {
    return replaced(kernel_text(), packed_source("shared_kernel"), source);
  };
  const auto source_of = [&](const std::string& text) {
    tree.write("k.ukd.json", with(text));
    const Loaded loaded = load_tree(tree);
    INFO(all_text(loaded));
    REQUIRE(loaded.diagnostics.empty());
    return loaded.set->packs.at(0)->kernels.at(1).kernel->sources.at(0);
  };
  SUBCASE("hip") {
    const auto source = source_of(
        R"({"kind": "hip", "source": "conv/a.hip", "entry": "f", "build": {"defines": {"Z": "float", "A": 64,
            "F": true, "R": 0.5}, "flags": ["-O3", "-O3"]}})");
    CHECK(source.kind == descriptor::SourceKind::hip);
    CHECK(source.file == "conv/a.hip");
    CHECK(source.symbol == "f");
    using Define = std::pair<std::string, std::string>;
    CHECK(source.defines ==
          std::vector<Define>{{"A", "64"}, {"F", "1"}, {"R", "0.5"}, {"Z", "float"}});
    CHECK(source.flags == Texts{"-O3", "-O3"});
  }
  SUBCASE("hsaco, hsaco_file") {
    CHECK(source_of(R"({"kind": "hsaco", "file": "a.hsaco", "symbol": "f"})").path ==
          (tree.root() / "a.hsaco").string());
    CHECK(source_of(
              R"({"kind": "hsaco_file", "code_object_file": "x/a.co", "code_object_symbol": "f"})")
              .path == (tree.root() / "x/a.co").string());
  }
  SUBCASE("rocke in both spellings") {
    CHECK(source_of(R"({"kind": "rocke", "source": "a.py", "builder": "b", "spec": {"n": 1}})")
              .spec == R"({"n":1})");
    CHECK(source_of(R"({"kind": "rocke", "source": "a.py", "entry": "b"})").symbol == "b");
  }
  SUBCASE("source texts have no '..' and no absolute path") {
    for (const char* bad : {"../a.cpp", "/a.cpp", "a/../../b.cpp", ".."}) {
      tree.write(
          "k.ukd.json",
          with(std::string(R"({"kind": "embedded_source", "entry_point": "e", "source_file": ")") +
               bad + "\"}"));
      CHECK(told(load_tree(tree))[0] == "error bad-path");
    }
  }
}

TEST_CASE("heuristics in the newer form") {
  Tree tree;
  write_sound_set(tree);
  const auto load_heuristic = [&](const std::string& members) {
    tree.write("h.uhd.json", R"({"version": "1.0", "name": "n", "id": )" + quoted(uuid(5)) + ", " +
                                 members + "}");
    return load_tree(tree);
  };
  SUBCASE("native") {
    const Loaded loaded = load_heuristic(
        R"("adapter": "native", "objective": "min", "native": {"symbol": "s"}, "score": {"units": "us", "transform": "log1p"})");
    INFO(all_text(loaded));
    REQUIRE(loaded.diagnostics.empty());
    const auto& heuristic = *loaded.set->heuristics.at(0);
    CHECK(heuristic.symbol == "s");
    CHECK_FALSE(heuristic.maximize);
    CHECK(heuristic.logarithmic);
    CHECK(heuristic.metric == "us");
  }
  SUBCASE("native without its symbol") {
    CHECK(told(load_heuristic(R"("adapter": "native")"))[0] == "error missing-key");
  }
  SUBCASE("unknown words") {
    CHECK(told(load_heuristic(R"("adapter": "oracle")"))[0] == "error wrong-type");
    CHECK(told(load_heuristic(R"("adapter": "static_order", "objective": "best")"))[0] ==
          "error wrong-type");
  }
  SUBCASE("tree data stays inside the tree") {
    const std::string hash = std::string(64, '0');
    CHECK(load_heuristic(
              R"("adapter": "tree_data", "tree_data": {"artifact": "model.bin", "hash": ")" + hash +
              "\"}")
              .diagnostics.empty());
    CHECK(told(load_heuristic(
              R"("adapter": "tree_data", "tree_data": {"artifact": "../model.bin", "hash": ")" +
              hash + "\"}"))[0] == "error bad-path");
  }
}

TEST_CASE("a heuristic per architecture") {
  Tree tree;
  write_sound_set(tree);
  tree.write("h2.uhd.json", replaced(heuristic_text(), uuid(5), uuid(15)));
  const auto with = [&](const std::string& map) {
    tree.write("e.ued.json", replaced(engine_text(), "\"heuristic\": " + quoted(uuid(5)),
                                      "\"sort_kernel_catalog\": " + map));
    return load_tree(tree);
  };
  const Loaded loaded =
      with("{\"gfx942\": " + quoted(uuid(15)) + ", \"default\": " + quoted(uuid(5)) + "}");
  REQUIRE(loaded.set->engines.size() == 1);
  const auto& engine = *loaded.set->engines[0];
  CHECK(engine.heuristic_for("gfx942")->id.text() == uuid(15));
  CHECK(engine.heuristic_for("gfx950")->id.text() == uuid(5));
  CHECK(told(with("{\"MI300\": " + quoted(uuid(15)) + "}"))[0] == "error bad-arch");
  CHECK(told(with("{\"gfx942\": " + quoted(uuid(95)) + "}"))[0] == "error dangling-reference");
}

TEST_CASE("engines can be switched off by name, id or UUID") {
  Tree tree;
  write_sound_set(tree);
  const int64_t id = engine_id("test:Engine");
  std::string hex = engine_id_text(id);
  for (char& c : hex) c = static_cast<char>(std::tolower(c));
  for (const std::string& name :
       {std::string("test:Engine"), std::to_string(id), engine_id_text(id), hex, uuid(1)}) {
    CAPTURE(name);
    const Loaded loaded = load_tree(tree, {.disabled_engines = {name}});
    CHECK(loaded.set->engines.empty());
    CHECK(loaded.diagnostics.empty());
  }
  CHECK(load_tree(tree, {.disabled_engines = {"test:Other"}}).set->engines.size() == 1);
}

TEST_CASE("loading does not depend on the number of threads") {
  Tree tree;
  write_sound_set(tree);
  for (int i = 0; i < 40; ++i) {
    tree.write("more/m" + std::to_string(i) + ".umd.json",
               replaced(matcher_text(), uuid(3), uuid(100 + i)));
    tree.write("bad/m" + std::to_string(i) + ".umd.json",
               replaced(matcher_text(), uuid(3), "bad" + std::to_string(i)));
  }
  const Loaded one = load_tree(tree, {.jobs = 1}), many = load_tree(tree, {.jobs = 4});
  CHECK(all_text(one) == all_text(many));
  CHECK(one.set->matchers.size() == 41);
  CHECK(many.set->matchers.size() == 41);
}

TEST_CASE("packed files: sources replaced, one architecture, provenance gone") {
  Tree tree;
  write_sound_set(tree);
  const std::string authored = R"({"kind": "hip", "source": "a.hip", "entry": "f"})";
  std::string text = replaced(pack_text(), packed_source("inline_kernel"), authored);
  text = replaced(text, R"("arch")", R"("provenance": {"a": 1}, "arch")");
  tree.write("p.kdp.json", text);
  const Loaded loaded = load_tree(tree, {.keep_documents = true});
  REQUIRE(loaded.diagnostics.empty());
  descriptor::Source packed;
  packed.file = "kpack/b.kpack";
  packed.toc_key = "key";
  packed.symbol = "f";
  packed.sha256 = sha256(as_bytes("code"));
  packed.signature = {{"by_value", 16, 8, ""}};
  const auto source_of = [&](const Uuid& kernel, std::string_view launch) {
    return kernel.text() == uuid(7) && launch.empty() ? &packed : nullptr;
  };
  const std::string out =
      descriptor::print_packed(*loaded.set->packs[0]->origin.document, "gfx942", source_of,
                               [](const Uuid& id) { return id.text() != uuid(8); });
  CHECK(out.find("provenance") == std::string::npos);
  CHECK(out.find('\n') == std::string::npos);
  tree.write("p.kdp.json", out).remove("k.ukd.json");
  const Loaded again = load_tree(tree);
  INFO(all_text(again));
  REQUIRE(again.diagnostics.empty());
  const auto& pack = *again.set->packs.at(0);
  CHECK(pack.arch == Texts{"gfx942"});
  REQUIRE(pack.kernels.size() == 1);
  const auto& source = pack.kernels[0].kernel->sources[0];
  CHECK(source.kind == descriptor::SourceKind::kpack);
  CHECK(source.toc_key == "key");
  CHECK(source.sha256 == packed.sha256);
  CHECK(source.signature == packed.signature);
}
