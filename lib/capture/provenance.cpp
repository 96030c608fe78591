#include "capture/provenance.h"

#include <filesystem>

#include "base/file.h"
#include "base/version.h"
#include "descriptor/sidecar.h"

namespace hipplan::capture {
namespace {

constexpr uint64_t kMostSidecarBytes = 64ull << 20;

std::shared_ptr<const Sidecar> read_sidecar(const std::string& descriptor_file) {
  auto out = std::make_shared<Sidecar>();
  out->descriptor_name = std::filesystem::path(descriptor_file).filename().string();
  if (const auto bytes = FileView::open(descriptor_file, kMostSidecarBytes); bytes)
    out->descriptor_sha256 = sha256(bytes->view());
  const auto record =
      FileView::open(descriptor::provenance_path(descriptor_file), kMostSidecarBytes);
  if (!record) return out;
  if (auto parsed = json::parse(as_text(record->view()), "sidecar"); parsed)
    out->record = std::move(*parsed);
  return out;
}

/// What the sidecar says about one launch of a kernel; null when it says nothing.
const json::Value* launch_record(const KernelOrigin& origin) {
  if (!origin.sidecar) return nullptr;
  const json::Value* at = origin.sidecar->record.find("entries");
  for (const std::string& key :
       {origin.kernel->id.text(), std::string("launches"), origin.source->launch_name})
    if (at != nullptr) at = at->find(key);
  return at;
}

std::string text_of(const json::Value* object, std::string_view key) {
  const auto* found = object == nullptr ? nullptr : object->find(key);
  return found == nullptr ? std::string() : found->string;
}

void digest(json::Writer& out, const std::string& hex) {
  out.key("digest").begin_object().member("sha256", hex).end_object();
}

/// A dependency: each name once.
class Dependencies {
 public:
  explicit Dependencies(json::Writer& out) : out_(out) {}
  void add(const std::string& name, const std::string& hex) {
    if (name.empty() || hex.empty() || !seen_.emplace(name, hex).second) return;
    out_.begin_object().member("name", name);
    digest(out_, hex);
    out_.end_object();
  }

 private:
  json::Writer& out_;
  std::map<std::string, std::string> seen_;
};

void print_kernel(json::Writer& out, const KernelOrigin& origin) {
  out.begin_object();
  if (!origin.source->launch_name.empty()) out.member("launch", origin.source->launch_name);
  out.member("kernel", origin.kernel->id.text()).member("symbol", origin.source->symbol);
  out.member("source", descriptor::source_kind_name(origin.source->kind));
  out.member("file", origin.source->file);
  if (!origin.source->toc_key.empty()) out.member("toc_key", origin.source->toc_key);
  if (!origin.code->entry_arch.empty()) out.member("entry_arch", origin.code->entry_arch);
  out.member("code_arch", origin.code->parsed.arch.text());
  out.member("code_object_version", origin.code->parsed.version);
  out.member("sha256", origin.code->sha256.hex());
  if (const auto* record = launch_record(origin)) {
    if (const auto* compiler = origin.sidecar->record.find("compiler"))
      out.member("compiler", compiler->string);
    if (const auto* arguments = record->find("arguments"))
      out.key("arguments").raw(json::print(*arguments));
    out.member("kernel_source", text_of(record, "source"));
  }
  out.end_object();
}

void print_build(json::Writer& out, const std::vector<KernelOrigin>& kernels,
                 const target::Description& target) {
  out.member("buildType", "urn:hipplan:bake:1");
  out.key("externalParameters").begin_object();
  out.member("target", target.arch.text()).end_object();
  out.key("internalParameters").begin_object().key("kernels").begin_array();
  for (const KernelOrigin& origin : kernels) print_kernel(out, origin);
  out.end_array().end_object();
  out.key("resolvedDependencies").begin_array();
  Dependencies dependencies(out);
  dependencies.add("target description " + target.name,
                   sha256(as_bytes(target::print_description(target))).hex());
  for (const KernelOrigin& origin : kernels) {
    if (origin.sidecar && origin.sidecar->descriptor_sha256 != Digest())
      dependencies.add("descriptor " + origin.sidecar->descriptor_name,
                       origin.sidecar->descriptor_sha256.hex());
    if (const auto* record = launch_record(origin))
      dependencies.add("kernel source " + text_of(record, "source"),
                       text_of(record, "kernel_source_sha256"));
  }
  out.end_array();
}

}  // namespace

std::shared_ptr<const Sidecar> SidecarCache::get(const std::string& descriptor_file) {
  const std::lock_guard lock(mutex_);
  auto& known = known_[descriptor_file];
  if (!known) known = read_sidecar(descriptor_file);
  return known;
}

std::string print_provenance(const std::vector<KernelOrigin>& kernels,
                             const target::Description& target) {
  json::Writer out(-1);
  out.begin_object().member("_type", "https://in-toto.io/Statement/v1");
  out.key("subject").begin_array();
  Dependencies subjects(out);
  for (const KernelOrigin& origin : kernels)
    subjects.add("code object of " + origin.source->symbol, origin.code->sha256.hex());
  out.end_array();
  out.member("predicateType", "https://slsa.dev/provenance/v1");
  out.key("predicate").begin_object().key("buildDefinition").begin_object();
  print_build(out, kernels, target);
  out.end_object().key("runDetails").begin_object().key("builder").begin_object();
  out.member("id", "urn:hipplan:" + std::string(kVersion));
  out.key("version").begin_object().member("hipplan", kVersion).end_object();
  out.end_object().end_object().end_object().end_object();
  return out.text();
}

}  // namespace hipplan::capture
