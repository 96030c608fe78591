#include "commands/execution.h"

#include <algorithm>

#include "base/file.h"
#include "codeobject/codeobject.h"

namespace hipplan::commands {

DeviceTensors::~DeviceTensors() {
  for (const auto& tensor : addresses_) (void)device_.release(tensor.address);
  if (workspace_ != 0) (void)device_.release(workspace_);
}

Result<void> DeviceTensors::add(int64_t uid, ByteView content) {
  HIPPLAN_TRY_ASSIGN(const auto address, device_.allocate(content.size()));
  addresses_.push_back({uid, address});
  sizes_[uid] = content.size();
  return device_.copy_in(address, content);
}

Result<void> DeviceTensors::add_workspace(uint64_t bytes) {
  if (bytes == 0) return {};
  HIPPLAN_TRY_ASSIGN(workspace_, device_.allocate(bytes));
  HIPPLAN_TRY(device_.fill(workspace_, run::kPoison, bytes));
  return device_.mark_undefined(workspace_, bytes);
}

Result<void> DeviceTensors::mark_undefined(int64_t uid) {
  for (const auto& tensor : addresses_)
    if (tensor.uid == uid) return device_.mark_undefined(tensor.address, sizes_.at(uid));
  return {};
}

Result<Bytes> DeviceTensors::read(int64_t uid) const {
  for (const auto& tensor : addresses_) {
    if (tensor.uid != uid) continue;
    Bytes out(static_cast<size_t>(sizes_.at(uid)));
    HIPPLAN_TRY(device_.copy_out(out, tensor.address));
    return out;
  }
  return Error{.code = Code::internal, .reason = "unknown-uid", .what = cat("no tensor ", uid)};
}

std::optional<std::string> warning_on_not_finite(int64_t uid, const run::Comparison& result,
                                                 const std::string& against) {
  if (!result.pass || result.not_finite == 0) return std::nullopt;
  return cat("output ", uid, ": ", result.not_finite, " of ", result.elements,
             " elements are NaN or infinite; a pass against ", against,
             " says little about the kernel");
}

std::optional<std::string> note_on_loading(const plan::Plan& plan, const device::Device& device) {
  const auto is_ptx = [](const plan::KernelImage& image) {
    return image.code != nullptr && codeobject::kind_of(*image.code) == codeobject::CodeKind::ptx;
  };
  const auto& images = plan.payload.kernels;
  const auto ptx = std::find_if(images.begin(), images.end(), is_ptx);
  if (!device.name().starts_with("cuda:") || ptx == images.end()) return std::nullopt;
  return cat("the plan's code is PTX (", ptx->target,
             "): the driver compiles it when it is loaded, which takes long; baked out of kernels "
             "packed for ",
             device.description().arch.base, " it loads at once");
}

Result<graph::Graph> graph_of(const plan::Plan& plan, const std::string& graph_file) {
  std::string text = plan.graph, where = "graph in the plan";
  if (!graph_file.empty()) {
    HIPPLAN_TRY_ASSIGN(const auto bytes, read_file(graph_file, 64ull << 20));
    text = as_text(bytes);
    where = graph_file;
  }
  if (text.empty())
    return Error{.code = Code::bad_input,
                 .reason = "no-graph",
                 .where = "plan",
                 .what = "holds no graph, so its tensors' shapes and types are not known",
                 .advice = "give hipplan-run --graph the graph it was baked from"};
  HIPPLAN_TRY_ASSIGN(auto graph, graph::read_graph(text, where, {}, {}));
  const Digest key = graph::content_key(graph);
  if (key != plan.graph_key)
    return Error{.code = graph_file.empty() ? Code::damaged : Code::bad_input,
                 .reason = "graph-key",
                 .where = where,
                 .what = "is not the graph the plan was baked from",
                 .expected = "key " + plan.graph_key.hex(),
                 .found = key.hex()};
  return graph;
}

Result<void> add_tensors(DeviceTensors& tensors, const restore::Executable& executable,
                         const run::Buffers& inputs, const run::Buffers& poisoned) {
  for (const auto& binding : executable.prepared().bindings) {
    const auto& from = binding.written ? poisoned : inputs;
    const auto found = from.find(binding.uid);
    if (found == from.end())
      return Error{.code = Code::damaged,
                   .reason = "graph-plan",
                   .where = cat("tensor uid ", binding.uid),
                   .what = "the plan takes a tensor that is no external tensor of the graph"};
    if (found->second.size() < binding.min_bytes)
      return Error{.code = Code::damaged,
                   .reason = "graph-plan",
                   .where = cat("tensor uid ", binding.uid),
                   .what = "the plan touches more memory than the graph's tensor has",
                   .expected = cat("at most ", found->second.size(), " bytes"),
                   .found = cat(binding.min_bytes)};
    if (tensors.has(binding.uid)) continue;
    HIPPLAN_TRY(tensors.add(binding.uid, found->second));
    if (binding.written) HIPPLAN_TRY(tensors.mark_undefined(binding.uid));
  }
  return tensors.add_workspace(executable.prepared().workspace_bytes);
}

Result<run::Buffers> run_once(device::Device& device, const restore::Executable& executable,
                              const run::Buffers& inputs, const run::Buffers& poisoned) {
  DeviceTensors tensors(device);
  HIPPLAN_TRY(add_tensors(tensors, executable, inputs, poisoned));
  HIPPLAN_TRY(executable.execute(device, tensors.addresses(), tensors.workspace()));
  HIPPLAN_TRY(device.synchronize());
  run::Buffers out;
  for (const auto& binding : executable.prepared().bindings) {
    if (!binding.written) continue;
    HIPPLAN_TRY_ASSIGN(auto bytes, tensors.read(binding.uid));
    out[binding.uid] = std::move(bytes);
  }
  return out;
}

Result<std::vector<run::OutputComparison>> execute_and_judge(device::Device& device,
                                                             const restore::Executable& executable,
                                                             const graph::Graph& graph,
                                                             const run::Buffers& inputs,
                                                             const Judging& judging) {
  const run::Execute once = [&](const run::Buffers& poisoned) {
    return run_once(device, executable, inputs, poisoned);
  };
  const auto next = [&](const char* step) {
    return judging.next_step ? judging.next_step(step) : Result<void>{};
  };
  HIPPLAN_TRY(next(judging.twice ? "first run" : "run"));
  HIPPLAN_TRY_ASSIGN(const auto outputs, run::execute_once(graph, once));
  if (judging.ran_once) HIPPLAN_TRY(judging.ran_once(outputs));
  if (judging.twice) {
    HIPPLAN_TRY(next("second run"));
    HIPPLAN_TRY(run::execute_again(graph, once, outputs));
  }
  if (judging.judged) HIPPLAN_TRY(judging.judged());
  if (!judging.reference) return std::vector<run::OutputComparison>{};
  HIPPLAN_TRY(next("CPU reference"));
  return run::compare_with_reference(graph, inputs, outputs, judging.tolerance, judging.jobs);
}

}  // namespace hipplan::commands
