// Plans through files, envelopes and payloads, and back.
#include <doctest/doctest.h>

#include <algorithm>
#include <random>

#include "sample.h"

using namespace hipplan;
using namespace hipplan::plan;
using namespace hipplan::test;

namespace {

void check_same(const Plan& a, const Plan& b) {
  CHECK(a.graph_key == b.graph_key);
  CHECK(a.target == b.target);
  CHECK(a.envelope.version == b.envelope.version);
  CHECK(a.envelope.engine_id == b.envelope.engine_id);
  CHECK(a.envelope.workspace_size == b.envelope.workspace_size);
  CHECK(a.envelope.tensor_uids == b.envelope.tensor_uids);
  CHECK(a.envelope.tensor_alignments == b.envelope.tensor_alignments);
  CHECK(a.envelope.is_override_shape_enabled == b.envelope.is_override_shape_enabled);
  CHECK(a.envelope.provider_name == b.envelope.provider_name);
  CHECK(a.envelope.provider_version == b.envelope.provider_version);
  CHECK(a.payload.engine_name == b.payload.engine_name);
  CHECK(a.payload.kernel_id == b.payload.kernel_id);
  CHECK(a.payload.kernel_name == b.payload.kernel_name);
  CHECK(a.payload.workspace_bytes == b.payload.workspace_bytes);
  CHECK(a.payload.dispatch == b.payload.dispatch);
  CHECK(a.payload.values == b.payload.values);
  CHECK(a.payload.provider_version == b.payload.provider_version);
  REQUIRE(a.payload.kernels.size() == b.payload.kernels.size());
  for (size_t i = 0; i < a.payload.kernels.size(); ++i) {
    const auto &k = a.payload.kernels[i], &l = b.payload.kernels[i];
    CHECK(k.launch_name == l.launch_name);
    CHECK(k.source_kind == l.source_kind);
    CHECK(k.symbol == l.symbol);
    CHECK(k.target == l.target);
    CHECK(k.sha256 == l.sha256);
    CHECK(k.signature == l.signature);
    REQUIRE(k.code);
    REQUIRE(l.code);
    CHECK(same_bytes(*k.code, *l.code));
  }
}

void check_same_texts(const Plan& a, const Plan& b) {
  CHECK(a.graph == b.graph);
  CHECK(a.reasons == b.reasons);
  CHECK(a.measurements == b.measurements);
  CHECK(a.evidence == b.evidence);
  CHECK(a.provenance == b.provenance);
  CHECK(a.extra == b.extra);
}

Plan only_plan(const Bytes& bytes) {
  const auto file = open_bytes(bytes);
  REQUIRE_MESSAGE(file.ok(), (file ? "" : file.error().text()));
  const auto entries = entries_of(*file);
  REQUIRE(entries.size() == 1);
  auto plan = file->read_plan(entries[0], true);
  REQUIRE_MESSAGE(plan.ok(), (plan ? "" : plan.error().text()));
  return *plan;
}

}  // namespace

TEST_CASE("a file gives back every field of a plan") {
  const Plan plan = full_plan();
  const Plan back = only_plan(file_of({plan}));
  check_same(plan, back);
  check_same_texts(plan, back);
  CHECK(plan_digest(plan) == plan_digest(back));
}

TEST_CASE("a payload gives back every field and shares one code object between launches") {
  const Plan plan = full_plan();
  const auto bytes = encode_payload(plan.payload);
  REQUIRE(bytes);
  const auto back = decode_payload(*bytes, "payload");
  REQUIRE_MESSAGE(back.ok(), (back ? "" : back.error().text()));
  CHECK(back->kernels[0].code == back->kernels[1].code);
  // 3000 and 700 bytes of code; a third copy would not fit below this.
  CHECK(bytes->size() > 3700);
  CHECK(bytes->size() < 5500);
  CHECK(*encode_payload(*back) == *bytes);
}

TEST_CASE("a bare plan keeps the digest, and an envelope without identity is not a bare plan") {
  const Plan plan = full_plan();
  const auto bytes = encode_bare_plan(plan);
  REQUIRE(bytes);
  const auto back = decode_bare_plan(*bytes, "bare");
  REQUIRE_MESSAGE(back.ok(), (back ? "" : back.error().text()));
  check_same(plan, *back);
  CHECK(back->graph.empty());
  CHECK(plan_digest(*back) == plan_digest(plan));
  const auto payload = encode_payload(plan.payload);
  REQUIRE(payload);
  const auto plain = encode_envelope(plan.envelope, *payload);
  REQUIRE(plain);
  const auto decoded = decode_envelope(*plain, "envelope");
  REQUIRE(decoded);
  CHECK(!decoded->identity);
  CHECK(decoded->payload == *payload);
  const auto refused = decode_bare_plan(*plain, "bare");
  REQUIRE(!refused);
  CHECK(refused.error().reason == "envelope-identity");
}

TEST_CASE("a library gives the same bytes in every order and when it is written again") {
  std::vector<Plan> plans;
  for (unsigned i = 0; i < 150; ++i)
    for (const char* target : {"gfx942", "gfx1100"}) plans.push_back(sample_plan(i, target));
  const Bytes first = file_of(plans);
  REQUIRE(!first.empty());
  std::shuffle(plans.begin(), plans.end(), std::mt19937(1));
  WriteOptions small;
  small.memory_bytes = 100;  // everything goes through the temporary file
  CHECK(file_of(plans, small) == first);

  const auto file = open_bytes(first);
  REQUIRE_MESSAGE(file.ok(), (file ? "" : file.error().text()));
  CHECK(file->entry_count() == 300);
  Writer again({}), copied({});
  for (const auto& entry : entries_of(*file)) {
    auto plan = file->read_plan(entry, true);
    REQUIRE_MESSAGE(plan.ok(), (plan ? "" : plan.error().text()));
    REQUIRE(again.add(*plan));
    REQUIRE(copied.add_from(*file, entry));
  }
  CHECK(*again.to_bytes() == first);
  CHECK(*copied.to_bytes() == first);
  CHECK(*again.to_bytes() == first);  // a writer may be asked again
}

TEST_CASE("find gives the one entry and nothing else") {
  std::vector<Plan> plans;
  for (unsigned i = 0; i < 100; ++i)
    for (const char* target : {"gfx942", "gfx1100", "gfx90a"})
      plans.push_back(sample_plan(i, target));
  const auto file = open_bytes(file_of(plans), Check::lookup);
  REQUIRE(file);
  for (const auto& plan : plans) {
    const auto found = file->find(plan.graph_key, plan.target);
    REQUIRE(found);
    REQUIRE(found->has_value());
    CHECK((*found)->plan_digest == plan_digest(plan));
    const auto read = file->read_plan(**found, true);
    REQUIRE(read);
    check_same(plan, *read);
  }
  const auto refuse = [&](const Digest& key, std::string_view target) {
    const auto found = file->find(key, target);
    return found.ok() && !found->has_value();
  };
  CHECK(refuse(sample_key(5), "gfx94"));
  CHECK(refuse(sample_key(5), "gfx942a"));
  CHECK(refuse(sample_key(5), ""));
  CHECK(refuse(sample_key(100), "gfx942"));
  CHECK(refuse(Digest{}, "gfx942"));
  Digest last;
  last.bytes.fill(0xff);
  CHECK(refuse(last, "gfx942"));
}

TEST_CASE("a file on disk is the same as in memory, and code stays away when not asked for") {
  const ScratchFolder folder;
  const auto path = folder / "one.hplan";
  Writer writer({});
  REQUIRE(writer.add(full_plan()));
  REQUIRE(writer.write(path));
  const auto file = File::open(path, Check::full);
  REQUIRE_MESSAGE(file.ok(), (file ? "" : file.error().text()));
  const Bytes expected = file_of({full_plan()});
  CHECK(std::equal(expected.begin(), expected.end(), file->bytes().begin(), file->bytes().end()));
  const auto plan = file->read_plan(entries_of(*file)[0], false);
  REQUIRE(plan);
  for (const auto& kernel : plan->payload.kernels) CHECK(!kernel.code);
  CHECK(plan_digest(*plan) == plan_digest(full_plan()));
}

/// A file with one plan, whose code object of `size` bytes is stored as it is.
void write_plain_code(size_t size, const std::filesystem::path& path) {
  Plan plan = sample_plan(1);
  plan.payload.kernels = {sample_kernel("", sample_code(1, size))};
  WriteOptions options;
  options.compress_code = false;
  Writer writer(options);
  REQUIRE(writer.add(plan));
  REQUIRE(writer.write(path));
}

plan::Code code_of(const File& file) {
  const auto back = file.read_decisions(entries_of(file)[0]);
  REQUIRE(back);
  return back->payload.kernels[0].code;
}

bool lies_in(ByteView part, ByteView whole) {
  const std::less_equal<> before;
  return before(whole.data(), part.data()) &&
         before(part.data() + part.size(), whole.data() + whole.size());
}

TEST_CASE("code that is stored as it is, is used where it lies unless others can write there") {
  const ScratchFolder folder;
  const auto path = folder / "plain.hplan";
  for (const size_t size : {size_t{50000}, size_t{3} << 20}) {
    CAPTURE(size);
    const bool small = size == 50000;
    write_plain_code(size, path);
    plan::Code code;
    {  // the code outlives its file
      const auto file = File::open(path, Check::lookup);
      REQUIRE(file);
      code = code_of(*file);
      CHECK(lies_in(*code, file->bytes()) == small);
    }
    CHECK(same_bytes(*code, *sample_code(1, size)));
    {
      const auto bytes = read_file(path);
      REQUIRE(bytes);
      const auto file = File::parse(*bytes, "memory", Check::lookup);
      REQUIRE(file);
      code = code_of(*file);
      // A large file does not stay in memory for one object.
      CHECK(lies_in(*code, file->bytes()) == small);
    }
    CHECK(same_bytes(*code, *sample_code(1, size)));
  }
}

TEST_CASE("code objects and texts are stored once") {
  std::vector<Plan> plans;
  for (unsigned i = 0; i < 40; ++i) plans.push_back(sample_plan(i));
  const auto file = open_bytes(file_of(plans));
  REQUIRE(file);
  for (const auto& section : file->sections()) {
    if (section.type == "code") CHECK(section.objects == 4);
    if (section.type == "graphs") CHECK(section.objects == 40);
    if (section.type == "reasons") CHECK(section.objects == 1);
  }
}

TEST_CASE("the plan digest covers decisions and nothing else") {
  const Plan plan = full_plan();
  Plan other = plan;
  other.graph = other.reasons = other.measurements = other.evidence = other.provenance = "{}";
  other.envelope.provider_version = other.payload.provider_version = "9";
  other.payload.kernel_name = "renamed";
  CHECK(plan_digest(other) == plan_digest(plan));
  const auto differs = [&](auto&& change) {
    Plan changed = plan;
    change(changed);
    return plan_digest(changed) != plan_digest(plan);
  };
  CHECK(differs([](Plan& p) { p.graph_key.bytes[31] ^= 1; }));
  CHECK(differs([](Plan& p) { p.target = "gfx942"; }));
  CHECK(differs([](Plan& p) { p.envelope.engine_id ^= 1; }));
  CHECK(differs([](Plan& p) { p.envelope.workspace_size += 1; }));
  CHECK(differs([](Plan& p) { p.envelope.tensor_uids[2] = 4; }));
  CHECK(differs([](Plan& p) { p.envelope.tensor_alignments[0] = 32; }));
  CHECK(differs([](Plan& p) { p.envelope.is_override_shape_enabled = true; }));
  CHECK(differs([](Plan& p) { p.envelope.provider_name = "x"; }));
  CHECK(differs([](Plan& p) { p.payload.engine_name = "x"; }));
  CHECK(differs([](Plan& p) { p.payload.kernel_id.bytes[0] ^= 1; }));
  CHECK(differs([](Plan& p) { p.payload.workspace_bytes += 1; }));
  CHECK(differs([](Plan& p) { p.payload.dispatch = "x"; }));
  CHECK(differs([](Plan& p) { p.payload.values[0].name = "x"; }));
  CHECK(differs([](Plan& p) { p.payload.values[0].data = 64.0; }));
  CHECK(differs([](Plan& p) { std::swap(p.payload.values[0], p.payload.values[1]); }));
  CHECK(differs([](Plan& p) { p.payload.kernels[0].symbol = "x"; }));
  CHECK(differs([](Plan& p) { p.payload.kernels[0].target = "gfx90a"; }));
  CHECK(differs([](Plan& p) { p.payload.kernels[0].sha256.bytes[5] ^= 1; }));
  CHECK(differs([](Plan& p) { p.payload.kernels[0].signature[0].offset += 1; }));
  CHECK(differs([](Plan& p) { p.payload.kernels[0].source_kind = SourceKind::hsaco_file; }));
  CHECK(differs([](Plan& p) { std::swap(p.payload.kernels[1], p.payload.kernels[2]); }));
}

TEST_CASE("the same decisions twice are one plan, different ones are refused") {
  Plan a = sample_plan(1), b = sample_plan(1);
  b.reasons = "{\"other\":true}";
  const Bytes one = file_of({a, b}), two = file_of({b, a}), three = file_of({a, b, a});
  CHECK(one == two);
  CHECK(one == three);
  CHECK(open_bytes(one)->entry_count() == 1);
  b.payload.dispatch = "hipplan.conv_fwd.dispatch.v2";
  Writer writer({});
  REQUIRE(writer.add(a));
  const auto refused = writer.add(b);
  REQUIRE(!refused);
  CHECK(refused.error().code == hipplan::Code::bad_input);
  CHECK(refused.error().reason == "duplicate-plan");
  CHECK(*writer.to_bytes() == file_of({a}));
}

TEST_CASE("a plan without its code is refused unless another plan brings it") {
  Plan lean = sample_plan(1);
  lean.payload.kernels[0].code.reset();
  Writer writer({});
  REQUIRE(writer.add(lean));
  const auto refused = writer.to_bytes();
  REQUIRE(!refused);
  CHECK(refused.error().reason == "code-missing");
  REQUIRE(writer.add(sample_plan(5)));  // shares code with plan 1
  REQUIRE(writer.to_bytes());
  CHECK(*writer.to_bytes() == file_of({sample_plan(5), sample_plan(1)}));
}
