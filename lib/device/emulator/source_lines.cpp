#include "device/emulator/source_lines.h"

#include <algorithm>
#include <optional>

#include "base/harmless.h"
#include "codeobject/elf_file.h"

namespace hipplan::emulator {
// Named, because a class that the header names has members of these types.
namespace line_table {

/// Bounds on what a section may make us keep.
constexpr size_t kMostLineRows = 4'000'000, kMostFiles = 65536, kLongestName = 1024;

/// Reads forward; after a read beyond the end everything reads as zero and failed() is true.
class Cursor {
 public:
  explicit Cursor(ByteView bytes) : bytes_(bytes) {}
  [[nodiscard]] bool failed() const { return failed_; }
  [[nodiscard]] bool at_end() const { return failed_ || at_ == bytes_.size(); }
  void fail() { failed_ = true; }

  template <class T>
  T number() {
    const auto value = hipplan::load<T>(bytes_, at_);
    if (failed_ || !value) return fail(), T{};
    at_ += sizeof(T);
    return *value;
  }
  uint64_t offset(bool wide) { return wide ? number<uint64_t>() : number<uint32_t>(); }
  uint64_t leb() {
    uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
      const auto byte = number<uint8_t>();
      if (failed_ || shift > 63) return fail(), 0;
      value |= uint64_t{byte & 127u} << shift;
      if ((byte & 128u) == 0) return value;
    }
  }
  int64_t signed_leb() {
    uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
      const auto byte = number<uint8_t>();
      if (failed_ || shift > 63) return fail(), 0;
      value |= uint64_t{byte & 127u} << shift;
      if ((byte & 128u) != 0) continue;
      if ((byte & 64u) != 0 && shift + 7 < 64) value |= ~uint64_t{0} << (shift + 7);
      return static_cast<int64_t>(value);
    }
  }
  std::string_view text() {
    const auto found = codeobject::string_at(bytes_, at_);
    if (failed_ || !found) return fail(), std::string_view();
    at_ += found->size() + 1;
    return *found;
  }
  void skip(uint64_t bytes) {
    if (failed_ || bytes > bytes_.size() - at_) return fail();
    at_ += bytes;
  }
  /// The next `bytes` bytes as a cursor of their own.
  Cursor part(uint64_t bytes) {
    if (failed_ || bytes > bytes_.size() - at_) {
      fail();
      return Cursor({});
    }
    const Cursor inside(bytes_.subspan(at_, bytes));
    at_ += bytes;
    return inside;
  }

 private:
  ByteView bytes_;
  uint64_t at_ = 0;
  bool failed_ = false;
};

struct Strings {
  ByteView line, other;
};

enum Form : uint64_t {
  kFormData2 = 0x05,
  kFormData4 = 0x06,
  kFormData8 = 0x07,
  kFormString = 0x08,
  kFormBlock = 0x09,
  kFormData1 = 0x0b,
  kFormStrp = 0x0e,
  kFormUdata = 0x0f,
  kFormData16 = 0x1e,
  kFormLineStrp = 0x1f,
};

/// What one attribute of a file says: text or a number.
struct Value {
  std::string_view text;
  uint64_t number = 0;
};
Value read_form(Cursor& in, uint64_t form, bool wide, const Strings& strings) {
  Value value;
  switch (form) {
    case kFormString:
      value.text = in.text();
      break;
    case kFormLineStrp:
    case kFormStrp: {
      const ByteView table = form == kFormStrp ? strings.other : strings.line;
      const auto found = codeobject::string_at(table, in.offset(wide));
      if (found) value.text = *found;
      break;
    }
    case kFormUdata:
      value.number = in.leb();
      break;
    case kFormData1:
      value.number = in.number<uint8_t>();
      break;
    case kFormData2:
      value.number = in.number<uint16_t>();
      break;
    case kFormData4:
      value.number = in.number<uint32_t>();
      break;
    case kFormData8:
      value.number = in.number<uint64_t>();
      break;
    case kFormData16:
      in.skip(16);
      break;
    case kFormBlock:
      in.skip(in.leb());
      break;
    default:
      in.fail();
  }
  return value;
}

struct Entry {
  std::string_view path;
  uint64_t folder = 0;
};
/// A table of folders or files: its format, then its entries.
std::vector<Entry> read_entries(Cursor& in, bool wide, const Strings& strings) {
  constexpr uint64_t kPath = 1, kFolder = 2;
  std::vector<std::pair<uint64_t, uint64_t>> format(in.number<uint8_t>());
  for (auto& [content, form] : format) {
    content = in.leb();
    form = in.leb();
  }
  std::vector<Entry> entries;
  const uint64_t count = in.leb();
  if (count > kMostFiles || (format.empty() && count != 0)) in.fail();
  for (uint64_t i = 0; i < count && !in.failed(); ++i) {
    Entry entry;
    for (const auto& [content, form] : format) {
      const Value value = read_form(in, form, wide, strings);
      if (content == kPath) entry.path = value.text;
      if (content == kFolder) entry.folder = value.number;
    }
    entries.push_back(entry);
  }
  return entries;
}

std::string path_of(const Entry& file, const std::vector<Entry>& folders) {
  std::string path;
  const bool relative = file.path.empty() || file.path.front() != '/';
  if (relative && file.folder < folders.size() && file.folder != 0)
    path = std::string(folders[file.folder].path) + "/";
  path += file.path;
  return harmless(path.substr(0, kLongestName));
}

}  // namespace line_table

using namespace line_table;

/// One line program with its header.
class LineProgram {
 public:
  LineProgram(Cursor in, bool wide, Strings strings, SourceLines& out)
      : in_(in), wide_(wide), strings_(strings), out_(out) {}

  /// False when it is not version 5 or damaged; rows so far stay.
  bool run() {
    if (!read_header()) return false;
    while (!in_.at_end() && out_.rows_.size() < kMostLineRows) step();
    return !in_.failed();
  }

 private:
  bool read_header() {
    if (in_.number<uint16_t>() != 5 || in_.number<uint8_t>() != 8) return false;
    (void)in_.number<uint8_t>();  // segment selector size
    const uint64_t length = in_.offset(wide_);
    Cursor header = in_.part(length);
    least_ = header.number<uint8_t>();
    (void)header.number<uint8_t>();  // operations per instruction
    (void)header.number<uint8_t>();  // default of is_stmt
    line_base_ = header.number<int8_t>();
    line_range_ = header.number<uint8_t>();
    opcode_base_ = header.number<uint8_t>();
    if (header.failed() || line_range_ == 0 || opcode_base_ == 0) return false;
    for (unsigned i = 1; i < opcode_base_; ++i) lengths_[i] = header.number<uint8_t>();
    const auto folders = read_entries(header, wide_, strings_);
    const auto files = read_entries(header, wide_, strings_);
    if (header.failed() || in_.failed()) return false;
    first_file_ = static_cast<uint32_t>(out_.files_.size());
    for (const Entry& file : files) out_.files_.push_back(path_of(file, folders));
    files_ = static_cast<uint32_t>(files.size());
    return out_.files_.size() <= kMostFiles;
  }

  void step() {
    const unsigned opcode = in_.number<uint8_t>();
    if (opcode >= opcode_base_) {
      const unsigned adjusted = opcode - opcode_base_;
      address_ += uint64_t{least_} * (adjusted / line_range_);
      line_ += static_cast<uint64_t>(line_base_ + static_cast<int>(adjusted % line_range_));
      return add_row(line_);
    }
    switch (opcode) {
      case 0:
        return extended();
      case 1:
        return add_row(line_);
      case 2:
        address_ += least_ * in_.leb();
        return;
      case 3:
        line_ += static_cast<uint64_t>(in_.signed_leb());
        return;
      case 4:
        file_ = in_.leb();
        return;
      case 8:
        address_ += uint64_t{least_} * ((255u - opcode_base_) / line_range_);
        return;
      case 9:
        address_ += in_.number<uint16_t>();
        return;
      default:  // column, is_stmt, blocks, …: they do not matter here
        for (unsigned i = 0; i < lengths_[opcode]; ++i) (void)in_.leb();
    }
  }

  void extended() {
    const uint64_t length = in_.leb();
    Cursor inside = in_.part(length);
    switch (inside.number<uint8_t>()) {
      case 1:
        add_row(0);
        address_ = 0, file_ = 1, line_ = 1;
        return;
      case 2:
        address_ = inside.number<uint64_t>();
        return;
      default:
        return;
    }
  }

  void add_row(uint64_t line) {
    const bool known = file_ < files_ && line <= UINT32_MAX;
    out_.rows_.push_back({address_, known ? first_file_ + static_cast<uint32_t>(file_) : 0,
                          known ? static_cast<uint32_t>(line) : 0});
  }

  Cursor in_;
  bool wide_;
  Strings strings_;
  SourceLines& out_;
  uint8_t least_ = 1, line_range_ = 1, opcode_base_ = 1;
  int8_t line_base_ = 0;
  uint8_t lengths_[256] = {};
  uint32_t first_file_ = 0, files_ = 0;
  uint64_t address_ = 0, file_ = 1, line_ = 1;
};

SourceLines SourceLines::parse(ByteView programs, ByteView line_strings, ByteView strings) {
  SourceLines out;
  Cursor in(programs);
  while (!in.at_end()) {
    uint64_t length = in.number<uint32_t>();
    const bool wide = length == 0xffffffffull;
    if (wide) length = in.number<uint64_t>();
    const Cursor inside = in.part(length);
    if (in.failed() || !LineProgram(inside, wide, {line_strings, strings}, out).run()) break;
  }
  // Where one sequence ends another may begin: the row with a line wins.
  std::stable_sort(out.rows_.begin(), out.rows_.end(), [](const Row& a, const Row& b) {
    return a.address != b.address ? a.address < b.address : a.line == 0 && b.line != 0;
  });
  return out;
}

SourceLines SourceLines::read(ByteView code_object) {
  const auto file = codeobject::read_elf(code_object, "code object");
  if (!file) return {};
  ByteView programs, line_strings, strings;
  for (const auto& section : file->sections) {
    if ((section.header.sh_flags & SHF_COMPRESSED) != 0) continue;
    if (section.name == ".debug_line") programs = section.content;
    if (section.name == ".debug_line_str") line_strings = section.content;
    if (section.name == ".debug_str") strings = section.content;
  }
  return parse(programs, line_strings, strings);
}

std::string SourceLines::find(uint64_t address) const {
  const auto above = std::upper_bound(rows_.begin(), rows_.end(), address,
                                      [](uint64_t a, const Row& row) { return a < row.address; });
  if (above == rows_.begin()) return {};
  const Row& row = *std::prev(above);
  return row.line == 0 ? std::string() : cat(files_[row.file], ":", row.line);
}

}  // namespace hipplan::emulator
