#include <algorithm>
#include <map>
#include <set>

#include <zstd.h>

#include "archive/kpack.h"
#include "archive/toc.h"
#include "json/msgpack.h"
#include "target/target.h"

namespace hipplan::archive {
namespace {

using json::Kind;
using json::Value;

constexpr size_t kAlignment = 64;  // of the first blob, and of every blob of scheme none

Value text(const std::string& value) {
  Value out;
  out.kind = Kind::string;
  out.string = value;
  return out;
}
Value number(uint64_t value) {
  Value out;
  out.kind = Kind::integer;
  out.integer = static_cast<int64_t>(value);
  return out;
}
Value map() {
  Value out;
  out.kind = Kind::object;
  return out;
}
Value array() {
  Value out;
  out.kind = Kind::array;
  return out;
}

void pad(Bytes& to) {
  to.resize((to.size() + kAlignment - 1) / kAlignment * kAlignment);
}

Result<Bytes> compress(ByteView code, int level, const std::string& where) {
  const std::unique_ptr<ZSTD_CCtx, size_t (*)(ZSTD_CCtx*)> context(ZSTD_createCCtx(),
                                                                   ZSTD_freeCCtx);
  const auto fail = [&](size_t code_number) {
    return Error{Code::machine,
                 "kpack-compress",
                 where,
                 cat("compression failed: ", ZSTD_getErrorName(code_number)),
                 "",
                 "",
                 ""};
  };
  if (context == nullptr)
    return Error{Code::machine, "kpack-compress", where, "out of memory", "", "", ""};
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_compressionLevel, level);
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_checksumFlag, 1);
  Bytes out(ZSTD_compressBound(code.size()));
  const size_t size =
      ZSTD_compress2(context.get(), out.data(), out.size(), code.data(), code.size());
  if (ZSTD_isError(size)) return fail(size);
  out.resize(size);
  return out;
}

}  // namespace

struct Writer::State {
  WriterOptions options;
  std::map<Digest, Bytes> codes;
  std::map<std::string, std::map<std::string, Digest>> toc;  ///< name -> arch -> code
};

namespace {

/// Appends the blobs of scheme none and their positions.
void append_plain(Bytes& file, Value& root, const std::vector<const Bytes*>& blobs) {
  Value list = array();
  for (const Bytes* blob : blobs) {
    pad(file);
    Value item = map();
    item.members = {{"offset", number(file.size())}, {"size", number(blob->size())}};
    list.items.push_back(std::move(item));
    append(file, ByteView(*blob));
  }
  root.members.emplace_back("blobs", std::move(list));
}

Result<void> append_zstd(Bytes& file, Value& root, const std::vector<const Bytes*>& blobs,
                         int level) {
  const size_t start = file.size();
  append(file, static_cast<uint32_t>(blobs.size()));
  for (size_t i = 0; i < blobs.size(); ++i) {
    HIPPLAN_TRY_ASSIGN(const Bytes frame, compress(*blobs[i], level, cat("blob ", i)));
    if (frame.size() > UINT32_MAX || file.size() - start + frame.size() > kMaxZstdBytes)
      return Error{Code::bad_input,
                   "kpack-too-large",
                   cat("blob ", i),
                   "the archive is too large",
                   cat("at most ", kMaxZstdBytes, " bytes"),
                   "",
                   "pack fewer kernels into one archive"};
    append(file, static_cast<uint32_t>(frame.size()));
    append(file, ByteView(frame));
  }
  root.members.emplace_back("zstd_offset", number(start));
  root.members.emplace_back("zstd_size", number(file.size() - start));
  return {};
}

}  // namespace

Writer::Writer(WriterOptions options) : state_(std::make_unique<State>()) {
  state_->options = std::move(options);
}
Writer::~Writer() = default;

Result<void> Writer::add(const std::string& name, const std::string& arch, ByteView code) {
  const auto bad = [&](const char* reason, std::string what, std::string expected,
                       std::string found) {
    return Error{
        Code::bad_input,  reason, cat(name, ", ", arch), std::move(what), std::move(expected),
        std::move(found), ""};
  };
  const auto parsed = target::Arch::parse(arch);
  if (!parsed || parsed->text() != arch)
    return bad("kpack-arch", "not an architecture", "gfx942 and the like", arch);
  if (name.empty() || name.find_first_of(std::string("\\\0", 2)) != std::string::npos)
    return bad("kpack-name", "bad name", "characters other than NUL and backslash", name);
  if (code.size() > kMaxCodeObjectBytes)
    return bad("kpack-too-large", "the code object is too large",
               cat("at most ", kMaxCodeObjectBytes, " bytes"), cat(code.size()));
  const Digest digest = sha256(code);
  const auto [entry, added] = state_->toc[name].emplace(arch, digest);
  if (!added && entry->second != digest)
    return bad("kpack-key-collision", "two different code objects have this name",
               entry->second.hex(), digest.hex());
  state_->codes.try_emplace(digest, code.begin(), code.end());
  return {};
}

Result<Bytes> Writer::to_bytes() const {
  // Ordinals by first use in the order of the table of contents; rows with equal code share one.
  std::map<Digest, uint64_t> ordinals;
  std::vector<const Bytes*> blobs;
  std::set<std::string> arches;
  Value toc = map();
  for (const auto& [name, by_arch] : state_->toc) {
    Value rows = map();
    for (const auto& [arch, digest] : by_arch) {
      const auto [ordinal, added] = ordinals.emplace(digest, blobs.size());
      const Bytes& code = state_->codes.at(digest);
      if (added) blobs.push_back(&code);
      arches.insert(arch);
      Value row = map();
      row.members = {{"type", text("hsaco")},
                     {"ordinal", number(ordinal->second)},
                     {"original_size", number(code.size())}};
      rows.members.emplace_back(arch, std::move(row));
    }
    toc.members.emplace_back(name, std::move(rows));
  }
  if (blobs.size() > kMaxBlobs)
    return Error{Code::bad_input,
                 "kpack-too-large",
                 "archive",
                 "too many code objects",
                 cat("at most ", kMaxBlobs),
                 cat(blobs.size()),
                 ""};
  Value arch_list = array();
  for (const std::string& arch : arches) arch_list.items.push_back(text(arch));
  const WriterOptions& options = state_->options;
  Value root = map();
  root.members = {{"format_version", number(kFormatVersion)},
                  {"group_name", text(options.group_name)},
                  {"gfx_arch_family", text(options.arch_family)},
                  {"gfx_arches", std::move(arch_list)},
                  {"toc", std::move(toc)},
                  {"compression_scheme", text(scheme_name(options.scheme))}};
  Bytes file(kHeaderBytes);
  pad(file);
  if (options.scheme == Scheme::none)
    append_plain(file, root, blobs);
  else
    HIPPLAN_TRY(append_zstd(file, root, blobs, options.level));
  const uint64_t toc_offset = file.size();
  append(file, ByteView(json::write_msgpack(root)));
  std::memcpy(file.data(), kMagic.data(), kMagic.size());
  std::memcpy(file.data() + 4, &kFormatVersion, sizeof kFormatVersion);
  std::memcpy(file.data() + 8, &toc_offset, sizeof toc_offset);
  return file;
}

}  // namespace hipplan::archive
