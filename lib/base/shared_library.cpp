#include "base/shared_library.h"

#include <dlfcn.h>

namespace hipplan {

namespace {

/// Why a name alone was not found although there is such a file: it is looked for where the system
/// keeps its libraries, never in the current folder.
std::string advice_on_name(const std::filesystem::path& path) {
  std::error_code ignored;
  if (path.has_parent_path() || !std::filesystem::exists(path, ignored)) return {};
  return "write ./" + path.string() + " for the file in this folder";
}

}  // namespace

Result<SharedLibrary> SharedLibrary::open(const std::filesystem::path& path) {
  void* handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (handle == nullptr) {
    const char* why = ::dlerror();
    return Error{.code = Code::machine,
                 .reason = "shared-library",
                 .where = path.string(),
                 .what = std::string("cannot load shared library: ") + (why ? why : "unknown"),
                 .advice = advice_on_name(path)};
  }
  SharedLibrary out;
  out.handle_ = std::shared_ptr<void>(handle, [](void* p) { ::dlclose(p); });
  return out;
}

void* SharedLibrary::symbol(const char* name) const {
  return ::dlsym(handle_.get(), name);
}

std::filesystem::path own_folder() {
  Dl_info info{};
  if (::dladdr(reinterpret_cast<void*>(&own_folder), &info) == 0 || info.dli_fname == nullptr)
    return {};
  std::error_code ignored;
  const auto full = std::filesystem::canonical(info.dli_fname, ignored);
  return ignored ? std::filesystem::path() : full.parent_path();
}

}  // namespace hipplan
