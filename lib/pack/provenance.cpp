#include "pack/provenance.h"

#include <filesystem>

namespace hipplan::pack {
namespace {

void write_source(json::Writer& out, const Job& job, bool nvcc) {
  out.begin_object();
  out.member("source", job.prebuilt ? std::filesystem::path(job.unit.file).filename().string()
                                    : job.unit.file);
  out.member("kernel_source_sha256", job.result.source_digest.hex());
  out.member("toc_key", job.result.toc_key);
  out.member("sha256", job.sha256.hex());
  if (!job.prebuilt) {
    out.key("arguments").begin_array();
    for (const std::string& argument : compile_arguments(job.unit, job.arch, nvcc))
      out.value(argument);
    out.end_array();
  }
  out.end_object();
}

/// What the author wrote about a kernel, wherever it stands in the document.
const json::Value* authored(const json::Value& document, const Uuid& id) {
  const json::Value* list = document.find("kernelDescriptors");
  if (list == nullptr) return document.find("provenance");
  for (const json::Value& entry : list->items) {
    const json::Value* text = entry.find("id");
    if (text != nullptr && Uuid::parse(text->string) == id) return entry.find("provenance");
  }
  return nullptr;
}

}  // namespace

std::string provenance_text(const json::Value& document,
                            const std::vector<const descriptor::Kernel*>& kernels,
                            const std::string& arch, const Jobs& jobs, const Compiler& compiler) {
  json::Writer out(-1);
  out.begin_object();
  out.member("schema", "hipplan.provenance.1");
  if (const json::Value* id = document.find("id")) out.member("id", id->string);
  out.member("arch", arch);
  out.member("compiler", compiler.version);
  if (document.find("kernelDescriptors") != nullptr)
    if (const json::Value* text = document.find("provenance"))
      out.key("provenance").raw(json::print(*text));
  out.key("entries").begin_object();
  for (const descriptor::Kernel* kernel : kernels) {
    out.key(kernel->id.text()).begin_object();
    out.key("launches").begin_object();
    for (const descriptor::Source& source : kernel->sources)
      write_source(out.key(source.launch_name), jobs.of(source, arch), compiler.nvcc);
    out.end_object();
    if (const json::Value* text = authored(document, kernel->id))
      out.key("provenance").raw(json::print(*text));
    out.end_object();
  }
  out.end_object().end_object();
  return out.text();
}

}  // namespace hipplan::pack
