// Every instruction that the emulator understands cites the ISA documents, and the citations agree
// with the documents' lists of instructions, where those are at hand.
#include <algorithm>
#include <set>

#include "device/instructions.h"
#include "emulated.h"
#include "json/json.h"

using namespace hipplan;
using device::IsaFamily;

namespace {

/// Names of instructions that begin so, and why the reference lists them under none of `families`.
struct Unlisted {
  std::string_view start, families, why;
};
constexpr std::string_view kWords = "described in words: the reference has pseudocode only";
constexpr std::string_view kOlder = "CDNA2's name or spelling; the reference is of CDNA3 and CDNA4";
constexpr Unlisted kUnlisted[] = {
    {"s_endpgm", "cdna rdna3 rdna4", kWords},
    {"s_barrier", "cdna rdna3 rdna4", kWords},
    {"s_sethalt", "cdna rdna3 rdna4", kWords},
    {"s_setprio", "cdna", kWords},
    {"s_sendmsg", "cdna rdna3 rdna4", kWords},
    {"s_icache_inv", "cdna rdna3 rdna4", kWords},
    {"s_dcache_", "cdna rdna3 rdna4", kWords},
    {"s_gl1_inv", "rdna3", kWords},
    {"s_ttracedata", "cdna rdna3 rdna4", kWords},
    {"s_incperflevel", "cdna rdna3 rdna4", kWords},
    {"s_decperflevel", "cdna rdna3 rdna4", kWords},
    {"s_memtime", "cdna", kWords},
    {"s_memrealtime", "cdna", kWords},
    {"s_round_mode", "rdna3 rdna4", kWords},
    {"s_denorm_mode", "rdna3 rdna4", kWords},
    {"s_clause", "rdna3 rdna4", kWords},
    {"s_set_inst_prefetch_distance", "rdna3", kWords},
    {"s_wait", "rdna3 rdna4", kWords},
    {"buffer_wb", "cdna", kWords},
    {"buffer_inv", "cdna", kWords},
    {"buffer_gl", "rdna3", kWords},
    {"global_inv", "rdna4", kWords},
    {"global_wb", "rdna4", kWords},
    {"global_load_lds_", "cdna", kWords},
    {"ds_append", "cdna", kWords},
    {"ds_consume", "cdna", kWords},
    {"v_nop", "cdna rdna3 rdna4", kWords},
    {"v_pipeflush", "rdna3 rdna4", kWords},
    {"v_clrexcp", "cdna", kWords},
    {"ds_nop", "cdna rdna3 rdna4", kWords},
    {"ds_read_b64_tr_", "cdna", kWords},
    {"ds_read_b96_tr_", "cdna", kWords},
    {"global_load_tr_", "rdna4", kWords},
    {"scratch_load_lds_", "cdna", kWords},
    {"lds_direct_load", "rdna4", kWords},
    {"s_sleep_var", "rdna4", kWords},
    {"s_atc_probe", "cdna", kWords},
    {"v_accvgpr_", "cdna", kWords},
    {"v_mfma_", "cdna", kOlder},
    {"v_mad_f32", "cdna", kOlder},
    {"v_mad_legacy_f32", "cdna", kOlder},
    {"v_mac_f32", "cdna", kOlder},
    {"v_madmk_f32", "cdna", kOlder},
    {"v_madak_f32", "cdna", kOlder},
    {"v_dual_", "rdna3", "the reference has no VOPD instructions of RDNA3"},
    {"v_dot2acc_f32_bf16", "rdna3 rdna4", "half of a VOPD pair, listed as v_dual_dot2acc_f32_bf16"},
};
constexpr std::string_view kNames[] = {"cdna", "rdna3", "rdna4"};

const std::vector<device::EmulatedInstruction>& instructions() {
  static const auto all = device::emulated_instructions(HIPPLAN_MODULE_FOLDER);
  REQUIRE_MESSAGE(all.ok(), all.error().text());
  return all.value();
}

const Unlisted* unlisted(std::string_view mnemonic, std::string_view family) {
  for (const Unlisted& entry : kUnlisted)
    if (mnemonic.starts_with(entry.start) && entry.families.find(family) != std::string_view::npos)
      return &entry;
  return nullptr;
}

/// The format whose section has the pseudocode: an instruction that VOP3 encodes too is listed
/// under the other one, and VOP3SD ones stand with VOP3.
std::set<std::string> listed_under(const json::Value& described) {
  std::set<std::string> formats;
  for (const auto& encoding : described.find("encodings")->items)
    formats.insert(encoding.string == "VOP3SD" ? "VOP3" : encoding.string);
  if (formats.size() > 1) formats.erase("VOP3");
  return formats;
}

/// Checks one instruction against a family's list; `used` collects the exceptions that were needed.
void check(const device::EmulatedInstruction& instruction, size_t family, const json::Value& list,
           std::set<const Unlisted*>& used) {
  const std::string& cited = instruction.formats[family];
  auto names = instruction.aliases;
  names.push_back(instruction.mnemonic);
  bool found = false;
  for (const std::string& name : names) {
    const auto* described = list.find(name);
    if (described == nullptr) continue;
    found = true;
    CHECK_MESSAGE(listed_under(*described).count(cited) == 1, kNames[family], " lists ", name,
                  " under ", *listed_under(*described).begin(), ", cited is '", cited, "'");
  }
  const Unlisted* exception = found ? nullptr : unlisted(instruction.mnemonic, kNames[family]);
  if (exception != nullptr && !cited.empty()) used.insert(exception);
  CHECK_MESSAGE((cited.empty() || found || exception != nullptr), kNames[family], " does not list ",
                instruction.mnemonic, ", cited is ", cited);
}

}  // namespace

TEST_CASE("every instruction has a citation or says why not") {
  CHECK(instructions().size() > 1000);
  std::set<std::string> seen;
  for (const auto& instruction : instructions()) {
    const bool cited = std::any_of(instruction.formats.begin(), instruction.formats.end(),
                                   [](const auto& format) { return !format.empty(); });
    CHECK_MESSAGE(cited != !instruction.note.empty(), instruction.mnemonic);
    CHECK_MESSAGE(seen.insert(instruction.mnemonic).second, instruction.mnemonic);
  }
}

TEST_CASE("citations agree with the documents' lists of instructions") {
  const std::filesystem::path folder = HIPPLAN_ISA_REFERENCE;
  if (!std::filesystem::exists(folder)) {
    MESSAGE("skipped: ", folder.string(), " is not here");
    return;
  }
  std::set<const Unlisted*> used;
  for (const auto family : device::kIsaFamilies) {
    const auto index = static_cast<size_t>(family);
    const auto path = folder / (std::string(kNames[index]) + ".json");
    const auto text = read_file(path.string());
    REQUIRE(text.ok());
    const auto list =
        json::parse({reinterpret_cast<const char*>(text->data()), text->size()}, path.string());
    REQUIRE(list.ok());
    for (const auto& instruction : instructions()) check(instruction, index, *list, used);
  }
  for (const Unlisted& entry : kUnlisted)
    CHECK_MESSAGE(used.count(&entry) == 1, "no instruction needs the exception ", entry.start);
}

TEST_CASE("families, documents and sections have names") {
  CHECK(device::isa_family("gfx90a") == IsaFamily::cdna);
  CHECK(device::isa_family("gfx1151") == IsaFamily::rdna3);
  CHECK(device::isa_family("gfx1201") == IsaFamily::rdna4);
  CHECK_FALSE(device::isa_family("gfx1030").has_value());
  CHECK(device::isa_document(IsaFamily::rdna4) == "RDNA4 ISA");
  CHECK(device::isa_section(IsaFamily::cdna, "VOP2") == "VOP2 Instructions");
  CHECK(device::isa_section(IsaFamily::cdna, "VOP3") == "VOP3A & VOP3B Instructions");
  CHECK(device::isa_section(IsaFamily::rdna3, "GLOBAL") == "FLAT, Scratch and Global Instructions");
}

TEST_CASE("a module folder without the module is told") {
  const auto none = device::emulated_instructions("/nonexistent");
  REQUIRE_FALSE(none.ok());
  CHECK(none.error().reason == "no-emulator");
}
