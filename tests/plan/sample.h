// Plans made up for tests: small, complete, different for different numbers.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/file.h"
#include "plan/plan.h"

namespace hipplan::test {

/// Bytes that compress somewhat, like machine code does.
inline plan::Code sample_code(unsigned seed, size_t size = 3000) {
  static std::map<std::pair<unsigned, size_t>, plan::Code> made;
  auto& held = made[{seed, size}];
  if (held) return held;
  Bytes out(size);
  uint32_t state = seed * 2654435761u + 1;
  for (size_t i = 0; i < size; ++i) {
    state = state * 1664525u + 1013904223u;
    out[i] = std::byte(i % 4 == 3 ? 0xbf : (state >> 24) & 0x3f);
  }
  return held = share(std::move(out));
}

inline Digest sample_key(unsigned number) {
  return sha256(as_bytes("graph " + std::to_string(number)));
}

inline plan::KernelImage sample_kernel(const std::string& launch, const plan::Code& code) {
  plan::KernelImage kernel;
  kernel.launch_name = launch;
  kernel.source_kind = plan::SourceKind::kpack;
  kernel.symbol = "conv_fwd_64";
  kernel.target = "gfx942";
  kernel.sha256 = sha256(*code);
  kernel.signature = {
      {"global_buffer", 8, 0, "x"}, {"by_value", 4, 8, ""}, {"by_value", 8, 16, "n"}};
  kernel.code = code;
  return kernel;
}

/// Plan number `number`; every fourth shares its code, every plan has its own graph.
inline plan::Plan sample_plan(unsigned number, const std::string& target = "gfx942") {
  plan::Plan out;
  out.graph_key = sample_key(number);
  out.target = target;
  out.payload.engine_name = "hipplan:ConvFwd";
  out.payload.kernel_id = Uuid::from_name("kernel");
  out.payload.kernel_name = "conv forward 64";
  out.payload.workspace_bytes = 1024 + number;
  out.payload.dispatch = "hipplan.conv_fwd.dispatch.v1";
  out.payload.values = {{"block_size", int64_t{64}},
                        {"scale", 0.125},
                        {"causal", false},
                        {"stride_layout", std::string("bshd")},
                        {"pads", std::vector<int64_t>{1, -1, int64_t{number}}}};
  out.payload.kernels = {sample_kernel("", sample_code(number % 4))};
  out.payload.provider_version = "0.1.0";
  out.envelope.engine_id = engine_id(out.payload.engine_name);
  out.envelope.workspace_size = static_cast<int64_t>(out.payload.workspace_bytes);
  out.envelope.tensor_uids = {1, 2, -3};
  out.envelope.tensor_alignments = {16, 16, 256};
  out.envelope.provider_name = "hipplan";
  out.envelope.provider_version = "0.1.0";
  out.graph = "{\"name\":\"graph " + std::to_string(number) + "\",\"tensors\":[1,2,3,4,5,6,7,8,9]}";
  out.reasons =
      "{\"selected\":\"priority\",\"candidates\":[\"a\",\"a\",\"a\",\"a\",\"a\",\"a\",\"a\"]}";
  return out;
}

/// A plan with little code and texts of a few KB that are much like those of other numbers, so that
/// a few of them are worth a group.
inline plan::Plan wordy_plan(unsigned number, const std::string& target = "gfx942") {
  auto out = sample_plan(number, target);
  out.payload.kernels = {sample_kernel("", sample_code(number % 2, 48))};
  std::string common;
  uint32_t state = 1;
  for (unsigned i = 0; i < 1500; ++i) {
    state = state * 1664525u + 1013904223u;
    common += "0123456789abcdef"[state >> 28];
  }
  const std::string name = std::to_string(number);
  out.graph = "{\"name\":\"graph " + name + "\",\"tensors\":\"" + common + "\"}";
  out.reasons = "{\"graph\":" + name + ",\"target\":\"" + target + "\",\"all\":\"" + common + "\"}";
  return out;
}

/// A plan with two launches that share one code object, and every text filled.
inline plan::Plan full_plan() {
  auto out = sample_plan(7, "gfx942:sramecc+:xnack-");
  const auto code = sample_code(50), other = sample_code(51, 700);
  out.payload.kernels = {sample_kernel("main", code), sample_kernel("reduce", code),
                         sample_kernel("finish", other)};
  out.measurements = "{\"time_ms\":[0.1,0.2]}";
  out.evidence = "{\"seed\":1}";
  out.provenance = "{\"compiler\":\"clang\"}";
  return out;
}

inline Bytes file_of(const std::vector<plan::Plan>& plans, plan::WriteOptions options = {}) {
  plan::Writer writer(options);
  for (const auto& plan : plans)
    if (!writer.add(plan)) return {};
  auto bytes = writer.to_bytes();
  return bytes ? *bytes : Bytes();
}

/// A file of its own for each test program, removed at the end.
class ScratchFolder {
 public:
  ScratchFolder() {
    path_ = std::filesystem::temp_directory_path() /
            ("hipplan-test-plan-" + std::to_string(::getpid()) + "-" + std::to_string(counter()++));
    std::filesystem::create_directories(path_);
  }
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] std::filesystem::path operator/(const std::string& name) const {
    return path_ / name;
  }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  static unsigned& counter() {
    static unsigned value = 0;
    return value;
  }
  std::filesystem::path path_;
};

/// All entries of a file, in order; throws when its index is damaged.
inline std::vector<plan::EntryInfo> entries_of(const plan::File& file) {
  std::vector<plan::EntryInfo> out;
  const auto read = file.for_each([&](const plan::EntryInfo& entry) {
    out.push_back(entry);
    return true;
  });
  if (!read) throw std::runtime_error(read.error().text());
  return out;
}

/// Opens bytes as a file.
inline Result<plan::File> open_bytes(const Bytes& bytes, plan::Check check = plan::Check::full) {
  return plan::File::parse(bytes, "test.hplan", check);
}

}  // namespace hipplan::test
