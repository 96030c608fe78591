#include <algorithm>
#include <map>
#include <tuple>

#include "base/file.h"
#include "base/harmless.h"
#include "codeobject/codeobject.h"
#include "codeobject/cubin.h"
#include "codeobject/disassembly/disassembler.h"
#include "commands/graphs.h"
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

/// Writes kernels line by line, as text or into the JSON document.
class KernelWriter {
 public:
  KernelWriter(Inspection& in, json::Writer& out) : in_(in), json_(in.io.json()), out_(out) {}

  /// `same_as`: the kernel with the very same code, which is not written again.
  void begin(const std::string& kernel, const std::string& arch, const std::string& same_as) {
    if (json_) {
      out_.begin_object().member("kernel", kernel).member("arch", arch);
      if (!same_as.empty()) out_.member("same_code_as", same_as);
      out_.key("instructions").begin_array();
      return;
    }
    text_ += harmless(kernel) + ":  // " + arch;
    if (!same_as.empty()) text_ += ", the code of " + harmless(same_as);
    text_ += "\n";
  }
  void line(const disassembly::Line& line) {
    if (json_) {
      out_.begin_object().member("address", line.address).member("text", line.text);
      out_.member("decoded", line.decoded).end_object();
      return;
    }
    text_ += "  " + hexadecimal(line.address, 8) + ":  " + encoding_text(line.encoding);
    text_ += std::string(line.encoding.size() <= 4 ? 11 : 2, ' ') + line.text + "\n";
    if (text_.size() >= kFlushBytes) flush();
  }
  void end() {
    if (json_) out_.end_array().end_object();
    flush();
  }

 private:
  static constexpr size_t kFlushBytes = 1u << 16;
  void flush() {
    if (!text_.empty()) in_.io.result(text_);
    text_.clear();
  }
  Inspection& in_;
  bool json_;
  json::Writer& out_;
  std::string text_;
};

/// A code object, and what of it has been written.
struct OpenedObject {
  codeobject::CodeObject code;
  std::vector<std::string_view> sources;       ///< PTX: of each kernel
  std::string_view::const_iterator counted{};  ///< PTX: lines up to here are counted in `line`
  uint64_t line = 1;
  uint64_t left = 0;  ///< bytes of machine code that may still be written
  std::map<std::tuple<uint64_t, uint64_t, uint32_t>, std::string> written;
};

/// Kernels that overlap share code; so many times over all of it may be written.
constexpr uint64_t kMostSharing = 4;

Result<OpenedObject> open_object(ByteView bytes, const std::string& where) {
  OpenedObject out;
  if (codeobject::kind_of(bytes) == codeobject::CodeKind::ptx) {
    HIPPLAN_TRY_ASSIGN(out.code, codeobject::parse_ptx(bytes, where, &out.sources));
  } else {
    HIPPLAN_TRY_ASSIGN(out.code, codeobject::parse(bytes, where));
  }
  out.counted = as_text(bytes).begin();
  for (const auto& segment : out.code.segments)
    if (segment.executable) out.left += kMostSharing * segment.content.size();
  return out;
}

/// PTX is text already: the lines of one kernel with their numbers in the file.
void write_ptx(OpenedObject& object, std::string_view text, KernelWriter& out) {
  if (text.begin() > object.counted)
    object.line += static_cast<uint64_t>(std::count(object.counted, text.begin(), '\n'));
  object.counted = text.end();
  for (;; ++object.line) {
    const size_t end = std::min(text.find('\n'), text.size());
    out.line({object.line, 0, {}, harmless(text.substr(0, end), "\t"), true});
    if (end == text.size()) return;
    text.remove_prefix(end + 1);
  }
}

Result<void> write_machine_code(Inspection& in, const OpenedObject& object,
                                const codeobject::Kernel& kernel, KernelWriter& out) {
  const uint64_t address = kernel.entry_address;
  HIPPLAN_TRY_ASSIGN(const auto code, codeobject::code_at(object.code, address, kernel.code_size));
  if (!object.code.arch.is_amd()) {
    // Only NVIDIA's own tools know this code. It stays undecoded, 16 bytes each.
    for (size_t at = 0; at < code.size(); at += 16)
      out.line(
          {address + at, 16, code.subspan(at, std::min<size_t>(16, code.size() - at)), "", false});
    return {};
  }
  HIPPLAN_TRY_ASSIGN(const auto decoder,
                     disassembly::Disassembler::open(object.code.arch.base, in.io.module_folder(),
                                                     kernel.wavefront_size));
  HIPPLAN_TRY_ASSIGN(const auto lines, decoder.disassemble(code, address));
  for (const auto& line : lines) out.line(line);
  return {};
}

Result<void> disassemble_kernel(Inspection& in, OpenedObject& object, size_t index,
                                KernelWriter& out) {
  const auto& kernel = object.code.kernels[index];
  const std::string arch = object.code.arch.text();
  if (!object.sources.empty()) {
    out.begin(kernel.name, arch, "");
    write_ptx(object, object.sources[index], out);
    out.end();
    return {};
  }
  const auto [known, added] = object.written.emplace(
      std::tuple(kernel.entry_address, kernel.code_size, kernel.wavefront_size), kernel.name);
  if (!added) {
    out.begin(kernel.name, arch, known->second);
    out.end();
    return {};
  }
  if (kernel.code_size > object.left)
    return Error{.code = Code::damaged,
                 .reason = "kernel-code",
                 .where = cat("kernel ", kernel.name.substr(0, 200)),
                 .what = "the kernels overlap again and again",
                 .expected = cat("all code together within ", kMostSharing, " times its segments")};
  object.left -= kernel.code_size;
  out.begin(kernel.name, arch, "");
  HIPPLAN_TRY(write_machine_code(in, object, kernel, out));
  out.end();
  return {};
}

Result<void> disassemble_file(Inspection& in, ByteView bytes, const std::string& path,
                              KernelWriter& out) {
  HIPPLAN_TRY_ASSIGN(auto object, open_object(bytes, path));
  for (size_t i = 0; i < object.code.kernels.size(); ++i)
    if (auto written = disassemble_kernel(in, object, i, out); !written)
      return written.error().within(path);
  return {};
}

Result<void> disassemble_plan(Inspection& in, FileView bytes, const std::string& path,
                              KernelWriter& out) {
  HIPPLAN_TRY_ASSIGN(const auto file, parse_file(std::move(bytes), path, plan::Check::lookup));
  HIPPLAN_TRY_ASSIGN(const auto entry, chosen_entry(in, file));
  HIPPLAN_TRY_ASSIGN(const auto plan, file.read_plan(entry, true));
  std::map<Digest, OpenedObject> objects;  // kernels out of one code object share its bytes, too
  for (const auto& image : plan.payload.kernels) {
    const std::string where = path + ": kernel " + image.symbol;
    auto found = objects.find(image.sha256);
    if (found == objects.end()) {
      HIPPLAN_TRY_ASSIGN(auto object, open_object(*image.code, where));
      found = objects.emplace(image.sha256, std::move(object)).first;
    }
    OpenedObject& object = found->second;
    for (size_t i = 0; i < object.code.kernels.size(); ++i)
      if (object.code.kernels[i].name == image.symbol)
        if (auto written = disassemble_kernel(in, object, i, out); !written)
          return written.error().within(path);
  }
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
  const auto digits = graph_digits(file, in.graph_key);
  if (!digits) return digits.error().within(file.where());
  if (in.targets.empty()) return only_entry(file, *digits);
  HIPPLAN_TRY_ASSIGN(const auto arch, target_arch(in));
  auto entry = resolve(file, *digits, arch);
  if (!entry) return with_list(entry.error(), file).within(file.where());
  if (const auto note = note_on_taken({*entry}, arch)) in.io.note(cat(file.where(), ": ", *note));
  return entry;
}

Result<void> disasm(Inspection& in) {
  if (in.arguments.size() != 1)
    return usage_error(
        {.where = "disasm", .what = "wrong number of arguments", .expected = "one file"});
  const std::string& path = in.arguments.front();
  json::Writer out;
  out.begin_object().member("schema", "hipplan.disasm/1").member("path", path);
  out.key("kernels").begin_array();
  KernelWriter writer(in, out);
  HIPPLAN_TRY_ASSIGN(auto bytes, open_view(path));
  const auto kind = plan::recognise(bytes.view());
  if (kind == plan::FileKind::amd_code_object || kind == plan::FileKind::cubin ||
      kind == plan::FileKind::ptx)
    HIPPLAN_TRY(disassemble_file(in, bytes.view(), path, writer));
  else
    HIPPLAN_TRY(disassemble_plan(in, std::move(bytes), path, writer));
  out.end_array().end_object();
  if (in.io.json()) in.io.line(out.text());
  return {};
}

}  // namespace hipplan::commands
