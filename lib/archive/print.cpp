#include "archive/print.h"

#include <sstream>

#include "base/harmless.h"

namespace hipplan::archive {

std::string print(const Kpack& archive) {
  const Info& info = archive.info();
  std::ostringstream out;
  out << "kpack version " << kFormatVersion << ", group " << harmless(info.group_name)
      << ", family " << harmless(info.arch_family) << ", scheme " << scheme_name(info.scheme)
      << ": " << archive.entries().size()
      << (archive.entries().size() == 1 ? " entry, " : " entries, ") << info.blobs
      << (info.blobs == 1 ? " code object, " : " code objects, ") << info.file_bytes << " bytes\n";
  for (const Entry& entry : archive.entries())
    out << harmless(entry.name) << "  " << harmless(entry.arch) << "  code object " << entry.ordinal
        << ", " << entry.original_size << " bytes, stored in " << archive.stored_size(entry)
        << "\n";
  return out.str();
}

void write_json(const Kpack& archive, json::Writer& writer) {
  const Info& info = archive.info();
  writer.begin_object();
  writer.member("format_version", kFormatVersion);
  writer.member("group_name", info.group_name);
  writer.member("gfx_arch_family", info.arch_family);
  writer.key("gfx_arches").begin_array();
  for (const std::string& arch : info.arches) writer.value(arch);
  writer.end_array();
  writer.member("compression_scheme", scheme_name(info.scheme));
  writer.member("code_objects", info.blobs);
  writer.member("file_bytes", info.file_bytes);
  writer.key("entries").begin_array();
  for (const Entry& entry : archive.entries()) {
    writer.begin_object();
    writer.member("name", entry.name);
    writer.member("arch", entry.arch);
    writer.member("ordinal", entry.ordinal);
    writer.member("original_size", entry.original_size);
    writer.member("stored_size", archive.stored_size(entry));
    writer.end_object();
  }
  writer.end_array();
  writer.end_object();
}

}  // namespace hipplan::archive
