// What the CUDA driver alone needs to make a kernel launchable: bare driver calls on a cubin or PTX
// file, nothing of hipplan. Usage: driver_floor FILE KERNEL [COUNT]
// Prints microseconds, without the context: module load, symbol; the first and the median.
#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

template <class F>
F* entry(void* library, const char* name) {
  void* found = dlsym(library, name);
  if (found == nullptr) {
    std::fprintf(stderr, "driver_floor: no %s\n", name);
    std::exit(1);
  }
  return reinterpret_cast<F*>(found);
}
void must(int status, const char* what) {
  if (status == 0) return;
  std::fprintf(stderr, "driver_floor: %s: status %d\n", what, status);
  std::exit(1);
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 3) return 2;
  std::ifstream in(arguments[1], std::ios::binary);
  std::string image((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  const int rounds = count > 3 ? std::max(2, std::atoi(arguments[3])) : 21;
  void* library = dlopen("libcuda.so.1", RTLD_NOW);
  if (library == nullptr || image.empty()) {
    std::fprintf(stderr, "driver_floor: no driver or no file\n");
    return 1;
  }
  must(entry<int(unsigned)>(library, "cuInit")(0), "cuInit");
  int device = 0;
  must(entry<int(int*, int)>(library, "cuDeviceGet")(&device, 0), "cuDeviceGet");
  void* context = nullptr;
  must(entry<int(void**, int)>(library, "cuDevicePrimaryCtxRetain")(&context, device), "context");
  must(entry<int(void*)>(library, "cuCtxSetCurrent")(context), "context");
  must(entry<int()>(library, "cuCtxSynchronize")(), "context");
  auto* load = entry<int(void**, const void*)>(library, "cuModuleLoadData");
  auto* find = entry<int(void**, void*, const char*)>(library, "cuModuleGetFunction");
  auto* unload = entry<int(void*)>(library, "cuModuleUnload");
  std::vector<double> times;
  for (int i = 0; i < rounds; ++i) {
    void *module = nullptr, *function = nullptr;
    const auto from = Clock::now();
    must(load(&module, image.c_str()), "cuModuleLoadData");
    must(find(&function, module, arguments[2]), "cuModuleGetFunction");
    times.push_back(std::chrono::duration<double, std::micro>(Clock::now() - from).count());
    must(unload(module), "cuModuleUnload");
  }
  const double first = times.front();
  std::sort(times.begin(), times.end());
  std::printf("%s: %zu bytes, first %.1f us, median %.1f us\n", arguments[1], image.size(), first,
              times[times.size() / 2]);
  return 0;
}
