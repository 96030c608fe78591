// The record of a decision as JSON.
#include <map>

#include "json/json.h"
#include "select/ranking.h"

namespace hipplan::select {
namespace {

void write_value(json::Writer& out, const ValueData& value) {
  if (const auto* list = std::get_if<std::vector<int64_t>>(&value)) {
    out.begin_array();
    for (const int64_t item : *list) out.value(item);
    out.end_array();
    return;
  }
  if (const auto* flag = std::get_if<bool>(&value)) out.value(*flag);
  if (const auto* integer = std::get_if<int64_t>(&value)) out.value(*integer);
  if (const auto* number = std::get_if<double>(&value)) out.value(*number);
  if (const auto* text = std::get_if<std::string>(&value)) out.value(*text);
}

void write_engine(json::Writer& out, const Selection& selection) {
  const descriptor::Engine& engine = *selection.chosen.engine;
  out.key("engine").begin_object().member("name", engine.name);
  out.member("id", engine_id_text(engine.engine_id))
      .member("rule", rule_name(selection.engine_rule));
  out.key("others").begin_array();
  for (const std::string& name : selection.other_engines) out.value(name);
  out.end_array().end_object();
}

void write_knobs(json::Writer& out, const Selection& selection) {
  out.key("knobs").begin_object();
  for (const Knob& knob : selection.knobs) write_value(out.key(knob.name), knob.value);
  out.end_object();
}

void write_ranked(json::Writer& out, const Ranked& entry, bool first) {
  const descriptor::Kernel& kernel = *entry.candidate->kernel->kernel;
  out.begin_object().member("kernel", kernel.name).member("id", kernel.id.text());
  out.member("pack", entry.candidate->pack->name);
  if (entry.measured_seconds) out.member("measured_seconds", *entry.measured_seconds);
  if (entry.score) out.member("score", *entry.score);
  out.member("priority", kernel.priority);
  if (!first) out.member("lost_by", rule_name(entry.lost_by));
  out.end_object();
}

void write_group(json::Writer& out, const ReasonGroup& group) {
  const match::Reason& reason = *group.reason;
  out.begin_object()
      .member("stage", match::stage_name(reason.stage))
      .member("engine", reason.engine);
  if (!reason.pack.empty()) out.member("pack", reason.pack);
  out.member("by", reason.by).member("reason", reason.reason).member("text", reason.text);
  if (!group.kernels.empty()) {
    out.key("kernels").begin_array();
    for (const std::string& name : group.kernels) out.value(name);
    out.end_array();
  }
  out.end_object();
}

}  // namespace

std::vector<ReasonGroup> grouped(const std::vector<match::Reason>& reasons) {
  std::vector<ReasonGroup> out;
  for (const match::Reason& reason : reasons) {
    ReasonGroup* found = nullptr;
    for (ReasonGroup& group : out) {
      const match::Reason& held = *group.reason;
      if (held.stage == reason.stage && held.reason == reason.reason && held.text == reason.text &&
          held.by == reason.by && held.pack == reason.pack && held.engine == reason.engine)
        found = &group;
    }
    if (found == nullptr) found = &out.emplace_back(ReasonGroup{&reason, {}});
    if (!reason.kernel.empty()) found->kernels.push_back(reason.kernel);
  }
  return out;
}

std::string print_reasons(const Selection& selection) {
  json::Writer out(-1);
  out.begin_object().member("schema", "hipplan.reasons/1");
  write_engine(out, selection);
  write_knobs(out, selection);
  out.member("rule", rule_name(selection.kernel_rule));
  if (!selection.score_unit.empty()) {
    out.key("objective").begin_object().member("unit", selection.score_unit);
    out.member("best", selection.score_maximize ? "largest" : "smallest").end_object();
  }
  out.key("ranking").begin_array();
  for (const Ranked& entry : selection.ranking)
    write_ranked(out, entry, &entry == &selection.ranking.front());
  out.end_array();
  out.key("refused").begin_array();
  for (const ReasonGroup& group : grouped(selection.match->reasons)) write_group(out, group);
  out.end_array().end_object();
  return out.text();
}

}  // namespace hipplan::select
