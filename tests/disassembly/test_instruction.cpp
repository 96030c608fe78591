#include <array>
#include <bit>
#include <fstream>
#include <sstream>

#include <doctest/doctest.h>
#include "codeobject/disassembly/instruction.h"

using namespace hipplan;
using namespace hipplan::disassembly;

namespace {

Instruction parse(std::string_view text, uint64_t address = 0, uint32_t size = 4) {
  auto result = parse_instruction(text, address, size);
  if (!result) FAIL(result.error().text());
  return std::move(result).value();
}

// Prints an instruction back from its parsed fields, as an independent check that nothing was lost.
std::string print_register(const Operand& o) {
  const char* file = o.kind == OperandKind::vgpr   ? "v"
                     : o.kind == OperandKind::agpr ? "a"
                     : o.kind == OperandKind::sgpr ? "s"
                                                   : "ttmp";
  std::ostringstream out;
  if (o.count == 1) {
    out << file << o.index;
  } else {
    out << file << '[' << o.index << ':' << o.index + o.count - 1 << ']';
  }
  if (o.half != Half::whole) out << (o.half == Half::low ? ".l" : ".h");
  return out.str();
}

std::string print_operand(const Operand& o) {
  std::string body = o.text;
  if (o.kind <= OperandKind::ttmp) body = print_register(o);
  if (o.kind == OperandKind::integer) {
    std::ostringstream out;
    if (o.hexadecimal) {
      out << "0x" << std::hex << o.integer;
    } else {
      out << o.integer;
    }
    body = out.str();
  }
  if (o.absolute) body = "|" + body + "|";
  if (o.negate) body = o.is_constant() ? "neg(" + body + ")" : "-" + body;
  if (o.sign_extend) body = "sext(" + body + ")";
  return body;
}

std::string print_half(const Instruction& i) {
  constexpr std::array<const char*, 6> kSuffix = {"", "_e32", "_e64", "_dpp", "_e64_dpp", "_sdwa"};
  std::string out = i.mnemonic + kSuffix[static_cast<size_t>(i.encoding)];
  for (size_t k = 0; k < i.operands.size(); ++k) {
    out += (k == 0 ? " " : ", ") + print_operand(i.operands[k]);
  }
  for (const Modifier& m : i.modifiers) {
    out += " " + m.name;
    if (!m.word.empty()) out += ":" + m.word;
    if (m.values.size() == 1) {
      const bool hex = m.name == "row_mask" || m.name == "bank_mask";
      std::ostringstream value;
      if (hex) value << "0x" << std::hex;
      value << m.values[0];
      out += ":" + value.str();
    } else if (!m.values.empty()) {
      out += ":[";
      for (size_t k = 0; k < m.values.size(); ++k) {
        out += (k == 0 ? "" : ",") + std::to_string(m.values[k]);
      }
      out += "]";
    }
  }
  return out;
}

std::string print(const Instruction& i) {
  std::string out = print_half(i);
  for (const Instruction& other : i.second) out += " :: " + print_half(other);
  return out;
}

}  // namespace

TEST_CASE("every line that the compiler made for six targets parses and prints back") {
  for (const char* arch : {"gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1151", "gfx1201"}) {
    CAPTURE(arch);
    std::ifstream file(std::string(HIPPLAN_SOURCE_DIR "/tests/disassembly/lines_") + arch + ".txt");
    REQUIRE(file.good());
    size_t count = 0;
    for (std::string line; std::getline(file, line); ++count) {
      CAPTURE(line);
      const auto result = parse_instruction(line, 0x1000, 4);
      if (!result) {
        FAIL_CHECK(result.error().text());
        continue;
      }
      if (result->branch_target()) continue;  // printed as an address
      if (line.find("swizzle(") != std::string::npos) continue;
      CHECK(print(*result) == line);
    }
    CHECK(count > 100);
  }
}

TEST_CASE("encodings and operands") {
  const Instruction i = parse("v_fma_f32_e64 v11, -v5, |v8|, -|s3| clamp mul:2");
  CHECK(i.mnemonic == "v_fma_f32");
  CHECK(i.encoding == Encoding::e64);
  REQUIRE(i.operands.size() == 4);
  CHECK(i.operands[0].index == 11);
  CHECK((i.operands[1].negate && !i.operands[1].absolute));
  CHECK((!i.operands[2].negate && i.operands[2].absolute));
  CHECK((i.operands[3].negate && i.operands[3].absolute));
  CHECK(i.operands[3].kind == OperandKind::sgpr);
  CHECK(i.has("clamp"));
  CHECK(i.value("mul") == 2);
  CHECK(i.value("div") == 0);

  const Instruction memory = parse("buffer_load_dword v2, v3, s[0:3], 0 offen offset:16 sc0 nt");
  REQUIRE(memory.operands.size() == 4);
  CHECK(memory.operands[2].count == 4);
  CHECK(memory.operands[3].integer == 0);
  CHECK(memory.value("offset") == 16);
  CHECK((memory.has("offen") && memory.has("sc0") && memory.has("nt")));
  CHECK(memory.encoding == Encoding::plain);

  CHECK(parse("v_add_u32_dpp v1, v1, v2 row_shr:1 row_mask:0xa bank_mask:0xf").value("row_mask") ==
        10);
  CHECK(parse("v_add_f32_e64_dpp v1, v2, v3 dpp8:[7,6,5,4,3,2,1,0]").element("dpp8", 1, -1) == 6);
  const Instruction sdwa =
      parse("v_or_b32_sdwa v0, sext(v1), v2 dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE");
  CHECK(sdwa.encoding == Encoding::sdwa);
  CHECK(sdwa.operands[1].sign_extend);
  CHECK(sdwa.find("dst_sel")->word == "WORD_1");
}

TEST_CASE("special registers and halves") {
  const Instruction i = parse("v_mov_b16_e32 v10.h, v3.l");
  CHECK(i.operands[0].half == Half::high);
  CHECK(i.operands[1].half == Half::low);
  CHECK(parse("s_mov_b64 exec, vcc").operands[0].special == Special::exec);
  CHECK(parse("s_mov_b64 exec, vcc").operands[1].count == 2);
  CHECK(parse("s_mov_b32 exec_lo, vcc_lo").operands[1].count == 1);
  CHECK(parse("s_mov_b64 s[0:1], src_shared_base").operands[1].special == Special::shared_base);
  CHECK(parse("s_load_b64 s[0:1], s[2:3], null").operands[2].special == Special::null);
  CHECK(parse("global_load_b32 v0, v[1:2], off").operands[2].kind == OperandKind::off);
  CHECK(parse("s_mov_b32 s0, ttmp9").operands[1].kind == OperandKind::ttmp);
  CHECK(parse("v_mov_b32_e32 v0, m0").operands[1].special == Special::m0);
  CHECK(parse("v_accvgpr_write_b32 a5, v0").operands[0].kind == OperandKind::agpr);
}

TEST_CASE("constants as operands of each width") {
  const auto constant = [](const char* text) {
    return parse(std::string("s_mov_b32 s0, ") + text).operands[1];
  };
  CHECK(constant("0.5").bits(32) == 0x3f000000);
  CHECK(constant("0.5").bits(16) == 0x3800);
  CHECK(constant("0.5").bits(64) == 0x3fe0000000000000);
  CHECK(constant("-4.0").bits(32) == 0xc0800000);
  CHECK(constant("0.15915494").bits(32) == 0x3e22f983);
  CHECK(constant("0.1592").bits(16) == 0x3118);
  CHECK(constant("0.15915494309189532").bits(64) == 0x3fc45f306dc9c882);
  CHECK(constant("-16").bits(32) == 0xfffffff0);
  CHECK(constant("-1").bits(64) == ~uint64_t{0});
  CHECK(constant("-1").bits(16) == 0xffff);
  CHECK(constant("0x40080000").bits(64, true) == 0x4008000000000000);
  CHECK(constant("0x40080000").bits(64, false) == 0x40080000);
  CHECK(constant("64").bits(64, true) == 64);
  CHECK(constant("neg(1.0)").negate);
}

TEST_CASE("branches become addresses") {
  CHECK(parse("s_branch 3", 0x100).branch_target() == 0x110);
  CHECK(parse("s_cbranch_scc0 65535", 0x100).branch_target() == 0x100);
  CHECK(parse("s_cbranch_execz -2", 0x100).branch_target() == 0xfc);
  CHECK(parse("s_call_b64 s[2:3], 1", 0x100).branch_target() == 0x108);
  CHECK(!parse("s_mov_b32 s0, 3", 0x100).branch_target());
}

TEST_CASE("expressions, lists and swizzles") {
  CHECK(parse("s_waitcnt vmcnt(0) lgkmcnt(1)").operands[0].text == "vmcnt(0) lgkmcnt(1)");
  CHECK(parse("s_waitcnt 0xf70").operands[0].integer == 0xf70);
  const Instruction delay =
      parse("s_delay_alu instid0(VALU_DEP_1) | instskip(NEXT) | instid1(SALU_CYCLE_1)");
  CHECK(delay.operands.size() == 1);
  const Instruction mode = parse("s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 0x3");
  REQUIRE(mode.operands.size() == 2);
  CHECK(mode.operands[0].text == "hwreg(HW_REG_MODE, 4, 2)");
  CHECK(parse("s_sendmsg sendmsg(MSG_DEALLOC_VGPRS)").operands[0].kind == OperandKind::symbolic);
  const Instruction packed =
      parse("v_pk_fma_f16 v2, v2, v4, v4 op_sel:[0,0,1] op_sel_hi:[1,1,0] neg_hi:[0,0,1]");
  CHECK(packed.element("op_sel", 2, 0) == 1);
  CHECK(packed.element("op_sel_hi", 2, 1) == 0);
  CHECK(packed.element("neg_lo", 2, 0) == 0);
  // Masks and, or, xor of the bit mode, worked out by hand.
  CHECK(parse("ds_swizzle_b32 v2, v1 offset:swizzle(SWAP,16)").value("offset") == 0x401f);
  CHECK(parse("ds_swizzle_b32 v2, v1 offset:swizzle(REVERSE,8)").value("offset") == 0x1c1f);
  CHECK(parse("ds_swizzle_b32 v2, v1 offset:swizzle(BROADCAST,8,3)").value("offset") == 0x0078);
  CHECK(parse("ds_swizzle_b32 v2, v1 offset:swizzle(QUAD_PERM,0,1,2,3)").value("offset") == 0x80e4);
  CHECK(parse("ds_swizzle_b32 v2, v1 offset:swizzle(BITMASK_PERM,\"01pip\")").value("offset") ==
        (0x7 | 0x8 << 5 | 0x2 << 10));
  CHECK(parse("global_inv scope:SCOPE_SE").find("scope")->word == "SCOPE_SE");
  CHECK(parse("s_endpgm").operands.empty());
}

TEST_CASE("VOPD pairs") {
  const Instruction i =
      parse("v_dual_mul_f32 v0, 0x5f7ffffc, v0 :: v_dual_add_nc_u32 v29, v2, v29", 0x40, 12);
  CHECK(i.mnemonic == "v_dual_mul_f32");
  REQUIRE(i.second.size() == 1);
  CHECK(i.second[0].mnemonic == "v_dual_add_nc_u32");
  CHECK(i.second[0].operands[2].index == 29);
  CHECK(i.second[0].address == 0x40);
  CHECK(i.second[0].size == 0);
}

TEST_CASE("text outside the grammar is refused and named") {
  for (const char* bad :
       {"", "   ", "v_mov_b32 v0,", "v_mov_b32 v0, v[3:2]",
        "v_mov_b32 v0, v[0:", "v_mov_b32 v0, w5", "v_mov_b32 v0, v1 nonsense",
        "v_mov_b32 v0, v1 offset:", "v_add v0, 12345678901234567890123", "v_mov_b32 v0, 0x",
        "ds_swizzle_b32 v0, v1 offset:swizzle(SWAP,3)", "?? v0",
        "v_dual_mov_b32 v0, v1 :: ", "v_mov_b32 v0, v2000", "v_mov_b32 v0, ||"}) {
    CAPTURE(bad);
    const auto result = parse_instruction(bad, 0x20, 4);
    REQUIRE(!result);
    CHECK(result.error().code == Code::unusable);
    CHECK(result.error().reason == "instruction-text");
    CHECK(result.error().where.find("0x20") != std::string::npos);
  }
}
