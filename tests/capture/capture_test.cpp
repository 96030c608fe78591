// Capture from small archives made here: what goes into a plan and what is refused.
#include <doctest/doctest.h>

#include <map>
#include <thread>

#include "../descriptor/tree.h"
#include "../match/support.h"
#include "archive/kpack.h"
#include "capture/capture.h"
#include "codeobject/codeobject.h"
#include "descriptor/emit.h"
#include "json/json.h"
#include "pack/compiler.h"
#include "pack/process.h"

using namespace hipplan;
using namespace hipplan::test;

namespace {

// `contiguous` takes what the pointwise handler passes; `strange` does not.
constexpr const char* kSource = R"(
#define KERNEL extern "C" __attribute__((global)) void
struct Block { long words[55]; };
KERNEL contiguous(float* out, const float* a, const float* b, const float* c, Block block) {
  out[0] = a[0] + b[0] + c[0] + block.words[54];
}
KERNEL strange(float* out, const float* a) { out[0] = a[0]; }
)";

/// The source above for an architecture; empty when there is no compiler.
const Bytes& code_for(const std::string& arch) {
  static std::map<std::string, Bytes> made;
  if (const auto at = made.find(arch); at != made.end()) return at->second;
  const auto compiler = pack::find_compiler("");
  if (!compiler) return made[arch];
  const auto folder = pack::TemporaryFolder::create(std::filesystem::temp_directory_path());
  REQUIRE(folder.ok());
  std::ofstream(folder->path() / "k.hip") << kSource;
  auto compiled =
      pack::compile(*compiler, {folder->path(), "k.hip", {}, {}}, arch, folder->path(), {});
  REQUIRE_MESSAGE(compiled.ok(), (compiled.ok() ? "" : compiled.error().text()));
  return made[arch] = std::move(compiled->code);
}

bool have_compiler() {
  const bool there = !code_for("gfx942").empty();
  if (!there) MESSAGE("skipped: no compiler for AMD GPUs");
  return there;
}

/// A packed pointwise tree of one float kernel, and the pieces that tests spoil.
struct Packed {
  Tree tree;
  descriptor::Source source;  ///< what the descriptor says
  target::Description target = target_of("mi300x");
  std::string json = relu_json();
  capture::Capturer capturer;

  explicit Packed(const std::string& code_arch = "gfx942",
                  const std::string& entry_arch = "gfx942") {
    source.file = "kpack/a.kpack";
    source.toc_key = "pointwise/contiguous";
    source.symbol = "contiguous";
    for (uint32_t i = 0; i < 4; ++i) source.signature.push_back({"global_buffer", 8, 8 * i, ""});
    source.signature.push_back({"by_value", 440, 32, ""});
    store(code_for(code_arch), entry_arch);
  }
  /// Writes the archive with one code object and notes its digest.
  void store(const Bytes& code, const std::string& arch) {
    archive::Writer writer({.arch_family = arch});
    REQUIRE(writer.add(source.toc_key, arch, code).ok());
    const auto bytes = writer.to_bytes();
    REQUIRE(bytes.ok());
    tree.write(source.file, std::string(as_text(*bytes)));
    source.sha256 = sha256(code);
  }
  /// Writes the descriptors around `source`; the kernel is the first contiguous one of float.
  std::shared_ptr<const descriptor::DescriptorSet> descriptors(bool packed = true) {
    const auto from = std::filesystem::path(HIPPLAN_SOURCE_DIR) / "descriptors/pointwise";
    for (const auto& entry : std::filesystem::directory_iterator(from))
      tree.write(entry.path().filename().string(), file_text(entry.path()));
    if (packed) {
      const auto document = json::parse(file_text(from / "pointwise.kdp.json"), "pack");
      REQUIRE(document.ok());
      const Uuid kernel = *Uuid::parse("d5fb1985-fb5c-41b0-9040-4947dcf0fc7c");
      tree.write("pointwise.kdp.json",
                 descriptor::print_packed(
                     *document, "gfx942", [&](const Uuid&, std::string_view) { return &source; },
                     [&](const Uuid& id) { return id == kernel; }));
    }
    return load_set({tree.root()});
  }
  Result<plan::Plan> capture(bool packed = true) {
    const auto graph = graph_of(json);
    auto selection =
        select::select(match::match(graph, descriptors(packed), target), graph, target, {});
    REQUIRE_MESSAGE(selection.ok(), (selection.ok() ? "" : selection.error().text()));
    return capturer.capture(*selection, graph, target, {});
  }
  /// Captures and expects a refusal.
  void refused(Code code, const std::string& reason, bool packed = true) {
    const auto plan = capture(packed);
    REQUIRE_FALSE(plan.ok());
    INFO(plan.error().text());
    CHECK(plan.error().code == code);
    CHECK(plan.error().reason == reason);
  }
};

}  // namespace

TEST_CASE("a captured plan holds the decision, the code and what restoring needs") {
  if (!have_compiler()) return;
  Packed packed;
  const auto plan = packed.capture();
  REQUIRE_MESSAGE(plan.ok(), (plan.ok() ? "" : plan.error().text()));
  const auto graph = graph_of(packed.json);
  CHECK(plan->graph_key == graph::content_key(graph));
  CHECK(plan->target == "gfx942:sramecc+:xnack-");
  CHECK(plan->envelope.engine_id == engine_id("hipplan:Pointwise"));
  CHECK(plan->envelope.tensor_uids == std::vector<int64_t>{1, 2});
  CHECK(plan->envelope.tensor_alignments == std::vector<int64_t>{16, 16});
  CHECK(plan->envelope.workspace_size == 0);
  CHECK(plan->payload.engine_name == "hipplan:Pointwise");
  CHECK(plan->payload.kernel_id.text() == "d5fb1985-fb5c-41b0-9040-4947dcf0fc7c");
  CHECK(plan->payload.dispatch == "hipplan.pointwise.dispatch.v1");
  CHECK(plan->payload.runtime_pass_by_value_uids.empty());
  CHECK(engine::integer(plan->payload.values, "block_size") == 64);
  REQUIRE(plan->payload.kernels.size() == 1);
  const plan::KernelImage& image = plan->payload.kernels[0];
  CHECK(image.source_kind == plan::SourceKind::kpack);
  CHECK(image.symbol == "contiguous");
  CHECK(image.target == "gfx942");
  CHECK(same_bytes(*image.code, code_for("gfx942")));
  CHECK(image.sha256 == sha256(*image.code));
  CHECK(image.signature.size() == 5);
  CHECK(image.signature[4].size == 440);
  CHECK(graph::same_meaning(graph_of(plan->graph), graph));
  CHECK(plan->reasons.find("hipplan.reasons/1") != std::string::npos);
  // Nothing of this machine goes into the plan.
  for (const std::string* text : {&plan->provenance, &plan->reasons, &plan->graph})
    CHECK(text->find(packed.tree.root().string()) == std::string::npos);
  const auto provenance = json::parse(plan->provenance, "provenance");
  REQUIRE(provenance.ok());
  CHECK(provenance->find("_type")->string == "https://in-toto.io/Statement/v1");
  CHECK(provenance->find("subject")->items.at(0).find("digest")->find("sha256")->string ==
        image.sha256.hex());
  const auto& build = *provenance->find("predicate")->find("buildDefinition");
  CHECK(build.find("resolvedDependencies")->items.size() >= 2);
  const auto& kernel = build.find("internalParameters")->find("kernels")->items.at(0);
  CHECK(kernel.find("entry_arch")->string == "gfx942");
  CHECK(kernel.find("toc_key")->string == "pointwise/contiguous");
  // The container's own rules accept it.
  plan::Writer writer({});
  const auto added = writer.add(*plan);
  CHECK_MESSAGE(added.ok(), (added.ok() ? "" : added.error().text()));
}

TEST_CASE("sections that are not asked for stay empty") {
  if (!have_compiler()) return;
  Packed packed;
  const auto graph = graph_of(packed.json);
  const auto selection = select::select(match::match(graph, packed.descriptors(), packed.target),
                                        graph, packed.target, {});
  REQUIRE(selection.ok());
  const auto plan = packed.capturer.capture(*selection, graph, packed.target,
                                            {.with_graph = false, .with_reasons = false});
  REQUIRE(plan.ok());
  CHECK(plan->graph.empty());
  CHECK(plan->reasons.empty());
}

TEST_CASE("code of a generic family is pinned to the device's base architecture") {
  if (!have_compiler()) return;
  Packed packed("gfx9-4-generic", "gfx9-4-generic");
  const auto plan = packed.capture();
  REQUIRE_MESSAGE(plan.ok(), (plan.ok() ? "" : plan.error().text()));
  CHECK(plan->payload.kernels[0].target == "gfx942");
  CHECK(plan->provenance.find("\"entry_arch\":\"gfx9-4-generic\"") != std::string::npos);
}

TEST_CASE("each account of the kernel that disagrees is refused") {
  if (!have_compiler()) return;
  Packed packed;
  SUBCASE("no archive") {
    packed.tree.remove(packed.source.file);
    packed.refused(Code::unusable, "archive-missing");
  }
  SUBCASE("no archive any more, but the code was read before") {
    REQUIRE(packed.capture().ok());
    packed.tree.remove(packed.source.file);
    CHECK(packed.capture().ok());
  }
  SUBCASE("no entry of that name") {
    packed.source.toc_key = "pointwise/other";
    packed.refused(Code::unusable, "kpack-entry-missing");
  }
  SUBCASE("no entry for the architecture") {
    packed.store(code_for("gfx942"), "gfx90a");
    packed.refused(Code::unusable, "kpack-entry-missing");
  }
  SUBCASE("another digest") {
    packed.source.sha256 = sha256(as_bytes("other"));
    packed.refused(Code::damaged, "code-object-digest");
  }
  SUBCASE("no code object at all") {
    const std::string text = "not an ELF file";
    packed.store(Bytes(as_bytes(text).begin(), as_bytes(text).end()), "gfx942");
    const auto plan = packed.capture();
    REQUIRE_FALSE(plan.ok());
    CHECK(plan.error().code == Code::damaged);
  }
  SUBCASE("no such symbol") {
    packed.source.symbol = "missing";
    packed.refused(Code::damaged, "symbol");
  }
  SUBCASE("other arguments than the descriptor's") {
    packed.source.signature[4].size = 8;
    packed.refused(Code::damaged, "signature");
  }
  SUBCASE("fewer arguments than the descriptor's") {
    packed.source.signature.pop_back();
    packed.refused(Code::damaged, "signature");
  }
  SUBCASE("other arguments than the handler's") {
    packed.source.symbol = "strange";
    packed.source.signature.resize(2);
    packed.refused(Code::unusable, "handler-signature");
  }
  SUBCASE("code for another architecture under this one's name") {
    packed.store(code_for("gfx1100"), "gfx942");
    packed.refused(Code::unusable, "code-target");
  }
  SUBCASE("code with a feature that the device has not") {
    packed.store(code_for("gfx942:xnack+"), "gfx942");
    packed.refused(Code::unusable, "code-target");
  }
  SUBCASE("source that was never packed") {
    packed.refused(Code::unusable, "source-kind", false);
  }
}

TEST_CASE("a damaged archive is forgotten, a good one in its place is read") {
  if (!have_compiler()) return;
  Packed packed;
  const Digest right = packed.source.sha256;
  packed.store(code_for("gfx942:xnack+"), "gfx942");
  packed.source.sha256 = right;
  packed.refused(Code::damaged, "code-object-digest");
  packed.store(code_for("gfx942"), "gfx942");
  const auto plan = packed.capture();
  CHECK_MESSAGE(plan.ok(), (plan.ok() ? "" : plan.error().text()));
}

TEST_CASE("repeated captures share the code object, also between threads") {
  if (!have_compiler()) return;
  Packed packed;
  const auto graph = graph_of(packed.json);
  const auto selection = select::select(match::match(graph, packed.descriptors(), packed.target),
                                        graph, packed.target, {});
  REQUIRE(selection.ok());
  std::vector<Result<plan::Plan>> plans(8, Error{});
  std::vector<std::thread> threads;
  for (size_t t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (size_t i = t; i < plans.size(); i += 4)
        plans[i] = packed.capturer.capture(*selection, graph, packed.target, {});
    });
  for (auto& thread : threads) thread.join();
  for (const auto& plan : plans) {
    REQUIRE(plan.ok());
    CHECK(plan->payload.kernels[0].code == plans[0]->payload.kernels[0].code);
    CHECK(plan::plan_digest(*plan) == plan::plan_digest(*plans[0]));
    CHECK(plan->provenance == plans[0]->provenance);
  }
}

TEST_CASE("limits of kernel and target are checked before a plan is made") {
  if (!have_compiler()) return;
  Packed packed;
  packed.target.lds_bytes_per_workgroup = 65536;
  CHECK(packed.capture().ok());
  const auto graph = graph_of(packed.json);
  auto selection = select::select(match::match(graph, packed.descriptors(), packed.target), graph,
                                  packed.target, {});
  REQUIRE(selection.ok());
  auto prepared = *selection->chosen.prepared;
  SUBCASE("LDS") {
    prepared.launches[0].dynamic_lds_bytes = 65537;
  }
  SUBCASE("work-items") {
    prepared.launches[0].block = {64, 64, 1};
  }
  selection->chosen.prepared = std::make_shared<const engine::PreparedKernel>(std::move(prepared));
  const auto plan = packed.capturer.capture(*selection, graph, packed.target, {});
  REQUIRE_FALSE(plan.ok());
  CHECK(plan.error().reason == "resources");
}
