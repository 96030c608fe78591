// The build half: graph text -> plan, one stage a line.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/diagnostics.h"
#include "base/result.h"
#include "capture/capture.h"
#include "descriptor/loader.h"
#include "graph/graph.h"
#include "match/match.h"
#include "plan/plan.h"
#include "select/select.h"
#include "target/target.h"

namespace hipplan::pipeline {

/// Targets that ship with hipplan or that the user described. Read once, then immutable.
class Targets {
 public:
  /// Reads every *.json of `folder`, sorted. A faulty file is an error.
  static Result<Targets> load(const std::filesystem::path& folder);
  /// By architecture ("gfx942", "gfx942:xnack-"), file stem ("mi300x") or product name; stems and
  /// names in any case, with or without spaces and dashes, names also without their first words.
  /// With an architecture the description carries exactly the features asked for. Unknown:
  /// bad_input, reason "unknown-target", that names the nearest or lists what there is.
  [[nodiscard]] Result<target::Description> find(const std::string& name) const;
  /// The described architecture whose name starts most like `base`, by more than the maker's
  /// letters; empty when none does.
  [[nodiscard]] std::string similar_arch(const std::string& base) const;
  static Result<target::Description> read(const std::filesystem::path& file);
  struct Named {
    std::string stem;
    target::Description description;
  };
  [[nodiscard]] const std::vector<Named>& all() const { return targets_; }

 private:
  [[nodiscard]] Error not_found(const std::string& name) const;
  std::filesystem::path folder_;
  std::vector<Named> targets_;
};

/// Packed descriptor sets by architecture, loaded when first asked for. Thread-safe.
class Catalog {
 public:
  /// `folder` holds one packed tree per architecture; `jobs` threads parse files.
  Catalog(std::filesystem::path folder, unsigned jobs) : folder_(std::move(folder)), jobs_(jobs) {}
  /// The tree of the base architecture, else that of its generic family. Fails with unusable when
  /// there is neither (listing what there is), and passes the loader's diagnostics on.
  Result<std::shared_ptr<const descriptor::DescriptorSet>> descriptors(const target::Arch& arch,
                                                                       const DiagnosticSink& sink);
  [[nodiscard]] std::vector<std::string> architectures() const;

 private:
  std::filesystem::path folder_;
  unsigned jobs_;
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<const descriptor::DescriptorSet>> loaded_;
};

struct BakeOptions {
  select::Request request;
  capture::Options capture;
};

/// A plan and the names of what was chosen for it.
struct Baked {
  plan::Plan plan;
  std::string engine, kernel;  ///< names
};

/// The stages behind matching: select -> capture.
Result<Baked> bake_matched(match::MatchResult matched, const graph::Graph& graph,
                           const target::Description& target, capture::Capturer& capturer,
                           const BakeOptions& options, std::string* explanation);

/// graph -> match -> select -> capture. Any thread; `capturer` and `catalog` are shared.
/// `explanation`, when not null, receives the text for --why even when nothing serves the graph.
Result<Baked> bake(const graph::Graph& graph, const target::Description& target, Catalog& catalog,
                   capture::Capturer& capturer, const BakeOptions& options,
                   const DiagnosticSink& sink, std::string* explanation);

}  // namespace hipplan::pipeline
