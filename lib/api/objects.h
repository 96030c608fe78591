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
  explicit hipplan_plan(hipplan::plan::Plan what, bool has_key = true)
      : plan(std::move(what)), has_graph_key(has_key) {
    if (has_key) graph_key = plan.graph_key.hex();
  }
  hipplan::plan::Plan plan;
  bool has_graph_key;     ///< false for a bare envelope
  std::string graph_key;  ///< in hexadecimal digits; empty without
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
