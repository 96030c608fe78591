#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <mutex>

#include "base/hex.h"
#include "restore/restore.h"

namespace hipplan::restore {
namespace {

/// The kernels of one plan on one device, in the order of its launches.
struct Loaded {
  std::vector<std::unique_ptr<device::Module>> modules;
  std::vector<const device::Kernel*> kernels;
};

const plan::KernelImage* image_of(const plan::Plan& plan, const std::string& launch_name) {
  for (const auto& image : plan.payload.kernels)
    if (image.launch_name == launch_name) return &image;
  return nullptr;
}

Result<std::unique_ptr<device::Module>> load_code(device::Device& device, const Digest& digest,
                                                  ByteView code, const ParsedCode* parsed) {
  if (parsed != nullptr)
    if (const auto known = parsed->find(digest); known != parsed->end())
      return device.load(code, known->second);
  return device.load(code);
}

/// One module per distinct code object, however many launches share it. `parsed` may be null.
Result<Loaded> load_on(device::Device& device, const plan::Plan& plan,
                       const engine::PreparedKernel& prepared, const ParsedCode* parsed) {
  Loaded out;
  std::map<Digest, device::Module*> by_code;
  for (const auto& launch : prepared.launches) {
    const auto* image = image_of(plan, launch.launch_name);
    if (image == nullptr || !image->code)
      return Error{.code = Code::internal,
                   .reason = "no-code",
                   .where = device.name(),
                   .what = "launch '" + launch.launch_name + "' has no code object"};
    device::Module*& module = by_code[image->sha256];
    if (module == nullptr) {
      auto loaded = load_code(device, image->sha256, *image->code, parsed);
      if (!loaded) return loaded.error().within("kernel " + image->symbol);
      module = loaded->get();
      out.modules.push_back(std::move(loaded).value());
    }
    auto kernel = module->kernel(image->symbol);
    if (!kernel) return kernel.error();
    out.kernels.push_back(*kernel);
  }
  return out;
}

Error bad_argument(std::string reason, std::string where, std::string what) {
  return {.code = Code::bad_input,
          .reason = std::move(reason),
          .where = std::move(where),
          .what = std::move(what)};
}
Error bad_tensor(std::string reason, int64_t uid, std::string what) {
  return bad_argument(std::move(reason), cat("tensor uid ", uid), std::move(what));
}
Error unaligned(std::string where, device::Address address, uint64_t alignment) {
  Error error = bad_argument("address-alignment", std::move(where), "address is not aligned");
  error.expected = cat("a multiple of ", alignment, " bytes");
  error.found = hex(address);
  return error;
}

/// What every kernel may expect of the workspace's address, as of any memory of a device.
constexpr uint64_t kWorkspaceAlignment = 256;

/// Argument bytes of one launch with the call's addresses in them; small ones need no memory of
/// their own.
class ArgumentBlock {
 public:
  ByteView fill(const engine::PreparedLaunch& launch, std::span<const device::Address> address,
                device::Address workspace) {
    std::byte* at = small_.data();
    if (launch.arguments.size() > small_.size()) {
      large_.resize(launch.arguments.size());
      at = large_.data();
    }
    if (!launch.arguments.empty())
      std::memcpy(at, launch.arguments.data(), launch.arguments.size());
    for (const auto& patch : launch.patches) {
      const bool own = patch.binding == engine::PreparedLaunch::kWorkspace;
      const device::Address value = (own ? workspace : address[patch.binding]) + patch.add;
      std::memcpy(at + patch.offset, &value, sizeof(value));
    }
    return {at, launch.arguments.size()};
  }

 private:
  std::array<std::byte, 512> small_;  // filled before it is read
  Bytes large_;
};

/// One address for each binding of a plan, in their order.
class Addresses {
 public:
  explicit Addresses(size_t count) : count_(count) {
    if (count > small_.size()) large_.resize(count);
  }
  std::span<device::Address> view() {
    return {large_.empty() ? small_.data() : large_.data(), count_};
  }

 private:
  size_t count_;
  std::array<device::Address, 32> small_{};
  std::vector<device::Address> large_;
};

}  // namespace

struct Executable::State {
  plan::Plan plan;
  engine::PreparedKernel prepared;
  std::vector<uint64_t> alignment;  ///< per binding, from the envelope

  /// One device's modules. A refusal lasts; a failure of the machine is tried again.
  struct Slot {
    std::mutex mutex;
    std::optional<Result<Loaded>> loaded;
  };
  std::mutex mutex;
  std::map<device::Device*, std::unique_ptr<Slot>> slots;
  /// The device it was restored for, whose modules are there from the start: no lock on the way.
  const device::Device* first_device = nullptr;
  const Loaded* first_loaded = nullptr;

  Result<const Loaded*> on(device::Device& device, const ParsedCode* parsed = nullptr) {
    if (&device == first_device) return first_loaded;
    Slot* slot = nullptr;
    {
      const std::lock_guard lock(mutex);
      auto& entry = slots[&device];
      if (!entry) entry = std::make_unique<Slot>();
      slot = entry.get();
    }
    const std::lock_guard lock(slot->mutex);
    const bool settled = slot->loaded && (slot->loaded->ok() ||
                                          slot->loaded->error().code != hipplan::Code::machine);
    if (!settled) {
      if (auto fits = check_target(plan, device.description().arch); !fits)
        slot->loaded.emplace(fits.error());
      else
        slot->loaded.emplace(load_on(device, plan, prepared, parsed));
    }
    if (!slot->loaded->ok()) return slot->loaded->error();
    return &slot->loaded->value();
  }

  Result<void> place(std::span<const TensorAddress> tensors, std::span<device::Address> address,
                     device::Address workspace) const;
};

/// Puts the caller's addresses in the order of the bindings, and checks them.
Result<void> Executable::State::place(std::span<const TensorAddress> tensors,
                                      std::span<device::Address> address,
                                      device::Address workspace) const {
  for (const auto& tensor : tensors) {
    // A tensor may stand in several roles: each has a binding of its own.
    bool known = false;
    for (size_t i = 0; i < prepared.bindings.size(); ++i) {
      if (prepared.bindings[i].uid != tensor.uid) continue;
      if (address[i] != 0) return bad_tensor("duplicate-uid", tensor.uid, "is given twice");
      address[i] = tensor.address;
      known = true;
    }
    if (!known) return bad_tensor("unknown-uid", tensor.uid, "is not a tensor of this plan");
  }
  for (size_t i = 0; i < address.size(); ++i) {
    const int64_t uid = prepared.bindings[i].uid;
    if (address[i] == 0) return bad_tensor("missing-uid", uid, "has no address, or a null one");
    if (address[i] % alignment[i] != 0)
      return unaligned(cat("tensor uid ", uid), address[i], alignment[i]);
  }
  if (prepared.workspace_bytes == 0) return {};
  if (workspace == 0) {
    Error error = bad_argument("null-workspace", "workspace", "is null");
    error.expected = cat(prepared.workspace_bytes, " bytes");
    return error;
  }
  if (workspace % kWorkspaceAlignment != 0)
    return unaligned("workspace", workspace, kWorkspaceAlignment);
  return {};
}

Executable::Executable(std::unique_ptr<State> state) : state_(std::move(state)) {}
Executable::~Executable() = default;

const plan::Plan& Executable::plan() const {
  return state_->plan;
}
const engine::PreparedKernel& Executable::prepared() const {
  return state_->prepared;
}

Result<std::shared_ptr<const Executable>> Executable::create(plan::Plan plan,
                                                             const Provider& provider,
                                                             device::Device& device) {
  const auto code = check_code(plan);
  HIPPLAN_TRY_ASSIGN(auto prepared, check_restorable(plan, provider, &device.description().arch,
                                                     code ? nullptr : &code.error()));
  return load(std::move(plan), std::move(prepared), device, *code);
}

Result<std::shared_ptr<const Executable>> Executable::load(plan::Plan plan,
                                                           engine::PreparedKernel prepared,
                                                           device::Device& device,
                                                           const ParsedCode& code) {
  auto state = std::make_unique<State>();
  for (const auto& binding : prepared.bindings) {
    int64_t needed = binding.min_alignment;
    for (size_t i = 0; i < plan.envelope.tensor_uids.size(); ++i)
      if (plan.envelope.tensor_uids[i] == binding.uid && i < plan.envelope.tensor_alignments.size())
        needed = std::max(needed, plan.envelope.tensor_alignments[i]);
    state->alignment.push_back(static_cast<uint64_t>(std::max<int64_t>(needed, 1)));
  }
  state->plan = std::move(plan);
  state->prepared = std::move(prepared);
  HIPPLAN_TRY_ASSIGN(state->first_loaded, state->on(device, &code));
  state->first_device = &device;
  return std::shared_ptr<const Executable>(new Executable(std::move(state)));
}

Result<void> Executable::execute(device::Device& device, std::span<const TensorAddress> tensors,
                                 device::Address workspace) const {
  const auto& prepared = state_->prepared;
  Addresses address(prepared.bindings.size());
  HIPPLAN_TRY(state_->place(tensors, address.view(), workspace));
  HIPPLAN_TRY_ASSIGN(const Loaded* loaded, state_->on(device));
  ArgumentBlock arguments;
  for (size_t i = 0; i < prepared.launches.size(); ++i) {
    const auto& launch = prepared.launches[i];
    HIPPLAN_TRY(
        device.launch(*loaded->kernels[i], {launch.grid, launch.block, launch.dynamic_lds_bytes,
                                            arguments.fill(launch, address.view(), workspace)}));
  }
  return {};
}

Result<std::unique_ptr<device::Replay>> Executable::record(device::Device& device,
                                                           std::span<const TensorAddress> tensors,
                                                           device::Address workspace) const {
  const auto& prepared = state_->prepared;
  Addresses address(prepared.bindings.size());
  HIPPLAN_TRY(state_->place(tensors, address.view(), workspace));
  HIPPLAN_TRY_ASSIGN(const Loaded* loaded, state_->on(device));
  std::vector<ArgumentBlock> arguments(prepared.launches.size());
  std::vector<device::KernelLaunch> launches;
  for (size_t i = 0; i < prepared.launches.size(); ++i) {
    const auto& launch = prepared.launches[i];
    launches.push_back({loaded->kernels[i],
                        {launch.grid, launch.block, launch.dynamic_lds_bytes,
                         arguments[i].fill(launch, address.view(), workspace)}});
  }
  return device.make_replay(launches);
}

}  // namespace hipplan::restore
