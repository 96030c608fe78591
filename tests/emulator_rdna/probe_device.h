// An emulated device for one architecture and a code object loaded into it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "base/file.h"
#include "device/device.h"
#include "emulated_target.h"

namespace hipplan::test {

/// The folder that the build puts the probe's code objects into.
inline std::string code_object_path(const std::string& name) {
  return std::string(HIPPLAN_PROBE_FOLDER) + "/" + name + ".hsaco";
}

/// Buffers of one launch come back as vectors; every failure ends the test case.
class ProbeDevice {
 public:
  ProbeDevice(const std::string& arch, const std::string& code_object, bool wave64) {
    device::OpenOptions options;
    options.module_folder = HIPPLAN_MODULE_FOLDER;
    options.jobs = 1;
    auto description = emulated_target(arch);
    if (wave64) description.wavefront_size = 64;
    auto opened = device::open_emulator(description, options);
    if (!opened) FAIL(opened.error().text());
    device_ = std::move(opened).value();
    auto file = read_file(code_object_path(code_object));
    if (!file) FAIL(file.error().text());
    code_ = std::move(file).value();
    auto loaded = device_->load(code_);
    if (!loaded) FAIL(loaded.error().text());
    module_ = std::move(loaded).value();
  }

  [[nodiscard]] bool has(const std::string& kernel) { return module_->kernel(kernel).ok(); }

  device::Address upload(ByteView bytes) {
    const auto address = device_->allocate(bytes.size());
    if (!address) FAIL(address.error().text());
    check(device_->copy_in(*address, bytes));
    return *address;
  }
  template <class T>
  device::Address upload(const std::vector<T>& values) {
    return upload(std::as_bytes(std::span(values)));
  }
  template <class T>
  std::vector<T> download(device::Address from, size_t count) {
    std::vector<T> out(count);
    check(device_->copy_out(std::as_writable_bytes(std::span(out)), from));
    return out;
  }
  /// Arguments one after the other, each aligned to its size.
  template <class... Args>
  void launch(const std::string& kernel, uint32_t groups, uint32_t items, const Args&... args) {
    Bytes arguments;
    (put(arguments, args), ...);
    const auto found = module_->kernel(kernel);
    if (!found) FAIL(found.error().text());
    device::Launch launch;
    launch.grid.x = groups;
    launch.block.x = items;
    launch.arguments = arguments;
    check(device_->launch(**found, launch));
    check(device_->synchronize());
  }
  [[nodiscard]] device::Counters counters() const { return device_->counters(); }

 private:
  template <class T>
  static void put(Bytes& to, const T& value) {
    while (to.size() % sizeof(T) != 0) to.push_back(std::byte{0});
    append(to, value);
  }
  static void check(const Result<void>& result) {
    if (!result) FAIL(result.error().text());
  }

  Bytes code_;
  std::unique_ptr<device::Device> device_;
  std::unique_ptr<device::Module> module_;
};

}  // namespace hipplan::test
