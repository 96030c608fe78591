#include "capture/provenance.h"

#include "base/version.h"
#include "json/json.h"

namespace hipplan::capture {

std::string print_provenance(const std::vector<KernelOrigin>& kernels,
                             const target::Description& target) {
  json::Writer out(-1);
  out.begin_object().member("schema", "hipplan.provenance/1").member("hipplan", kVersion);
  out.key("target_description").begin_object().member("name", target.name);
  out.member("sha256", sha256(as_bytes(target::print_description(target))).hex()).end_object();
  out.key("kernels").begin_array();
  for (const KernelOrigin& origin : kernels) {
    out.begin_object();
    if (!origin.source->launch_name.empty()) out.member("launch", origin.source->launch_name);
    out.member("symbol", origin.source->symbol);
    out.member("source", descriptor::source_kind_name(origin.source->kind));
    out.member("file", origin.source->file);
    if (!origin.source->toc_key.empty()) out.member("toc_key", origin.source->toc_key);
    if (!origin.code->entry_arch.empty()) out.member("entry_arch", origin.code->entry_arch);
    out.member("code_arch", origin.code->parsed.arch.text());
    out.member("code_object_version", origin.code->parsed.version);
    out.member("sha256", origin.code->sha256.hex()).end_object();
  }
  out.end_array().end_object();
  return out.text();
}

}  // namespace hipplan::capture
