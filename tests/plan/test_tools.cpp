// diff, show, size, extract and foreign files.
#include <doctest/doctest.h>

#include <algorithm>

#include "base/interruption.h"
#include "plan/diff.h"
#include "plan/extract.h"
#include "plan/foreign.h"
#include "plan/materials.h"
#include "plan/print.h"
#include "plan/signature.h"
#include "sample.h"

using namespace hipplan;
using namespace hipplan::plan;
using namespace hipplan::test;

namespace {

std::string names(const std::vector<Difference>& differences) {
  std::string out;
  for (const auto& d : differences) out += d.area + " " + d.name + ";";
  return out;
}

template <class Change>
std::string changed(Change change) {
  Plan a = full_plan(), b = full_plan();
  change(b);
  return names(diff_plans(a, b));
}

File must_open(const Bytes& bytes) {
  auto file = open_bytes(bytes);
  REQUIRE_MESSAGE(file.ok(), (file ? "" : file.error().text()));
  return *file;
}

Bytes bytes_of(std::string_view text) {
  const auto view = as_bytes(text);
  return {view.begin(), view.end()};
}

}  // namespace

TEST_CASE("diff names each changed field and nothing else") {
  CHECK(changed([](Plan&) {}) == "");
  CHECK(changed([](Plan& p) { p.target = "gfx90a"; }) == "decision target;");
  CHECK(changed([](Plan& p) { p.graph_key.bytes[0] ^= 1; }) == "decision graph_key;");
  CHECK(changed([](Plan& p) { p.envelope.workspace_size = 9; }) ==
        "decision envelope.workspace_size;");
  CHECK(changed([](Plan& p) { p.envelope.tensor_uids = {1}; }) == "decision envelope.tensor_uids;");
  CHECK(changed([](Plan& p) { p.envelope.tensor_alignments[0] = 4; }) ==
        "decision envelope.tensor_alignments;");
  CHECK(changed([](Plan& p) { p.envelope.is_override_shape_enabled = true; }) ==
        "decision envelope.is_override_shape_enabled;");
  CHECK(changed([](Plan& p) { p.envelope.provider_version = "2"; }) ==
        "diagnostic envelope.provider_version;");
  CHECK(changed([](Plan& p) { p.payload.dispatch = "x.v2"; }) == "decision payload.dispatch;");
  CHECK(changed([](Plan& p) { p.payload.kernel_name = "y"; }) == "diagnostic payload.kernel_name;");
  CHECK(changed([](Plan& p) { p.payload.kernel_id.bytes[3] ^= 1; }) ==
        "decision payload.kernel_id;");
  CHECK(changed([](Plan& p) { p.payload.values[0].data = int64_t{128}; }) ==
        "decision payload.values.block_size;");
  CHECK(changed([](Plan& p) { p.payload.values[0].data = 64.0; }) ==
        "decision payload.values.block_size;");
  CHECK(changed([](Plan& p) { p.payload.values.pop_back(); }) == "decision payload.values.pads;");
  CHECK(changed([](Plan& p) { p.payload.values.push_back({"new", true}); }) ==
        "decision payload.values.new;");
  CHECK(changed([](Plan& p) { std::swap(p.payload.values[0], p.payload.values[1]); }) ==
        "decision payload.values;");
  CHECK(changed([](Plan& p) { p.payload.kernels[1].sha256.bytes[0] ^= 1; }) ==
        "code payload.kernels[1].sha256;");
  CHECK(changed([](Plan& p) { p.payload.kernels[2].symbol = "z"; }) ==
        "decision payload.kernels[2].symbol;");
  CHECK(changed([](Plan& p) { p.payload.kernels.pop_back(); }) == "decision payload.kernels[2];");
  CHECK(changed([](Plan& p) { p.payload.kernels[0].signature.pop_back(); }) ==
        "decision payload.kernels[0].signature[2];");
  CHECK(changed([](Plan& p) { p.graph += " "; }) == "graph graph;");
  CHECK(changed([](Plan& p) { p.evidence.clear(); }) == "evidence evidence;");
}

TEST_CASE("files: entries only in one, the same plans in other bytes, two single plans") {
  const File one = must_open(file_of({sample_plan(1), sample_plan(2), sample_plan(3)}));
  const File two = must_open(file_of({sample_plan(2), sample_plan(3), sample_plan(4)}));
  const auto diff = diff_files(one, two);
  REQUIRE(diff);
  CHECK(diff->compared == 2);
  CHECK(diff->only_in_a == 1);
  CHECK(diff->only_in_b == 1);
  CHECK(names(diff->differences) == "entry entry;entry entry;");
  WriteOptions plain;
  plain.compress_code = false;
  const auto same =
      diff_files(one, must_open(file_of({sample_plan(3), sample_plan(1), sample_plan(2)}, plain)));
  REQUIRE(same);
  CHECK(same->differences.empty());
  CHECK(!same->same_bytes);
  CHECK(diff_files(one, one)->same_bytes);
  const auto single =
      diff_files(must_open(file_of({sample_plan(1)})), must_open(file_of({sample_plan(5)})));
  REQUIRE(single);
  CHECK(single->compared == 1);
  CHECK(names(single->differences) ==
        "decision graph_key;decision envelope.workspace_size;decision payload.workspace_bytes;"
        "decision payload.values.pads;graph graph;");
  json::Writer out;
  diff_json(out, *single, "a.hplan", "b.hplan");
  const auto parsed = json::parse(out.text(), "diff");
  REQUIRE(parsed);
  CHECK(parsed->find("schema")->string == "hipplan.diff/1");
  CHECK(parsed->find("differences")->items.size() == 5);
  CHECK(parsed->find("differences")->items[1].find("a")->string == "1025");
  CHECK(diff_text(*single, "a", "b").find("payload.workspace_bytes: 1025 -> 1029") !=
        std::string::npos);
}

TEST_CASE("show: no control character of a file reaches the terminal") {
  Plan plan = sample_plan(1);
  plan.payload.kernel_name = "a\x1b[2Jb\x7f";
  plan.payload.dispatch = "one\n  dispatch two";
  plan.payload.values[0].name = "block\rsize";
  plan.payload.values[3].data = std::string("bs\x7fhd");
  plan.payload.kernels[0].symbol = "symb\bol";
  plan.payload.kernels[0].signature[0].name =
      "\xc2\x9b"
      "31m\xc3\xa9";
  plan.reasons = "{\"a\":\n\t\"\x1b]0;\"}";
  ShowOptions options;
  options.texts = true;
  std::string text;
  REQUIRE(show_text(must_open(file_of({plan})), options, text));
  for (const char* wanted :
       {"a\\x1b[2Jb\\x7f", "one\\x0a  dispatch two", "block\\x0dsize", "bs\\x7fhd", "symb\\x08ol",
        "\\x9b31m\xc3\xa9", "{\"a\":\n\t\"\\x1b]0;\"}"}) {
    INFO(wanted, " in ", text);
    CHECK(text.find(wanted) != std::string::npos);
  }
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    CHECK((byte >= 0x20 || byte == '\n' || byte == '\t'));
    CHECK(byte != 0x7f);
  }
  CHECK(text.find("\xc2\x9b") == std::string::npos);
  const auto diff = diff_files(must_open(file_of({sample_plan(1)})), must_open(file_of({plan})));
  REQUIRE(diff);
  const std::string told = diff_text(*diff, "a", "b");
  CHECK(told.find("a\\x1b[2Jb\\x7f") != std::string::npos);
  CHECK(told.find('\x1b') == std::string::npos);
}

TEST_CASE("show: text and JSON say the same facts") {
  const Plan plan = full_plan();
  const File file = must_open(file_of({plan, sample_plan(1), sample_plan(2)}));
  ShowOptions options;
  options.wanted = [&](const EntryInfo& entry) { return entry.target == plan.target; };
  options.texts = true;
  std::string text;
  REQUIRE(show_text(file, options, text));
  for (const char* wanted : {"conv_fwd_64", "hipplan.conv_fwd.dispatch.v1", "block_size", "0.125",
                             "[1, -1, 7]", "gfx942:sramecc+:xnack-", "\"seed\":1"}) {
    INFO(wanted);
    CHECK(text.find(wanted) != std::string::npos);
  }
  CHECK(text.find(plan_digest(plan).hex()) != std::string::npos);
  CHECK(text.find(plan_digest(sample_plan(1)).hex()) == std::string::npos);
  json::Writer out;
  REQUIRE(show_json(file, options, out));
  const auto parsed = json::parse(out.text(), "show");
  REQUIRE_MESSAGE(parsed.ok(), (parsed ? "" : parsed.error().text()));
  CHECK(parsed->find("schema")->string == "hipplan.show/1");
  CHECK(parsed->find("plan_count")->integer == 3);
  REQUIRE(parsed->find("plans")->items.size() == 1);
  const auto& shown = parsed->find("plans")->items[0];
  CHECK(shown.find("plan_digest")->string == plan_digest(plan).hex());
  CHECK(shown.find("payload")->find("kernels")->items.size() == 3);
  CHECK(shown.find("payload")->find("kernels")->items[2].find("code_bytes")->integer == 700);
  CHECK(shown.find("evidence")->find("seed")->integer == 1);
  ShowOptions few;
  few.max_entries = 1;
  json::Writer short_form;
  REQUIRE(show_json(file, few, short_form));
  CHECK(json::parse(short_form.text(), "show")->find("plans_not_shown")->integer == 2);
}

TEST_CASE("size: shared code is counted once, the naive sum counts it for each plan") {
  std::vector<Plan> plans;
  uint64_t naive = 0;
  for (unsigned i = 0; i < 50; ++i) {
    plans.push_back(sample_plan(i));
    naive += 3000 + plans.back().graph.size() + plans.back().reasons.size();
  }
  const auto report = size_report(must_open(file_of(plans)));
  REQUIRE(report);
  CHECK(report->code_objects == 4);
  CHECK(report->code_uses == 50);
  CHECK(report->naive_bytes > naive);
  CHECK(report->naive_bytes < naive + 50 * 2000);
  uint64_t stored = 0;
  for (const auto& section : report->sections) stored += section.stored_bytes;
  CHECK(stored < report->file_bytes);
  json::Writer out;
  size_json(out, *report, "x");
  CHECK(json::parse(out.text(), "size")->find("schema")->string == "hipplan.size/1");
  CHECK(size_text(*report).find("code objects used 50 times") != std::string::npos);
}

TEST_CASE("one plan out of a library keeps its digest in a file and in an envelope") {
  std::vector<Plan> plans;
  for (unsigned i = 0; i < 60; ++i) plans.push_back(sample_plan(i));
  plans.push_back(full_plan());
  const File file = must_open(file_of(plans));
  const auto entry = choose_entry(file, full_plan().graph_key.hex(), full_plan().target);
  REQUIRE(entry);
  const auto single = extract_plan(file, *entry);
  REQUIRE(single);
  CHECK(*single == file_of({full_plan()}));
  const auto envelope = extract_envelope(file, *entry);
  REQUIRE(envelope);
  CHECK(plan_digest(*decode_bare_plan(*envelope, "bare")) == entry->plan_digest);
  CHECK(*extract_graph(file, *entry) == full_plan().graph);
  const auto code = extract_code(file, *entry);
  REQUIRE(code);
  REQUIRE(code->size() == 2);
  CHECK(same_bytes(*(*code)[0].bytes, *sample_code(50)));
  CHECK((*code)[0].name.substr(0, 5) == "main-");
  const auto none = choose_entry(file, "", "gfx1100"), many = choose_entry(file, "", "gfx942");
  REQUIRE(!none);
  REQUIRE(!many);
  CHECK(none.error().reason == "no-such-plan");
  CHECK(many.error().reason == "ambiguous-plan");
}

TEST_CASE("entries of a key prefix: the same as by walking all, reading a part of the index") {
  std::vector<Plan> plans;
  for (unsigned i = 0; i < 300; ++i) plans.push_back(sample_plan(i));
  // One key with so many targets that its entries lie on several pages.
  for (unsigned i = 0; i < 99; ++i) plans.push_back(sample_plan(7, "gfx" + std::to_string(i)));
  const File file = must_open(file_of(plans));
  const auto keys_of = [&](const std::string& digits) {
    std::vector<std::string> out;
    REQUIRE(file.for_each_of(digits, [&](const EntryInfo& entry) {
      out.push_back(entry.graph_key.hex() + entry.target);
      return true;
    }));
    return out;
  };
  const auto all = keys_of("");
  CHECK(all.size() == 399);
  for (unsigned i = 0; i < 16; ++i) {
    const std::string digit(1, "0123456789abcdef"[i]);
    for (const auto& digits : {digit, digit + "a", digit + "f3"}) {
      std::vector<std::string> wanted;
      for (const auto& key : all)
        if (key.compare(0, digits.size(), digits) == 0) wanted.push_back(key);
      CHECK(keys_of(digits) == wanted);
    }
  }
  CHECK(keys_of(sample_key(7).hex()).size() == 100);
  for (const std::string& none : {std::string("x"), sample_key(7).hex() + "0"}) {
    const auto seen = file.for_each_of(none, [](const EntryInfo&) { return true; });
    REQUIRE_FALSE(seen.ok());
    CHECK(seen.error().reason == "no-such-plan");
  }
  // Each entry is a step at which who is asked to stop stops.
  bool stop = false;
  unsigned steps = 0;
  const InterruptionScope scope([&stop] { return stop; });
  CHECK(file.for_each([&](const EntryInfo&) {
              stop = ++steps == 3;
              return true;
            })
            .error()
            .code == hipplan::Code::interrupted);
  CHECK(steps == 3);
}

TEST_CASE("the first difference of two files is told by its section") {
  const Bytes one = file_of({sample_plan(1)});
  CHECK(first_difference(one, one).empty());
  Plan other = sample_plan(1);
  other.reasons += " ";
  CHECK(first_difference(one, file_of({other})).find("section reasons differs") == 0);
  other = sample_plan(1);
  other.payload.dispatch += "x";
  CHECK(first_difference(one, file_of({other})).find("section plans differs") == 0);
  other = sample_plan(1);
  other.payload.kernels = {sample_kernel("", sample_code(99))};
  CHECK(first_difference(one, file_of({other})).find("section code differs") == 0);
  WriteOptions options;
  options.sign = [](const Digest&) -> Result<Bytes> { return encode_signatures({Signature{}}); };
  CHECK(first_difference(one, file_of({sample_plan(1)}, options)).find("signature block") == 0);
  other = sample_plan(1);
  other.graph.clear();
  CHECK(first_difference(one, file_of({other})) == "section graphs is in one only");
  CHECK(first_difference(file_of({other}), one).find("section plans") == 0);
  CHECK(first_difference(Bytes(3), Bytes(4)) == "the first difference at offset 3");
}

TEST_CASE("bills of materials hold each thing once, and are told apart from no provenance") {
  Plan plan = sample_plan(1);
  const std::string digest(64, 'a');
  plan.provenance =
      R"({"subject":[{"name":"code","digest":{"sha256":")" + digest +
      R"("}}],"predicate":{"buildDefinition":{"internalParameters":{"kernels":[{"compiler":"clang 22"}]},)" +
      R"("resolvedDependencies":[{"name":"source","digest":{"sha256":")" + digest +
      R"("}}]},"runDetails":{"builder":{"id":"urn:hipplan:0.1.0"}}}})";
  Plan second = sample_plan(2);
  second.provenance = plan.provenance;
  const auto materials = materials_of(must_open(file_of({plan, second})));
  REQUIRE_MESSAGE(materials.ok(), (materials ? "" : materials.error().text()));
  CHECK(materials->code_objects.size() == 1);
  CHECK(materials->dependencies.size() == 1);
  CHECK(materials->compilers == std::vector<std::string>{"clang 22"});
  json::Writer spdx, cyclonedx;
  print_spdx(spdx, *materials, 0);
  print_cyclonedx(cyclonedx, *materials);
  const auto one = json::parse(spdx.text(), "spdx"), two = json::parse(cyclonedx.text(), "bom");
  REQUIRE(one);
  REQUIRE(two);
  CHECK(one->find("creationInfo")->find("created")->string == "1970-01-01T00:00:00Z");
  CHECK(one->find("packages")->items.size() == 4);
  CHECK(one->find("relationships")->items.size() == 4);
  CHECK(two->find("components")->items.size() == 2);
  CHECK(two->find("metadata")->find("component")->find("hashes")->items.size() == 1);
  CHECK(materials_of(must_open(file_of({sample_plan(1)}))).error().reason == "no-provenance");
}

TEST_CASE("files of others are named") {
  const auto kind = [](std::string_view text) { return recognise(bytes_of(text)); };
  CHECK(kind(std::string("HKIP\1\0\0\0", 8)) == FileKind::ingestor_payload);
  CHECK(kind("KPAK....") == FileKind::kpack);
  CHECK(kind(std::string("\x10\0\0\0HDGP", 8)) == FileKind::hipdnn_container);
  CHECK(kind("\x28\xb5\x2f\xfd...") == FileKind::bundle);
  CHECK(kind("  {\n  \"name\": 1}") == FileKind::json);
  CHECK(kind("{abc") == FileKind::text);
  CHECK(kind(std::string("\1\2\3\0\xff", 5)) == FileKind::unknown);
  CHECK(kind("") == FileKind::unknown);
  Bytes elf = bytes_of(
      "\x7f"
      "ELF");
  elf.resize(64);
  CHECK(recognise(elf) == FileKind::elf);
  elf[18] = std::byte{224};
  CHECK(recognise(elf) == FileKind::amd_code_object);
  elf[18] = std::byte{190};
  CHECK(recognise(elf) == FileKind::cubin);
  CHECK(recognise(*encode_payload(sample_plan(1).payload)) == FileKind::hipplan_payload);
  CHECK(recognise(*encode_bare_plan(sample_plan(1))) == FileKind::hipplan_envelope);
  CHECK(recognise(file_of({sample_plan(1)})) == FileKind::hplan);
  const auto refused = open_bytes(elf);
  REQUIRE(!refused);
  CHECK(refused.error().code == hipplan::Code::bad_input);
  CHECK(refused.error().reason == "foreign-file");
  CHECK(refused.error().text().find("cubin") != std::string::npos);
  CHECK(open_bytes(bytes_of("some text that is nothing")).error().reason == "foreign-file");
  CHECK(open_bytes(bytes_of(std::string(64, '\xfe'))).error().reason == "magic");
  // A table with version 1, engine id, workspace and one uid, laid out by hand.
  Bytes table;
  append(table, uint32_t{20});  // root
  for (const int v : {14, 32, 4, 8, 16, 24, 28})
    append(table, static_cast<uint16_t>(v));  // vtable at 4, 14 bytes used
  table.resize(20);
  append(table, int32_t{16});  // back to the vtable
  append(table, uint32_t{1});
  append(table, int64_t{77});
  append(table, int64_t{4096});
  append(table, uint32_t{8});  // to the list of uids
  append(table, uint32_t{16});
  append(table, uint32_t{1});
  append(table, int64_t{5});
  append(table, uint32_t{0});
  CHECK(recognise(table) == FileKind::hipdnn_envelope);
}
