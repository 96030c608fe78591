#include <doctest/doctest.h>

#include <functional>

#include "baked.h"
#include "device/null.h"
#include "restore/restore.h"

using namespace hipplan;

namespace {

const plan::Plan& good_plan() {
  static const plan::Plan kPlan = test::baked_plan(test::sample_graph(), "gfx942");
  return kPlan;
}

/// A change to the plan and the reason it must be refused with.
struct Fault {
  const char* reason;
  std::function<void(plan::Plan&)> apply;
};

/// In the order of the checks.
const std::vector<Fault>& faults() {
  static const std::vector<Fault> kFaults = {
      {"runtime-pass-by-value", [](plan::Plan& p) { p.payload.runtime_pass_by_value_uids = {1}; }},
      {"engine", [](plan::Plan& p) { p.envelope.engine_id ^= 1; }},
      {"target", [](plan::Plan& p) { p.payload.kernels[0].target = "gfx1100"; }},
      {"handler", [](plan::Plan& p) { p.payload.dispatch = "hipplan.conv_fwd.dispatch.v99"; }},
      {"signature", [](plan::Plan& p) { p.payload.kernels[0].signature.pop_back(); }},
      {"launch-values", [](plan::Plan& p) { p.payload.values.pop_back(); }},
      {"envelope-payload", [](plan::Plan& p) { p.envelope.tensor_uids[0] += 1000; }},
  };
  return kFaults;
}

Result<engine::PreparedKernel> check(const plan::Plan& plan) {
  const auto arch = *target::Arch::parse("gfx942");
  return restore::check_usable(plan, restore::built_in_provider(), &arch);
}

std::unique_ptr<device::NullDevice> null_device(const std::string& target = "gfx942") {
  return std::make_unique<device::NullDevice>(test::target_of(target));
}

/// The catalogue's handler of good_plan(), whose kernel also wants a workspace.
class WithWorkspace final : public engine::DispatchHandler {
 public:
  static constexpr uint64_t kBytes = 1000;
  [[nodiscard]] std::string_view name() const override { return own().name(); }
  [[nodiscard]] std::string_view alias() const override { return own().alias(); }
  [[nodiscard]] const std::vector<engine::ValueRule>& contract() const override {
    return own().contract();
  }
  [[nodiscard]] std::vector<codeobject::Argument> signature(
      std::string_view launch_name) const override {
    return own().signature(launch_name);
  }
  Result<engine::PreparedKernel> prepare(const LaunchValues& values) const override {
    auto out = own().prepare(values);
    if (out.ok()) out->workspace_bytes = kBytes;
    return out;
  }
  static const engine::DispatchHandler* find(std::string_view) {
    static const WithWorkspace kHandler;
    return &kHandler;
  }

 private:
  static const engine::DispatchHandler& own() {
    return *engine::find_by_alias(good_plan().payload.dispatch);
  }
};

}  // namespace

TEST_CASE("a workspace that is missing or lies wrong is refused before the launch") {
  if (!test::have_kernels()) return;
  plan::Plan plan = good_plan();
  plan.envelope.workspace_size = WithWorkspace::kBytes;
  plan.payload.workspace_bytes = WithWorkspace::kBytes;
  restore::Provider provider = restore::built_in_provider();
  provider.find_handler = WithWorkspace::find;
  auto device = null_device();
  const auto executable = restore::Executable::create(plan, provider, *device);
  REQUIRE_MESSAGE(executable.ok(), (executable.ok() ? "" : executable.error().text()));
  std::vector<restore::TensorAddress> tensors;
  for (const auto& binding : (*executable)->prepared().bindings)
    tensors.push_back({binding.uid, 0x1000});
  const auto reason = [&](device::Address workspace) {
    const auto done = (*executable)->execute(*device, tensors, workspace);
    return done.ok() ? std::string() : done.error().reason;
  };
  CHECK(reason(0) == "null-workspace");
  CHECK(reason(0x1080) == "address-alignment");
  CHECK(reason(0x1100).empty());
}

TEST_CASE("a baked plan passes every check") {
  if (!test::have_kernels()) return;
  const auto checked = check(good_plan());
  REQUIRE_MESSAGE(checked.ok(), (checked.ok() ? "" : checked.error().text()));
  CHECK(checked->bindings.size() == 3);
  CHECK(restore::check_code(good_plan()).ok());
}

TEST_CASE("each fault is refused with its own reason") {
  if (!test::have_kernels()) return;
  for (const auto& fault : faults()) {
    plan::Plan plan = good_plan();
    fault.apply(plan);
    const auto checked = check(plan);
    REQUIRE_MESSAGE(!checked.ok(), fault.reason);
    CHECK_MESSAGE(checked.error().reason == fault.reason, checked.error().text());
  }
}

TEST_CASE("of two neighbouring faults the earlier check speaks") {
  if (!test::have_kernels()) return;
  for (size_t i = 0; i + 1 < faults().size(); ++i) {
    plan::Plan plan = good_plan();
    faults()[i + 1].apply(plan);
    faults()[i].apply(plan);
    const auto checked = check(plan);
    REQUIRE_FALSE(checked.ok());
    CHECK_MESSAGE(checked.error().reason == faults()[i].reason, checked.error().text());
  }
}

TEST_CASE("an unversioned handler name is told as such") {
  if (!test::have_kernels()) return;
  plan::Plan plan = good_plan();
  plan.payload.dispatch = "hipplan.conv_fwd.dispatch";
  const auto checked = check(plan);
  REQUIRE_FALSE(checked.ok());
  CHECK(checked.error().what.find("launch-value contract") != std::string::npos);
}

TEST_CASE("launch values: wrong type, out of range, extra, missing") {
  if (!test::have_kernels()) return;
  const auto refuse = [](const std::function<void(LaunchValues&)>& edit) {
    plan::Plan plan = good_plan();
    edit(plan.payload.values);
    const auto checked = check(plan);
    REQUIRE_FALSE(checked.ok());
    CHECK(checked.error().reason == "launch-values");
    CHECK(checked.error().code == Code::unusable);
  };
  refuse([](LaunchValues& v) { v[0].data = std::string("text"); });
  refuse([](LaunchValues& v) { v.push_back({"surplus", int64_t{1}}); });
  refuse([](LaunchValues& v) { v.erase(v.begin()); });
  refuse([](LaunchValues& v) { v.push_back(v.front()); });
}

TEST_CASE("code of another kind than packed needs the exact target") {
  if (!test::have_kernels()) return;
  plan::Plan plan = good_plan();
  const auto featured = *target::Arch::parse("gfx942:sramecc+:xnack-");
  CHECK(restore::check_target(plan, featured).ok());
  plan.payload.kernels[0].source_kind = plan::SourceKind::hsaco_file;
  CHECK_FALSE(restore::check_target(plan, featured).ok());
  CHECK(restore::check_target(plan, *target::Arch::parse("gfx942")).ok());
}

TEST_CASE("check_code reads the code object itself") {
  if (!test::have_kernels()) return;
  plan::Plan plan = good_plan();
  plan.payload.kernels[0].symbol = "no_such_kernel";
  CHECK(restore::check_code(plan).error().reason == "symbol");
  plan = good_plan();
  plan.payload.kernels[0].signature[0].size = 4;
  CHECK(restore::check_code(plan).error().reason == "code-signature");
  plan = good_plan();
  plan.payload.kernels[0].target = "gfx90a";
  CHECK(restore::check_code(plan).error().reason == "code-target");
  plan = good_plan();
  Bytes cut(plan.payload.kernels[0].code->begin(), plan.payload.kernels[0].code->begin() + 100);
  plan.payload.kernels[0].code = share(std::move(cut));
  CHECK(restore::check_code(plan).error().code == Code::damaged);
}

TEST_CASE("execution checks the caller's pointers and launches what the handler derived") {
  if (!test::have_kernels()) return;
  auto device = null_device();
  {
    const auto made =
        restore::Executable::create(good_plan(), restore::built_in_provider(), *device);
    REQUIRE_MESSAGE(made.ok(), (made.ok() ? "" : made.error().text()));
    const auto& executable = **made;
    std::vector<restore::TensorAddress> tensors;
    for (const auto& binding : executable.prepared().bindings)
      tensors.push_back({binding.uid, *device->allocate(binding.min_bytes)});
    REQUIRE(executable.execute(*device, tensors, 0).ok());
    REQUIRE(device->launches().size() == executable.prepared().launches.size());
    const auto launch = device->launches().front();
    CHECK(launch.grid == executable.prepared().launches[0].grid);
    for (const auto& patch : executable.prepared().launches[0].patches) {
      const auto value = load<uint64_t>(launch.arguments, patch.offset);
      REQUIRE(value.has_value());
      CHECK(*value == tensors[patch.binding].address + patch.add);
    }

    auto broken = tensors;
    broken[0].address = 0;
    CHECK(executable.execute(*device, broken, 0).error().reason == "missing-uid");
    broken = tensors;
    broken[0].address += 1;
    CHECK(executable.execute(*device, broken, 0).error().reason == "address-alignment");
    broken = tensors;
    broken.push_back(tensors[0]);
    CHECK(executable.execute(*device, broken, 0).error().reason == "duplicate-uid");
    broken = tensors;
    broken.pop_back();
    CHECK(executable.execute(*device, broken, 0).error().reason == "missing-uid");
    broken = tensors;
    broken.push_back({987654, tensors[0].address});
    CHECK(executable.execute(*device, broken, 0).error().reason == "unknown-uid");
    CHECK(device->launches().size() == executable.prepared().launches.size());

    auto other = null_device("gfx1100");
    CHECK(executable.execute(*other, tensors, 0).error().reason == "target");
  }
  CHECK(device->loaded_modules() == 0);
}

TEST_CASE("code that is no code object fails the restore and leaves nothing loaded") {
  if (!test::have_kernels()) return;
  plan::Plan plan = good_plan();
  Bytes text(64, std::byte{'x'});
  plan.payload.kernels[0].code = share(std::move(text));
  auto device = null_device();
  const auto made = restore::Executable::create(plan, restore::built_in_provider(), *device);
  REQUIRE_FALSE(made.ok());
  CHECK(made.error().code == Code::damaged);
  CHECK(device->loaded_modules() == 0);
}

TEST_CASE("the provider's engines are those of the descriptor sets") {
  if (!test::have_kernels()) return;
  pipeline::Catalog catalog(test::share_folder() / "kernels", 1);
  const auto set = catalog.descriptors(*target::Arch::parse("gfx942"), {});
  REQUIRE(set.ok());
  std::vector<std::string> names;
  for (const auto& engine : (*set)->engines) names.push_back(engine->name);
  std::sort(names.begin(), names.end());
  const auto& provider = restore::built_in_provider();
  CHECK(std::vector<std::string>(provider.engines.begin(), provider.engines.end()) == names);
  for (const auto& name : names) CHECK(provider.engine_name(engine_id(name)) == name);
  CHECK(provider.engine_name(42).empty());
}

TEST_CASE("restoring reads the decisions and the code, and no text that it does not need") {
  if (!test::have_kernels()) return;
  plan::Writer writer{plan::WriteOptions{}};
  REQUIRE(writer.add(good_plan()).ok());
  auto bytes = writer.to_bytes();
  REQUIRE(bytes.ok());
  const auto entry_of = [](const plan::File& file) {
    plan::EntryInfo out;
    REQUIRE(file.for_each([&](const plan::EntryInfo& entry) {
                  out = entry;
                  return false;
                })
                .ok());
    return out;
  };
  const auto file = plan::File::parse(*bytes, "whole", plan::Check::lookup);
  REQUIRE(file.ok());
  const auto entry = entry_of(*file);
  const auto plan = file->read_decisions(entry);
  REQUIRE(plan.ok());
  CHECK(plan::plan_digest(*plan) == plan::plan_digest(good_plan()));
  CHECK(same_bytes(*plan->payload.kernels[0].code, *good_plan().payload.kernels[0].code));
  CHECK(plan->reasons.empty());
  auto device = null_device();
  CHECK(restore::Executable::create(*plan, restore::built_in_provider(), *device).ok());

  // Damage in a text is found where the text is read, damage of the code always.
  const auto damage_in = [&](const char* section) {
    Bytes damaged = *bytes;
    for (const auto& info : file->sections())
      if (info.type == section)
        damaged[static_cast<size_t>(info.offset + info.stored_bytes / 2)] ^= std::byte{1};
    auto parsed = plan::File::parse(damaged, "damaged", plan::Check::lookup);
    REQUIRE(parsed.ok());
    return std::pair(parsed->read_decisions(entry).ok(), parsed->read_plan(entry, true).ok());
  };
  CHECK(damage_in("reasons") == std::pair(true, false));
  CHECK(damage_in("code") == std::pair(false, false));
}

TEST_CASE("a device that records no launches says so, and a plan still runs there") {
  if (!test::have_kernels()) return;
  auto device = null_device();
  const auto executable =
      restore::Executable::create(good_plan(), restore::built_in_provider(), *device);
  REQUIRE(executable.ok());
  std::vector<restore::TensorAddress> tensors;
  for (const auto& binding : (*executable)->prepared().bindings)
    tensors.push_back({binding.uid, 0x1000});
  const auto replay = (*executable)->record(*device, tensors, 0x1000);
  REQUIRE_FALSE(replay.ok());
  CHECK(replay.error().reason == "not-supported");
  tensors.pop_back();
  CHECK((*executable)->record(*device, tensors, 0x1000).error().reason == "missing-uid");
}
