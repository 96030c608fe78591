#include "base/file.h"
#include "base/harmless.h"
#include "codeobject/codeobject.h"
#include "codeobject/disassembly/disassembler.h"
#include "commands/inspect_parts.h"
#include "commands/plans.h"
#include "commands/targets.h"
#include "plan/extract.h"
#include "plan/foreign.h"

namespace hipplan::commands {
namespace {

std::string hexadecimal(uint64_t value, int digits) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string out(static_cast<size_t>(digits), '0');
  for (int i = digits - 1; i >= 0; --i, value >>= 4)
    out[static_cast<size_t>(i)] = kDigits[value & 15];
  return out;
}

std::string encoding_text(ByteView encoding) {
  std::string out;
  for (size_t at = 0; at + 4 <= encoding.size(); at += 4)
    out += (at ? " " : "") + hexadecimal(*load<uint32_t>(encoding, at), 8);
  return out;
}

using Lines = std::vector<disassembly::Line>;

/// PTX is text already: each of its lines, numbered.
Lines ptx_lines(std::string_view text) {
  Lines out;
  for (uint64_t number = 1; !text.empty(); ++number) {
    const size_t end = std::min(text.find('\n'), text.size());
    out.push_back({number, 0, {}, harmless(text.substr(0, end), "\t"), true});
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

/// Machine code of NVIDIA GPUs stays undecoded: only NVIDIA's own tools know it. 16 bytes each.
Lines cubin_lines(ByteView code, uint64_t address) {
  Lines out;
  for (size_t at = 0; at < code.size(); at += 16)
    out.push_back(
        {address + at, 16, code.subspan(at, std::min<size_t>(16, code.size() - at)), "", false});
  return out;
}

Result<Lines> lines_of(Inspection& in, ByteView bytes, const codeobject::CodeObject& object,
                       const codeobject::Kernel& kernel) {
  if (!object.arch.is_amd() && object.arch.is_generic()) return ptx_lines(as_text(bytes));
  HIPPLAN_TRY_ASSIGN(const auto code,
                     codeobject::code_at(object, kernel.entry_address, kernel.code_size));
  if (!object.arch.is_amd()) return cubin_lines(code, kernel.entry_address);
  HIPPLAN_TRY_ASSIGN(const auto decoder,
                     disassembly::Disassembler::open(object.arch.base, in.io.module_folder(),
                                                     kernel.wavefront_size));
  return decoder.disassemble(code, kernel.entry_address);
}

/// `only` names the kernel to print; empty prints all of them.
Result<void> print_object(Inspection& in, ByteView bytes, const std::string& where,
                          const std::string& only, json::Writer& out) {
  HIPPLAN_TRY_ASSIGN(const auto object, codeobject::parse(bytes, where));
  for (const auto& kernel : object.kernels) {
    if (!only.empty() && kernel.name != only) continue;
    HIPPLAN_TRY_ASSIGN(const auto lines, lines_of(in, bytes, object, kernel));
    std::string text = harmless(kernel.name) + ":  // " + object.arch.text() + "\n";
    out.begin_object().member("kernel", kernel.name).member("arch", object.arch.text());
    out.key("instructions").begin_array();
    for (const auto& line : lines) {
      text += "  " + hexadecimal(line.address, 8) + ":  " + encoding_text(line.encoding);
      text += std::string(line.encoding.size() <= 4 ? 11 : 2, ' ') + line.text + "\n";
      out.begin_object().member("address", line.address).member("text", line.text);
      out.member("decoded", line.decoded).end_object();
    }
    out.end_array().end_object();
    if (!in.io.json()) in.io.result(text);
  }
  return {};
}

Result<void> print_plan(Inspection& in, FileView bytes, const std::string& path,
                        json::Writer& out) {
  HIPPLAN_TRY_ASSIGN(const auto file, parse_file(std::move(bytes), path, plan::Check::lookup));
  HIPPLAN_TRY_ASSIGN(const auto entry, chosen_entry(in, file));
  HIPPLAN_TRY_ASSIGN(const auto plan, file.read_plan(entry, true));
  for (const auto& image : plan.payload.kernels)
    HIPPLAN_TRY(
        print_object(in, *image.code, path + ": kernel " + image.symbol, image.symbol, out));
  return {};
}

}  // namespace

Result<target::Arch> target_arch(const Inspection& in) {
  if (in.targets.size() > 1)
    return usage_error({.what = "several targets given",
                        .expected = "one --target",
                        .found = cat(in.targets.size())});
  return arch_of(in.targets.front(), in.io);
}

Result<plan::EntryInfo> chosen_entry(const Inspection& in, const plan::File& file) {
  if (in.targets.empty()) return plan::choose_entry(file, in.graph_key, "");
  HIPPLAN_TRY_ASSIGN(const auto arch, target_arch(in));
  return resolve(file, in.graph_key, arch);
}

Result<void> disasm(Inspection& in) {
  if (in.arguments.size() != 1)
    return usage_error(
        {.where = "disasm", .what = "wrong number of arguments", .expected = "one file"});
  const std::string& path = in.arguments.front();
  json::Writer out;
  out.begin_object().member("schema", "hipplan.disasm/1").member("path", path);
  out.key("kernels").begin_array();
  HIPPLAN_TRY_ASSIGN(auto bytes, open_view(path));
  const auto kind = plan::recognise(bytes.view());
  if (kind == plan::FileKind::amd_code_object || kind == plan::FileKind::cubin ||
      kind == plan::FileKind::ptx)
    HIPPLAN_TRY(print_object(in, bytes.view(), path, "", out));
  else
    HIPPLAN_TRY(print_plan(in, std::move(bytes), path, out));
  out.end_array().end_object();
  if (in.io.json()) in.io.line(out.text());
  return {};
}

}  // namespace hipplan::commands
