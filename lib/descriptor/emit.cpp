#include "descriptor/emit.h"

#include <algorithm>

namespace hipplan::descriptor {
namespace {

void write_source(json::Writer& out, const Source& source) {
  out.begin_object().member("kind", source_kind_name(SourceKind::kpack));
  out.member("library", source.file)
      .member("toc_key", source.toc_key)
      .member("symbol", source.symbol);
  out.member("sha256", source.sha256.hex());
  out.key("signature").begin_array();
  for (const Argument& argument : source.signature) {
    out.begin_object().member("kind", argument.kind);
    out.member("size", argument.size).member("offset", argument.offset);
    if (!argument.name.empty()) out.member("name", argument.name);
    out.end_object();
  }
  out.end_array().end_object();
}

void write_source_or_keep(json::Writer& out, const json::Value& value, const Source* packed) {
  if (packed != nullptr)
    write_source(out, *packed);
  else
    out.raw(json::print(value));
}

/// One kernel object; `skip_arch` leaves its own arch list out.
void write_kernel_members(json::Writer& out, const json::Value& kernel,
                          const PackedSourceOf& packed, bool skip_arch) {
  const json::Value* id_text = kernel.find("id");
  const Uuid id = id_text == nullptr ? Uuid{} : Uuid::parse(id_text->string).value_or(Uuid{});
  for (const auto& [key, value] : kernel.members) {
    if (key == "provenance" || (key == "arch" && skip_arch)) continue;
    out.key(key);
    if (key == "kernel_source") {
      write_source_or_keep(out, value, packed(id, ""));
    } else if (key == "sources") {
      out.begin_object();
      for (const auto& [launch, source] : value.members)
        write_source_or_keep(out.key(launch), source, packed(id, launch));
      out.end_object();
    } else {
      out.raw(json::print(value));
    }
  }
}

void write_arch(json::Writer& out, std::string_view arch) {
  out.key("arch").begin_array().value(arch).end_array();
}

void write_pack_kernels(json::Writer& out, const json::Value& list, const PackedSourceOf& packed,
                        const std::function<bool(const Uuid&)>& keep) {
  out.key("kernelDescriptors").begin_array();
  for (const json::Value& entry : list.items) {
    const bool by_id = entry.kind == json::Kind::string;
    const json::Value* id_text = by_id ? &entry : entry.find("id");
    const auto id = id_text == nullptr ? std::nullopt : Uuid::parse(id_text->string);
    if (!id || !keep(*id)) continue;
    if (by_id) {
      out.value(entry.string);
      continue;
    }
    out.begin_object();
    write_kernel_members(out, entry, packed, true);
    out.end_object();
  }
  out.end_array();
}

}  // namespace

std::string print_packed(const json::Value& document, std::string_view arch,
                         const PackedSourceOf& packed,
                         const std::function<bool(const Uuid&)>& keep) {
  json::Writer out(-1);
  out.begin_object();
  const json::Value* kernels = document.find("kernelDescriptors");
  if (kernels == nullptr) {
    write_kernel_members(out, document, packed, true);
  } else {
    for (const auto& [key, value] : document.members) {
      if (key == "provenance" || key == "arch") continue;
      if (key == "kernelDescriptors")
        write_pack_kernels(out, value, packed, keep);
      else
        out.key(key).raw(json::print(value));
    }
  }
  write_arch(out, arch);
  out.end_object();
  return out.text();
}

}  // namespace hipplan::descriptor
