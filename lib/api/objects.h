// The objects behind the C interface's handles.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "api/saved_bytes.h"
#include "device/device.h"
#include "plan/plan.h"
#include "restore/restore.h"

struct hipplan_file {
  hipplan::plan::File file;
};

struct hipplan_plan {
  explicit hipplan_plan(hipplan::plan::Plan what)
      : plan(std::move(what)), graph_key(plan.target.empty() ? "" : plan.graph_key.hex()) {}
  hipplan::plan::Plan plan;
  std::string graph_key;  ///< hexadecimal digits; empty for an envelope that does not say
  /// Bytes of the bare envelope: those it was loaded from, or made by the first save that succeeds.
  mutable hipplan::api::SavedBytes envelope;
};

struct hipplan_device {
  explicit hipplan_device(std::unique_ptr<hipplan::device::Device> opened)
      : device(std::move(opened)), arch(device->description().arch.text()) {}
  std::unique_ptr<hipplan::device::Device> device;
  std::string arch;
};

struct hipplan_executable {
  std::shared_ptr<const hipplan::restore::Executable> executable;
};
