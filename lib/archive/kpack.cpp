#include "archive/kpack.h"

#include <algorithm>
#include <tuple>

#include "archive/toc.h"
#include "base/file.h"

namespace hipplan::archive {

struct Kpack::State {
  FileView file;  ///< keeps the mapping alive; empty when the caller owns the bytes
  ByteView bytes;
  std::string where;
  Toc toc;
  std::vector<uint32_t> by_name;  ///< positions in toc.entries, sorted by (name, arch)
};

namespace {

auto key_of(const Entry& entry) {
  return std::tuple(std::string_view(entry.name), std::string_view(entry.arch));
}

/// One zstd frame that fills `frame`, exactly `size` bytes when decompressed.
Result<Bytes> decompress(ByteView frame, uint64_t size, const std::string& where) {
  auto read = read_zstd_frame(frame, size, FrameSize::optional);
  if (auto* bytes = std::get_if<Bytes>(&read)) return std::move(*bytes);
  const auto& fault = std::get<FrameFault>(read);
  return kpack_error(Code::damaged, where, "the blob: " + fault.what, fault.expected, fault.found);
}

}  // namespace

Result<Kpack> Kpack::make(std::shared_ptr<State> state) {
  HIPPLAN_TRY_ASSIGN(state->toc, read_toc(state->bytes, state->where));
  const auto& entries = state->toc.entries;
  for (uint32_t i = 0; i < entries.size(); ++i) state->by_name.push_back(i);
  std::sort(state->by_name.begin(), state->by_name.end(),
            [&](uint32_t a, uint32_t b) { return key_of(entries[a]) < key_of(entries[b]); });
  Kpack out;
  out.state_ = std::move(state);
  return out;
}

Result<Kpack> Kpack::open(const std::filesystem::path& path) {
  auto state = std::make_shared<State>();
  HIPPLAN_TRY_ASSIGN(state->file, FileView::open(path));
  state->bytes = state->file.view();
  state->where = path.string();
  return make(std::move(state));
}

Result<Kpack> Kpack::parse(ByteView bytes, const std::string& where) {
  auto state = std::make_shared<State>();
  state->bytes = bytes;
  state->where = where;
  return make(std::move(state));
}

const Info& Kpack::info() const {
  return state_->toc.info;
}
const std::vector<Entry>& Kpack::entries() const {
  return state_->toc.entries;
}
const std::string& Kpack::where() const {
  return state_->where;
}

const Entry* Kpack::find(std::string_view name, std::string_view arch) const {
  const auto& entries = state_->toc.entries;
  const std::tuple key(name, arch);
  const auto found =
      std::lower_bound(state_->by_name.begin(), state_->by_name.end(), key,
                       [&](uint32_t i, const auto& k) { return key_of(entries[i]) < k; });
  if (found == state_->by_name.end() || key_of(entries[*found]) != key) return nullptr;
  return &entries[*found];
}

const Entry* Kpack::find(std::string_view name, std::span<const std::string> arches) const {
  for (const std::string& arch : arches)
    if (const Entry* entry = find(name, std::string_view(arch))) return entry;
  return nullptr;
}

Result<Bytes> Kpack::read(const Entry& entry) const {
  const std::string place = cat(state_->where, ": ", entry.name, ", ", entry.arch);
  if (entry.ordinal >= state_->toc.blobs.size())
    return Error{
        Code::internal, "kpack", place, "the entry belongs to another archive", "", "", ""};
  const Blob& blob = state_->toc.blobs[entry.ordinal];
  const ByteView stored = *slice(state_->bytes, blob.offset, blob.size);
  if (state_->toc.info.scheme == Scheme::none) return Bytes(stored.begin(), stored.end());
  return decompress(stored, entry.original_size, place);
}

uint64_t Kpack::stored_size(const Entry& entry) const {
  return entry.ordinal < state_->toc.blobs.size() ? state_->toc.blobs[entry.ordinal].size : 0;
}

Result<Found> read_checked(const Kpack& archive, std::string_view name,
                           std::span<const std::string> arches, const Digest& expected) {
  const Entry* entry = archive.find(name, arches);
  if (entry == nullptr) {
    std::string tried;
    for (const std::string& arch : arches) tried += (tried.empty() ? "" : ", ") + arch;
    return Error{Code::unusable,
                 "kpack-entry-missing",
                 cat(archive.where(), ": ", name),
                 "the archive has no such entry",
                 "one for " + tried,
                 "none",
                 "pack the kernels for this architecture"};
  }
  HIPPLAN_TRY_ASSIGN(Bytes code, archive.read(*entry));
  const Digest actual = sha256(code);
  if (actual != expected)
    return Error{Code::damaged,
                 "code-object-digest",
                 cat(archive.where(), ": ", name, ", ", entry->arch),
                 "the code object is not the one that the descriptor names",
                 expected.hex(),
                 actual.hex(),
                 "pack the kernels again"};
  return Found{*entry, std::move(code)};
}

}  // namespace hipplan::archive
