#include "capture/code_cache.h"

#include "base/file.h"

namespace hipplan::capture {
namespace {

using descriptor::Source;
using descriptor::SourceKind;
using CodePointer = std::shared_ptr<const VerifiedCode>;

Result<CodePointer> verified(Bytes bytes, const Digest& digest, std::string entry_arch,
                             const std::string& where) {
  auto out = std::make_shared<VerifiedCode>();
  out->bytes = share(std::move(bytes));
  HIPPLAN_TRY_ASSIGN(out->parsed, codeobject::parse(*out->bytes, where));
  out->sha256 = digest;
  out->entry_arch = std::move(entry_arch);
  return CodePointer(std::move(out));
}

/// Files have no digest in their descriptor; what is read is what is recorded.
Result<CodePointer> read_plain(const Source& source) {
  HIPPLAN_TRY_ASSIGN(Bytes bytes, read_file(source.path, archive::kMaxCodeObjectBytes));
  const Digest digest = sha256(bytes);
  return verified(std::move(bytes), digest, {}, source.path);
}

/// Refusal of a kernel whose code is not there yet.
Error not_savable(const Source& source) {
  return {.code = Code::unusable,
          .reason = "source-kind",
          .where = cat("kernel ", source.symbol),
          .what = cat("kernels of source kind ", descriptor::source_kind_name(source.kind),
                      " have no code object to put into a plan"),
          .expected = "kind kpack, hsaco_file or hsaco",
          .advice = "pack the descriptors with hipplan-pack build"};
}

}  // namespace

Result<archive::Kpack> CodeCache::open(const std::string& path) {
  {
    const std::lock_guard lock(mutex_);
    if (const auto at = archives_.find(path); at != archives_.end()) return at->second;
  }
  auto opened = archive::Kpack::open(path);
  if (!opened && opened.error().code == Code::bad_input) {
    // A descriptor names it, so its absence is not the caller's spelling.
    Error error = std::move(opened).error();
    error.code = Code::unusable;
    error.reason = "archive-missing";
    return error;
  }
  if (!opened) return std::move(opened).error();
  const std::lock_guard lock(mutex_);
  return archives_.try_emplace(path, std::move(opened).value()).first->second;
}

Result<CodePointer> CodeCache::read_packed(const Source& source, const target::Arch& device) {
  HIPPLAN_TRY_ASSIGN(const archive::Kpack archive, open(source.path));
  auto found =
      archive::read_checked(archive, source.toc_key, target::lookup_order(device), source.sha256);
  if (!found) {
    const std::lock_guard lock(mutex_);
    if (archive::evicts(found.error())) archives_.erase(source.path);
    return std::move(found).error();
  }
  return verified(std::move(found->code), source.sha256, found->entry.arch,
                  cat(source.path, ": ", source.toc_key));
}

Result<CodePointer> CodeCache::get(const Source& source, const target::Arch& device) {
  const bool packed = source.kind == SourceKind::kpack;
  if (!packed && source.kind != SourceKind::hsaco_file && source.kind != SourceKind::hsaco)
    return not_savable(source);
  const Key key{source.path, source.toc_key, device.text(), source.sha256};
  {
    const std::lock_guard lock(mutex_);
    if (const auto at = codes_.find(key); at != codes_.end()) return at->second;
  }
  HIPPLAN_TRY_ASSIGN(CodePointer code, packed ? read_packed(source, device) : read_plain(source));
  const std::lock_guard lock(mutex_);
  return codes_.try_emplace(key, std::move(code)).first->second;
}

}  // namespace hipplan::capture
