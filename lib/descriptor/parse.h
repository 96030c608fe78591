// One descriptor file to an unresolved descriptor: references are still UUIDs.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "descriptor/descriptor.h"
#include "descriptor/reader.h"

namespace hipplan::descriptor {

using ArchRef = std::pair<std::string, Uuid>;

struct RawEngine {
  Engine engine;  ///< pointers unset
  Uuid metadata;
  std::optional<Uuid> heuristic;
  std::vector<ArchRef> heuristic_by_arch, predict_by_arch;
};

/// A pack's kernel: inline, or the id of a stand-alone one.
using RawPackKernel = std::variant<Kernel, Uuid>;
struct RawPack {
  Pack pack;  ///< pointers unset
  Uuid engine, dispatch;
  std::vector<Uuid> matchers;
  std::vector<RawPackKernel> kernels;
};

using Body = std::variant<RawEngine, MetadataSchema, Matcher, Dispatch, Heuristic, RawPack, Kernel>;

struct ParsedFile {
  Kind kind = Kind::engine;
  Uuid id;
  std::vector<std::string> arch;  ///< packs and kernels; part of their identity
  Body body;
  Origin origin;  ///< `document` is always set here
};

/// What the loader knows about a file before it reads it.
struct FileContext {
  std::string file;
  size_t root = 0;
  std::string root_folder;    ///< boundary for paths inside the file
  std::string origin_folder;  ///< folder of the file, where its relative paths start
};

/// Nothing when the file is skipped or refused; the report says why.
std::optional<ParsedFile> parse_file(Kind kind, std::string_view text, const FileContext& context,
                                     FileReport& report);

// Parts of parse_file, one file each.
Heuristic parse_heuristic(Fields& fields, const FileContext& context);
/// A kernel without its version key; `minor` is the version's second half.
Kernel parse_kernel(Fields& fields, const FileContext& context, int64_t minor);
/// Whether "version" is readable: major 1, minor up to that of the kind. Warns when it is not.
enum class VersionAnswer : uint8_t { ok, skip, bad };
struct ReadVersion {
  VersionAnswer answer = VersionAnswer::bad;
  int64_t minor = 0;
};
ReadVersion read_version(Fields& fields, Kind kind);
/// Resolves a relative path from the file's folder; reports paths that are absolute or leave the
/// root.
std::string resolve_path(const json::Value& at, const std::string& relative,
                         const FileContext& context, FileReport& report, const What& what);

}  // namespace hipplan::descriptor
