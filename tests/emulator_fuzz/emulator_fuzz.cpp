// Runs generated programs on an emulated GPU and on the host, and compares to the bit.
//   emulator_fuzz MODULE_FOLDER ARCH CODE_OBJECT HOST_LIBRARY
//   emulator_fuzz --pack BUNDLE ARCH CODE_OBJECT HOST_LIBRARY   append programs and the host's
//   answers emulator_fuzz --run BUNDLE MODULE_FOLDER JOBS               run all of them, without a
//   compiler
// Prints each disagreement with program, item and value (from a bundle: with program and record);
// exit status 1 when there is one.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <span>
#include <string>

#include "base/file.h"
#include "base/parallel.h"
#include "base/shared_library.h"
#include "bundle.h"
#include "device/device.h"
#include "emulated_target.h"

namespace {

using namespace hipplan;

constexpr uint32_t kItems = 128, kGroups = 2, kInputs = 1024, kValues = 14, kFirstFloat = 10;

template <class T>
T need(Result<T> result) {
  if (result) return std::move(result).value();
  std::fprintf(stderr, "emulator_fuzz: %s\n", result.error().text().c_str());
  std::exit(2);
}
void need(const Result<void>& result) {
  if (result) return;
  std::fprintf(stderr, "emulator_fuzz: %s\n", result.error().text().c_str());
  std::exit(2);
}

std::vector<uint32_t> inputs() {
  std::vector<uint32_t> out(kInputs);
  constexpr uint32_t kEdges[] = {0, 1, 0x80000000, 0xffffffff, 0x7fffffff, 0x3f800000, 31, 0xffff};
  uint32_t x = 12345;
  for (size_t i = 0; i < out.size(); ++i) {
    x ^= x << 13, x ^= x >> 17, x ^= x << 5;
    out[i] = i % 11 == 0 ? kEdges[x % 8] : x;
  }
  return out;
}

class Fuzz {
 public:
  Fuzz(const std::string& modules, const std::string& arch, ByteView code) {
    device::OpenOptions options;
    options.module_folder = modules;
    options.check_races = options.check_uninitialized = true;
    options.schedule_seed = 3;
    device_ = need(device::open_emulator(test::emulated_target(arch), options));
    module_ = need(device_->load(code));
    in_ = need(device_->allocate(kInputs * 4));
    out_ = need(device_->allocate(kGroups * kItems * kValues * 4));
    need(device_->copy_in(in_, std::as_bytes(std::span(data_))));
  }

  /// Results of one program; nothing when the code object has no such program.
  std::vector<uint32_t> on_gpu(const std::string& name) {
    const auto kernel = module_->kernel(name);
    if (!kernel) return {};
    Bytes arguments;
    append(arguments, out_);
    append(arguments, in_);
    need(device_->launch(**kernel, {{kGroups}, {kItems}, 0, arguments}));
    std::vector<uint32_t> got(kGroups * kItems * kValues);
    need(device_->copy_out(std::as_writable_bytes(std::span(got)), out_));
    return got;
  }
  [[nodiscard]] const std::vector<uint32_t>& data() const { return data_; }

 private:
  std::vector<uint32_t> data_ = inputs();
  std::unique_ptr<device::Device> device_;
  std::unique_ptr<device::Module> module_;
  device::Address in_ = 0, out_ = 0;
};

/// Whether two values agree: floats that are NaN may differ in their bits.
bool agree(uint32_t a, uint32_t b, size_t value) {
  const auto nan = [](uint32_t x) { return (x & 0x7fffffffu) > 0x7f800000u; };
  return a == b || (value >= kFirstFloat && nan(a) && nan(b));
}

using HostProgram = void(uint32_t*, const uint32_t*, uint32_t);

std::vector<uint32_t> on_host(HostProgram* run, const std::vector<uint32_t>& data) {
  std::vector<uint32_t> out(kGroups * kItems * kValues);
  for (uint32_t group = 0; group < kGroups; ++group) run(out.data(), data.data(), group);
  return out;
}

std::string name_of(size_t program) {
  return "program_" + std::to_string(program);
}

int compare(const std::string& modules, const std::string& arch, const std::string& code,
            const std::string& library) {
  Fuzz fuzz(modules, arch, need(read_file(code)));
  const auto host = need(SharedLibrary::open(library));
  unsigned programs = 0, wrong = 0;
  for (;; ++programs) {
    const std::string name = name_of(programs);
    const auto got = fuzz.on_gpu(name);
    if (got.empty()) break;
    auto* run = host.function<HostProgram>(name.c_str());
    if (run == nullptr) break;
    const auto want = on_host(run, fuzz.data());
    for (size_t i = 0; i < got.size(); ++i) {
      if (agree(got[i], want[i], i % kValues)) continue;
      std::printf("%s: item %zu, value %zu: got 0x%x, expected 0x%x\n", name.c_str(), i / kValues,
                  i % kValues, got[i], want[i]);
      ++wrong;
      break;
    }
  }
  std::printf("%s: %u programs, %u disagree\n", arch.c_str(), programs, wrong);
  return wrong != 0 || programs == 0 ? 1 : 0;
}

int pack(const std::string& bundle, const std::string& arch, const std::string& code,
         const std::string& library) {
  fuzz::Record record{arch, need(read_file(code)), {}};
  const auto host = need(SharedLibrary::open(library));
  const auto data = inputs();
  for (;;) {
    auto* run = host.function<HostProgram>(name_of(record.answers.size()).c_str());
    if (run == nullptr) break;
    record.answers.push_back(fuzz::digest_of(on_host(run, data), kValues, kFirstFloat));
  }
  Bytes bytes;
  fuzz::append_record(bytes, record);
  std::ofstream out(bundle, std::ios::binary | std::ios::app);
  out.write(reinterpret_cast<const char*>(bytes.data()),
            static_cast<std::streamsize>(bytes.size()));
  return out ? 0 : 2;
}

int run_bundle(const std::string& bundle, const std::string& modules, unsigned jobs) {
  const auto records = need(fuzz::read_records(need(read_file(bundle))));
  std::atomic<unsigned> programs{0}, wrong{0};
  parallel_for(records.size(), jobs, [&](size_t at) {
    const fuzz::Record& record = records[at];
    Fuzz fuzz(modules, record.arch, record.code);
    for (size_t i = 0; i < record.answers.size(); ++i, ++programs) {
      const auto got = fuzz.on_gpu(name_of(i));
      if (!got.empty() && fuzz::digest_of(got, kValues, kFirstFloat) == record.answers[i]) continue;
      std::printf("record %zu, %s: %s disagrees\n", at, record.arch.c_str(), name_of(i).c_str());
      ++wrong;
    }
  });
  std::printf("%zu records, %u programs, %u disagree\n", records.size(), programs.load(),
              wrong.load());
  return wrong != 0 || programs == 0 ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  if (mode == "--pack" && argc == 6) return pack(argv[2], argv[3], argv[4], argv[5]);
  if (mode == "--run" && argc == 5)
    return run_bundle(argv[2], argv[3], static_cast<unsigned>(std::strtoul(argv[4], nullptr, 10)));
  if (argc == 5) return compare(argv[1], argv[2], argv[3], argv[4]);
  std::fprintf(stderr,
               "usage: emulator_fuzz MODULE_FOLDER ARCH CODE_OBJECT HOST_LIBRARY\n"
               "       emulator_fuzz --pack BUNDLE ARCH CODE_OBJECT HOST_LIBRARY\n"
               "       emulator_fuzz --run BUNDLE MODULE_FOLDER JOBS\n");
  return 2;
}
