// Opened archives and verified code objects, kept for the next plan that needs them.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

#include "archive/kpack.h"
#include "base/shared_bytes.h"
#include "codeobject/codeobject.h"
#include "descriptor/descriptor.h"
#include "target/target.h"

namespace hipplan::capture {

/// A code object that was read, compared with its digest and parsed. Immutable.
struct VerifiedCode {
  SharedBytes bytes;
  codeobject::CodeObject parsed;  ///< views into `bytes`
  Digest sha256;
  std::string entry_arch;  ///< archive entry that it came from; empty for files
};

/// Thread-safe. Two threads that miss at once may both read; one result is kept.
class CodeCache {
 public:
  /// Code of a source of kind kpack, hsaco_file or hsaco. An archive whose content turns out to be
  /// damaged is forgotten; a missing entry leaves it open.
  Result<std::shared_ptr<const VerifiedCode>> get(const descriptor::Source& source,
                                                  const target::Arch& device);

 private:
  using Key = std::tuple<std::string, std::string, std::string, Digest>;  // path, key, arch, digest
  Result<archive::Kpack> open(const std::string& path);
  Result<std::shared_ptr<const VerifiedCode>> read_packed(const descriptor::Source& source,
                                                          const target::Arch& device);

  std::mutex mutex_;
  std::map<std::string, archive::Kpack> archives_;
  std::map<Key, std::shared_ptr<const VerifiedCode>> codes_;
};

}  // namespace hipplan::capture
