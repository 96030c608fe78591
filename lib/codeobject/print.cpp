#include "codeobject/print.h"

#include <sstream>

#include "base/counted.h"
#include "base/harmless.h"

namespace hipplan::codeobject {
namespace {

void print_kernel(const Kernel& kernel, std::ostringstream& out) {
  out << "kernel " << harmless(kernel.name) << "\n";
  out << "  wavefront " << kernel.wavefront_size << ", workgroup up to "
      << kernel.max_flat_workgroup_size << ", VGPRs " << kernel.vgpr_count << ", AGPRs "
      << kernel.agpr_count << ", SGPRs " << kernel.sgpr_count << ", spilled "
      << kernel.vgpr_spill_count << "+" << kernel.sgpr_spill_count << "\n";
  out << "  LDS " << kernel.group_segment_fixed_size << " bytes, scratch "
      << kernel.private_segment_fixed_size << " bytes per work-item"
      << (kernel.uses_dynamic_stack ? " and more (dynamic stack)" : "") << ", code "
      << kernel.code_size << " bytes\n";
  out << "  arguments " << kernel.kernarg_segment_size << " bytes, aligned to "
      << kernel.kernarg_segment_align << "\n";
  for (const Argument& argument : kernel.arguments) {
    out << "    " << argument.offset << ": " << harmless(argument.kind) << ", " << argument.size
        << " bytes";
    if (!argument.name.empty()) out << " (" << harmless(argument.name) << ")";
    out << "\n";
  }
}

void write_kernel(const Kernel& kernel, json::Writer& writer) {
  writer.begin_object();
  writer.member("name", kernel.name);
  writer.member("wavefront_size", kernel.wavefront_size);
  writer.member("max_flat_workgroup_size", kernel.max_flat_workgroup_size);
  writer.member("vgpr_count", kernel.vgpr_count);
  writer.member("agpr_count", kernel.agpr_count);
  writer.member("sgpr_count", kernel.sgpr_count);
  writer.member("vgpr_spill_count", kernel.vgpr_spill_count);
  writer.member("sgpr_spill_count", kernel.sgpr_spill_count);
  writer.member("group_segment_fixed_size", kernel.group_segment_fixed_size);
  writer.member("private_segment_fixed_size", kernel.private_segment_fixed_size);
  writer.member("uses_dynamic_stack", kernel.uses_dynamic_stack);
  writer.member("code_size", kernel.code_size);
  writer.member("kernarg_segment_size", kernel.kernarg_segment_size);
  writer.member("kernarg_segment_align", kernel.kernarg_segment_align);
  writer.key("arguments").begin_array();
  for (const Argument& argument : kernel.arguments) {
    writer.begin_object();
    writer.member("kind", argument.kind);
    writer.member("size", argument.size);
    writer.member("offset", argument.offset);
    if (!argument.name.empty()) writer.member("name", argument.name);
    writer.end_object();
  }
  writer.end_array();
  writer.end_object();
}

}  // namespace

std::string print(const CodeObject& object) {
  std::ostringstream out;
  out << "code object version " << object.version << " for " << object.arch.text() << ": "
      << counted(object.kernels.size(), "kernel") << ", "
      << counted(object.segments.size(), "segment") << ", "
      << counted(object.relocations.size(), "relocation") << "\n";
  for (const Segment& segment : object.segments)
    out << "segment at 0x" << std::hex << segment.address << std::dec << ": " << segment.memory_size
        << " bytes, r" << (segment.writable ? "w" : "-") << (segment.executable ? "x" : "-")
        << "\n";
  for (const std::string& name : object.undefined) out << "undefined " << harmless(name) << "\n";
  for (const Kernel& kernel : object.kernels) print_kernel(kernel, out);
  return out.str();
}

void write_json(const CodeObject& object, json::Writer& writer) {
  writer.begin_object();
  writer.member("arch", object.arch.text());
  writer.member("code_object_version", object.version);
  writer.key("segments").begin_array();
  for (const Segment& segment : object.segments) {
    writer.begin_object();
    writer.member("address", segment.address);
    writer.member("memory_size", segment.memory_size);
    writer.member("file_size", static_cast<uint64_t>(segment.content.size()));
    writer.member("writable", segment.writable);
    writer.member("executable", segment.executable);
    writer.end_object();
  }
  writer.end_array();
  writer.member("relocations", static_cast<uint64_t>(object.relocations.size()));
  writer.key("undefined").begin_array();
  for (const std::string& name : object.undefined) writer.value(name);
  writer.end_array();
  writer.key("kernels").begin_array();
  for (const Kernel& kernel : object.kernels) write_kernel(kernel, writer);
  writer.end_array();
  writer.end_object();
}

}  // namespace hipplan::codeobject
