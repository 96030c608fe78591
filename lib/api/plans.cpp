// C interface: baking, files, bytes.
#include <cstring>

#include "api/fence.h"
#include "api/objects.h"
#include "api/options.h"
#include "commands/baking.h"
#include "commands/plans.h"
#include "commands/targets.h"
#include "hipplan/hipplan.h"
#include "pipeline/pipeline.h"

namespace hipplan::api {
namespace {

/// The two-call rule: null asks for the size, too small says what is needed.
Result<void> hand_out(ByteView bytes, void* buffer, size_t* size) {
  if (size == nullptr) return null_argument("size");
  const size_t room = *size;
  *size = bytes.size();
  if (buffer == nullptr) return {};
  if (room < bytes.size())
    return Error{.code = Code::bad_input,
                 .reason = "buffer-size",
                 .where = "buffer",
                 .what = "is too small",
                 .expected = cat(bytes.size(), " bytes"),
                 .found = cat(room)};
  std::memcpy(buffer, bytes.data(), bytes.size());
  return {};
}

Result<Bytes> make_envelope(const hipplan_plan& plan) {
  if (!plan.graph_key.empty()) return plan::encode_bare_plan(plan.plan);
  HIPPLAN_TRY_ASSIGN(const auto payload, plan::encode_payload(plan.plan.payload));
  return plan::encode_envelope(plan.plan.envelope, payload);
}

/// The function has no argument that names a data folder.
Error without_data_folder(Error error, const std::string& target) {
  if (error.reason != "data-folder") return error;
  return {.code = Code::bad_input,
          .reason = "unknown-target",
          .where = "target '" + target.substr(0, 80) + "'",
          .what = "is not known",
          .advice = "name it by its architecture, for instance gfx942"};
}

Result<void> bake_into(const hipplan_bake_options& options, hipplan_plan** out) {
  hipplan_tool_io raw{};
  raw.struct_size = sizeof(raw);
  raw.data_folder = options.data_folder;
  const commands::Io io(raw);
  HIPPLAN_TRY_ASSIGN(const auto target, commands::find_target(options.target, io));
  HIPPLAN_TRY_ASSIGN(const auto graph,
                     graph::read_graph({options.graph_json, options.graph_size}, "graph", {}, {}));
  pipeline::Catalog catalog(commands::kernels_folder(io), 1);
  capture::Capturer capturer;
  select::Request request;
  request.engine = commands::text_or_empty(options.engine);
  HIPPLAN_TRY_ASSIGN(
      auto baked,
      pipeline::bake(graph, target, catalog, capturer,
                     commands::bake_options(request, options.plan_only == 0), {}, nullptr));
  *out = new hipplan_plan(std::move(baked.plan));
  return {};
}

/// Of several plans, what gives their keys and targets.
Error with_listing(Error error, const plan::File& file) {
  const bool of_choice = error.reason == "no-such-plan" || error.reason == "ambiguous-plan" ||
                         error.reason == "target";
  if (of_choice && file.entry_count() > 1)
    error.advice += cat(error.advice.empty() ? "" : "; ", "hipplan_file_list tells all ",
                        file.entry_count(), " plans");
  return error;
}

/// The bytes may be a mapping that others change: what is judged is the digest that `file` holds,
/// which everything it reads is checked against.
Result<void> require_signed(const plan::File& file, const std::string& trust_folder,
                            ByteView detached) {
  HIPPLAN_TRY_ASSIGN(const auto trust, commands::load_trust(trust_folder));
  HIPPLAN_TRY_ASSIGN(auto signatures, plan::read_signatures(file.bytes(), detached, file.where()));
  signatures.directory_digest = file.directory_digest();
  HIPPLAN_TRY(plan::require_signed(signatures, trust.keys, trust.now, file.where()));
  return {};
}

}  // namespace
}  // namespace hipplan::api

using hipplan::Result;
using hipplan::api::fenced;
using hipplan::api::null_argument;
using hipplan::api::taken;

extern "C" {

hipplan_status hipplan_bake(const hipplan_bake_options* options, hipplan_plan** plan) {
  return fenced([&]() -> Result<void> {
    if (options == nullptr || plan == nullptr) return null_argument(plan ? "options" : "plan");
    HIPPLAN_TRY_ASSIGN(const auto own, taken(options, "options"));
    if (own.graph_json == nullptr || own.target == nullptr)
      return null_argument(own.target ? "graph_json" : "target");
    return hipplan::api::bake_into(own, plan);
  });
}

hipplan_status hipplan_file_open(const char* path, hipplan_file** file) {
  return fenced([&]() -> Result<void> {
    if (path == nullptr || file == nullptr) return null_argument(file ? "path" : "file");
    HIPPLAN_TRY_ASSIGN(auto opened,
                       hipplan::commands::open_file(path, hipplan::plan::Check::lookup));
    *file = new hipplan_file{std::move(opened)};
    return {};
  });
}

hipplan_status hipplan_file_from_bytes(const void* bytes, size_t size, hipplan_file** file) {
  return fenced([&]() -> Result<void> {
    if (bytes == nullptr || file == nullptr) return null_argument(file ? "bytes" : "file");
    const auto* first = static_cast<const std::byte*>(bytes);
    HIPPLAN_TRY_ASSIGN(auto opened, hipplan::plan::File::parse(
                                        hipplan::FileView::own(hipplan::Bytes(first, first + size)),
                                        "plan bytes", hipplan::plan::Check::lookup));
    *file = new hipplan_file{std::move(opened)};
    return {};
  });
}

void hipplan_file_destroy(hipplan_file* file) {
  delete file;
}

hipplan_status hipplan_file_require_signed(const hipplan_file* file, const char* trust_folder,
                                           const void* detached, size_t detached_size) {
  return fenced([&]() -> Result<void> {
    if (file == nullptr || trust_folder == nullptr)
      return null_argument(file ? "trust_folder" : "file");
    if (detached == nullptr && detached_size != 0) return null_argument("detached");
    if (detached != nullptr && detached_size == 0)
      return hipplan::Error{.code = hipplan::Code::damaged,
                            .reason = "signature-block",
                            .where = "detached",
                            .what = "is empty",
                            .expected = "a signature block, or null for none"};
    const hipplan::ByteView signature(static_cast<const std::byte*>(detached), detached_size);
    return hipplan::api::require_signed(file->file, trust_folder, signature);
  });
}

uint64_t hipplan_file_plan_count(const hipplan_file* file) {
  return file == nullptr ? 0 : file->file.entry_count();
}

hipplan_status hipplan_file_list(const hipplan_file* file, hipplan_file_visit visit, void* user) {
  return fenced([&]() -> Result<void> {
    if (file == nullptr || visit == nullptr) return null_argument(file ? "visit" : "file");
    HIPPLAN_TRY(file->file.for_each([&](const hipplan::plan::EntryInfo& entry) {
      return visit(user, entry.graph_key.hex().c_str(), entry.target.c_str()) == 0;
    }));
    return {};
  });
}

hipplan_status hipplan_file_find(const hipplan_file* file, const char* graph_key,
                                 const char* target, hipplan_plan** plan) {
  return fenced([&]() -> Result<void> {
    if (file == nullptr || target == nullptr || plan == nullptr)
      return null_argument(!file ? "file" : !target ? "target" : "plan");
    hipplan_tool_io raw{};
    raw.struct_size = sizeof(raw);
    const auto arch = hipplan::commands::arch_of(target, hipplan::commands::Io(raw));
    if (!arch) return hipplan::api::without_data_folder(arch.error(), target);
    const auto entry = hipplan::commands::resolve(file->file, graph_key ? graph_key : "", *arch);
    if (!entry) return hipplan::api::with_listing(entry.error(), file->file);
    HIPPLAN_TRY_ASSIGN(auto read, file->file.read_plan(*entry, true));
    *plan = new hipplan_plan(std::move(read));
    return {};
  });
}

hipplan_status hipplan_plan_load(const void* bytes, size_t size, hipplan_plan** plan) {
  return fenced([&]() -> Result<void> {
    if (bytes == nullptr || plan == nullptr) return null_argument(plan ? "bytes" : "plan");
    const hipplan::ByteView view(static_cast<const std::byte*>(bytes), size);
    HIPPLAN_TRY_ASSIGN(auto decoded, hipplan::plan::decode_any_envelope(view, "plan bytes"));
    auto out = std::make_unique<hipplan_plan>(std::move(decoded));
    out->envelope.set(hipplan::Bytes(view.begin(), view.end()));
    *plan = out.release();
    return {};
  });
}

void hipplan_plan_destroy(hipplan_plan* plan) {
  delete plan;
}

hipplan_status hipplan_plan_save(const hipplan_plan* plan, void* buffer, size_t* size) {
  return fenced([&]() -> Result<void> {
    if (plan == nullptr) return null_argument("plan");
    HIPPLAN_TRY_ASSIGN(const auto bytes,
                       plan->envelope.get([plan] { return hipplan::api::make_envelope(*plan); }));
    return hipplan::api::hand_out(*bytes, buffer, size);
  });
}

hipplan_status hipplan_plan_save_file(const hipplan_plan* plan, const char* path) {
  return fenced([&]() -> Result<void> {
    if (plan == nullptr || path == nullptr) return null_argument(plan ? "path" : "plan");
    if (plan->graph_key.empty())
      return hipplan::Error{.code = hipplan::Code::unusable,
                            .reason = "no-graph-key",
                            .where = "plan",
                            .what = "came from a bare envelope, which names no graph",
                            .advice = "save it with hipplan_plan_save"};
    hipplan::plan::Writer writer{hipplan::plan::WriteOptions{}};
    HIPPLAN_TRY(writer.add(plan->plan));
    return writer.write(path);
  });
}

const char* hipplan_plan_graph_key(const hipplan_plan* plan) {
  return plan == nullptr ? "" : plan->graph_key.c_str();
}
const char* hipplan_plan_target(const hipplan_plan* plan) {
  return plan == nullptr ? "" : plan->plan.target.c_str();
}
int64_t hipplan_plan_engine_id(const hipplan_plan* plan) {
  return plan == nullptr ? 0 : plan->plan.envelope.engine_id;
}
const char* hipplan_plan_engine_name(const hipplan_plan* plan) {
  return plan == nullptr ? "" : plan->plan.payload.engine_name.c_str();
}
int64_t hipplan_plan_workspace_size(const hipplan_plan* plan) {
  return plan == nullptr ? 0 : plan->plan.envelope.workspace_size;
}
size_t hipplan_plan_tensor_count(const hipplan_plan* plan) {
  return plan == nullptr ? 0 : plan->plan.envelope.tensor_uids.size();
}

hipplan_status hipplan_plan_tensor(const hipplan_plan* plan, size_t index, int64_t* uid,
                                   int64_t* alignment) {
  return fenced([&]() -> Result<void> {
    if (plan == nullptr) return null_argument("plan");
    const auto& envelope = plan->plan.envelope;
    if (index >= envelope.tensor_uids.size())
      return hipplan::Error{.code = hipplan::Code::bad_input,
                            .reason = "index",
                            .where = "index",
                            .what = "is beyond the plan's tensors",
                            .expected = hipplan::cat("below ", envelope.tensor_uids.size()),
                            .found = hipplan::cat(index)};
    if (uid != nullptr) *uid = envelope.tensor_uids[index];
    if (alignment != nullptr)
      *alignment =
          index < envelope.tensor_alignments.size() ? envelope.tensor_alignments[index] : 1;
    return {};
  });
}

hipplan_status hipplan_plan_graph(const hipplan_plan* plan, char* buffer, size_t* size) {
  return fenced([&]() -> Result<void> {
    if (plan == nullptr) return null_argument("plan");
    if (plan->plan.graph.empty())
      return hipplan::Error{.code = hipplan::Code::negative,
                            .reason = "not-available",
                            .where = "plan",
                            .what = "carries no graph"};
    return hipplan::api::hand_out(hipplan::as_bytes(plan->plan.graph), buffer, size);
  });
}
}
