// The objects behind the C interface's handles.
#pragma once

#include <memory>

#include "api/saved_bytes.h"
#include "device/device.h"
#include "plan/plan.h"
#include "restore/restore.h"

struct hipplan_file {
  hipplan::plan::File file;
};

struct hipplan_plan {
  hipplan::plan::Plan plan;
  bool has_graph_key = true;  ///< false for a bare envelope
  /// Bytes of the bare envelope: those it was loaded from, or made by the first save that succeeds.
  mutable hipplan::api::SavedBytes envelope;
};

struct hipplan_device {
  std::unique_ptr<hipplan::device::Device> device;
};

struct hipplan_executable {
  std::shared_ptr<const hipplan::restore::Executable> executable;
};
