#include <archive.h>
#include <archive_entry.h>

#include <algorithm>
#include <memory>

#include "base/file.h"
#include "json/json.h"
#include "json/text.h"
#include "plan/bundle.h"
#include "plan/bundle_frame.h"
#include "plan/bundle_locale.h"
#include "plan/errors.h"
#include "plan/plan.h"

namespace hipplan::plan {
namespace fs = std::filesystem;
namespace {

struct FreeWriter {
  void operator()(archive* a) const { archive_write_free(a); }
};
struct FreeEntry {
  void operator()(archive_entry* e) const { archive_entry_free(e); }
};

/// Where libarchive's bytes go; the first failure is kept.
struct Sink {
  BundleFrameWriter& frame;
  Result<void> state;
};

la_ssize_t put(archive*, void* data, const void* bytes, size_t size) {
  auto& sink = *static_cast<Sink*>(data);
  sink.state = sink.frame.write({static_cast<const std::byte*>(bytes), size});
  return sink.state ? static_cast<la_ssize_t>(size) : -1;
}

Error archive_error(const Sink& sink, archive* from) {
  if (!sink.state) return sink.state.error();
  const char* text = archive_error_string(from);
  return machine("bundle-write", "bundle", text == nullptr ? "writing failed" : text);
}

struct Found {
  std::string name;
  fs::path path;
};

bool is_utf8(std::string_view text) {
  return json::detail::first_bad_utf8(text) == text.size();
}

/// U+0000 to U+001F, U+007F to U+009F.
bool holds_control(std::string_view text) {
  constexpr unsigned char kLeadOfC1 = 0xc2, kEndOfC1 = 0xa0;
  unsigned char before = 0;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f || (before == kLeadOfC1 && byte < kEndOfC1)) return true;
    before = byte;
  }
  return false;
}

/// What is not ASCII is written as UTF-8, which this system must know.
Result<void> check_name(const std::string& name, const fs::path& path) {
  if (!is_utf8(name))
    return bad_input("bundle-name", path.string(), "file name cannot go into a bundle",
                     "a name in UTF-8", "bytes that are none", "rename it");
  if (!is_bundle_member_name(name))
    return bad_input("bundle-name", path.string(), "file name cannot go into a bundle",
                     "at most 1024 bytes without control characters and backslashes, no part empty "
                     "or made of dots",
                     quote(name), "rename it");
  if (is_ascii(name) || utf8_locale() != nullptr) return {};
  Error error = machine("bundle-write", path.string(),
                        "names that are not ASCII need a locale that this system lacks");
  error.expected = "C.UTF-8 or en_US.UTF-8";
  error.advice = "install one of them, or rename the file";
  return error;
}

Result<std::vector<Found>> find_plans(const fs::path& folder) {
  std::error_code failed;
  std::vector<Found> out;
  fs::recursive_directory_iterator it(folder, failed), end;
  for (; !failed && it != end; it.increment(failed)) {
    if (it->is_symlink() || !it->is_regular_file() || it->path().extension() != ".hplan") continue;
    const std::string name = it->path().lexically_relative(folder).generic_string();
    HIPPLAN_TRY(check_name(name, it->path()));
    out.push_back({name, it->path()});
  }
  if (failed) return bad_input("open", folder.string(), "cannot read folder: " + failed.message());
  if (out.empty()) return bad_input("no-plans", folder.string(), "folder holds no .hplan file");
  std::sort(out.begin(), out.end(), [](const Found& a, const Found& b) { return a.name < b.name; });
  return out;
}

std::string manifest_text(const std::vector<BundleMember>& members) {
  json::Writer out(1);
  out.begin_object().member("schema", kManifestSchema).key("members").begin_array();
  for (const auto& m : members) {
    out.begin_object().member("name", m.name).member("bytes", m.bytes);
    out.member("sha256", m.sha256.hex()).end_object();
  }
  out.end_array().end_object();
  return out.text() + "\n";
}

/// One member with every field that could differ between machines set to a fixed value.
Result<void> put_member(archive* to, const Sink& sink, const std::string& name, ByteView bytes) {
  const std::unique_ptr<archive_entry, FreeEntry> entry(archive_entry_new());
  if (entry == nullptr) throw std::bad_alloc();
  archive_entry_set_pathname(entry.get(), name.c_str());
  archive_entry_set_size(entry.get(), static_cast<la_int64_t>(bytes.size()));
  archive_entry_set_filetype(entry.get(), AE_IFREG);
  archive_entry_set_perm(entry.get(), 0644);
  archive_entry_set_mtime(entry.get(), 0, 0);
  archive_entry_set_uid(entry.get(), 0);
  archive_entry_set_gid(entry.get(), 0);
  if (archive_write_header(to, entry.get()) != ARCHIVE_OK) return archive_error(sink, to);
  const la_ssize_t written = archive_write_data(to, bytes.data(), bytes.size());
  if (written < 0 || static_cast<size_t>(written) != bytes.size()) return archive_error(sink, to);
  return {};
}

Result<void> put_all(archive* to, const Sink& sink, const std::vector<Found>& files,
                     const std::vector<BundleMember>& members) {
  const std::string manifest = manifest_text(members);
  HIPPLAN_TRY(put_member(to, sink, kManifestName, as_bytes(manifest)));
  for (size_t i = 0; i < files.size(); ++i) {
    HIPPLAN_TRY_ASSIGN(const auto file, FileView::open(files[i].path));
    if (file.view().size() != members[i].bytes || sha256(file.view()) != members[i].sha256)
      return machine("file-changed", files[i].path.string(), "file changed while it was packed");
    HIPPLAN_TRY(put_member(to, sink, files[i].name, file.view()));
  }
  if (archive_write_close(to) != ARCHIVE_OK) return archive_error(sink, to);
  return {};
}

}  // namespace

bool is_bundle_member_name(std::string_view name) {
  constexpr size_t kMost = 1024;
  constexpr std::string_view kSuffix = ".hplan";
  if (name.size() > kMost || !name.ends_with(kSuffix)) return false;
  if (holds_control(name) || name.find('\\') != std::string_view::npos || !is_utf8(name))
    return false;
  while (true) {
    const auto slash = name.find('/');
    const auto part = name.substr(0, slash);
    if (part.find_first_not_of('.') == std::string_view::npos) return false;
    if (slash == std::string_view::npos) return true;
    name.remove_prefix(slash + 1);
  }
}

namespace {

/// The files of a folder, and what the manifest says of them.
struct CheckedFolder {
  std::vector<Found> files;
  std::vector<BundleMember> members;
};

Result<CheckedFolder> check_plans(const fs::path& folder) {
  CheckedFolder out;
  HIPPLAN_TRY_ASSIGN(out.files, find_plans(folder));
  for (const auto& found : out.files) {
    HIPPLAN_TRY_ASSIGN(const auto file, File::open(found.path, Check::full));
    out.members.push_back({found.name, file.bytes().size(), sha256(file.bytes())});
  }
  return out;
}

Result<void> write_packed(const CheckedFolder& packed, int level,
                          const BundleFrameWriter::Put& out) {
  BundleFrameWriter frame(out, level);
  Sink sink{frame, {}};
  const LocaleHeld names(utf8_locale());
  const std::unique_ptr<archive, FreeWriter> to(archive_write_new());
  if (to == nullptr) throw std::bad_alloc();
  if (archive_write_set_format_pax_restricted(to.get()) != ARCHIVE_OK ||
      archive_write_set_bytes_in_last_block(to.get(), 1) != ARCHIVE_OK ||
      archive_write_open(to.get(), &sink, nullptr, put, nullptr) != ARCHIVE_OK)
    return archive_error(sink, to.get());
  HIPPLAN_TRY(put_all(to.get(), sink, packed.files, packed.members));
  return frame.finish();
}

}  // namespace

Result<void> write_bundle(const fs::path& folder, const fs::path& output, int compression_level) {
  HIPPLAN_TRY_ASSIGN(const auto packed, check_plans(folder));
  HIPPLAN_TRY_ASSIGN(auto target, AtomicFile::create(output));
  HIPPLAN_TRY(write_packed(packed, compression_level,
                           [&](ByteView stored) { return target.write(stored); }));
  return target.commit();
}

Result<void> write_bundle(const fs::path& folder, const BundleOutput& output,
                          int compression_level) {
  HIPPLAN_TRY_ASSIGN(const auto packed, check_plans(folder));
  return write_packed(packed, compression_level, output);
}

}  // namespace hipplan::plan
