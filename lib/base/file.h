// Reading files through a read-only mapping and replacing them without ever leaving half a file.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "base/bytes.h"
#include "base/result.h"

namespace hipplan {

/// A whole file: small ones, pipes and devices in memory, others mapped read-only. Those must not
/// become shorter while in use (SIGBUS), and are never executable. Moving keeps view() valid.
class FileView {
 public:
  /// `path` "-" reads standard input. Fails with bad_input when the file is missing or a folder,
  /// machine when reading fails. More than `limit` bytes are bad_input.
  static Result<FileView> open(const std::filesystem::path& path, uint64_t limit = UINT64_MAX);
  /// The same interface over bytes in memory.
  static FileView own(Bytes bytes);
  FileView() = default;
  [[nodiscard]] ByteView view() const { return view_; }
  /// What keeps view() alive, unless it is a mapping, which others may write to: then null.
  [[nodiscard]] std::shared_ptr<const void> unchanging_owner() const {
    return mapped_ ? nullptr : owner_;
  }

 private:
  std::shared_ptr<const void> owner_;
  bool mapped_ = false;
  ByteView view_;
};

/// Reads a file into memory, at most `limit` bytes.
Result<Bytes> read_file(const std::filesystem::path& path, uint64_t limit = UINT64_MAX);

/// Writes a file so that readers see the old content or the new one, nothing else: temporary in
/// the same folder, write, fsync, rename, fsync of the folder. Temporaries that dead writers left
/// for the same target are removed on the way. Until the rename a failure leaves the old file
/// untouched and removes the temporary; so does a request to stop (base/interruption.h). What
/// replaces a file takes over its permissions, and its owner as far as may be. A symbolic link
/// keeps pointing where it points; for pipes and devices the bytes are collected in memory and
/// handed over by commit().
class AtomicFile {
 public:
  static Result<AtomicFile> create(const std::filesystem::path& target);
  AtomicFile(AtomicFile&&) noexcept;
  AtomicFile& operator=(AtomicFile&&) = delete;
  ~AtomicFile();
  Result<void> write(ByteView bytes);
  Result<void> write_at(uint64_t offset, ByteView bytes);
  [[nodiscard]] uint64_t size() const { return size_; }
  /// Makes the new content visible. Without it the destructor throws everything away.
  Result<void> commit();

 private:
  AtomicFile(std::filesystem::path target, std::filesystem::path temporary, int descriptor,
             int device);
  static Result<AtomicFile> create_for_device(const std::filesystem::path& named,
                                              const std::filesystem::path& target);
  Result<void> deliver();
  std::filesystem::path target_;
  std::filesystem::path temporary_;  ///< empty for pipes and devices
  int descriptor_ = -1;
  int device_ = -1;  ///< the pipe or device; -1 for files
  uint64_t size_ = 0;
};

/// AtomicFile in one call.
Result<void> write_file(const std::filesystem::path& target, ByteView bytes);

}  // namespace hipplan
