// hipplan-inspect sign, signatures.
#include "base/file.h"
#include "commands/inspect_parts.h"
#include "commands/plans.h"
#include "plan/bundle.h"
#include "plan/signature.h"

namespace hipplan::commands {
namespace {

Error sign_usage(const std::string& what, const std::string& expected) {
  return usage_error({.what = what, .expected = expected});
}

struct Shown {
  Inspection& in;
  const std::optional<Trust>& trust;
  Digest directory_digest;
  json::Writer& out;
};

void show_signatures(Shown& to, const std::vector<plan::Signature>& signatures, bool detached) {
  for (const auto& signature : signatures) {
    const char* place = detached ? "detached" : "embedded";
    const auto* key = to.trust ? to.trust->keys.find(signature.key_id) : nullptr;
    std::string verdict = "not judged";
    if (to.trust)
      verdict = plan::verdict_text(
          plan::judge(signature, to.directory_digest, to.trust->keys, to.trust->now));
    if (!to.in.io.json())
      to.in.io.line(cat(signature.key_id.hex(), "  ", place, "  ", verdict,
                        key == nullptr ? "" : "  " + key->name));
    to.out.begin_object().member("key_id", signature.key_id.hex()).member("place", place);
    to.out.member("algorithm", signature.algorithm == plan::kEd25519 ? "ed25519" : "unknown");
    if (to.trust) to.out.member("verdict", verdict);
    if (key != nullptr) to.out.member("key", key->name);
    to.out.end_object();
  }
}

/// What was signed, and where the signatures are.
std::string sign_note(const Inspection& in, const plan::PrivateKey& key,
                      const std::vector<std::string>& files) {
  const std::string by = " signed by key " + key.id().hex().substr(0, 16);
  if (files.size() > 1)
    return cat(files.size(), " files", by, in.detached ? ", each in PLAN.sig" : "");
  const std::string& path = files.front();
  const std::string file = in.detached ? plan::detached_path(path).string() : path;
  return cat(path, ":", by, in.detached ? ", in " + file : "", ", ", written_bytes(file));
}

/// The files to sign, out of files, folders and patterns. They are changed where they are, which
/// nothing that is read from a stream or a bundle can be.
Result<std::vector<std::string>> files_to_sign(const Inspection& in) {
  for (const auto& path : in.arguments) {
    if (path == "-") return sign_usage("standard input cannot be signed", "a file");
    if (is_member(path) || plan::is_bundle_file_name(path))
      return usage_error({.where = path,
                          .what = "files in a bundle cannot be signed there",
                          .expected = "plan files or folders of them",
                          .advice = "unbundle it, sign the files and bundle them again"});
  }
  return expand_paths(in.arguments, {".hplan"});
}

}  // namespace

Result<void> sign(Inspection& in) {
  if (in.arguments.empty()) return sign_usage("no file given", "at least one plan file or folder");
  if (in.key.empty()) return sign_usage("no key given", "--key KEY.pem");
  HIPPLAN_TRY_ASSIGN(const auto files, files_to_sign(in));
  HIPPLAN_TRY_ASSIGN(const auto key, plan::PrivateKey::read(in.key));
  json::Writer out;
  out.begin_object().member("schema", "hipplan.sign/1").member("key_id", key.id().hex());
  out.key("files").begin_array();
  for (size_t i = 0; i < files.size(); ++i) {
    const std::string& path = files[i];
    auto done = in.io.check_interrupted();
    if (done) done = plan::sign_file(path, key, in.detached);
    if (!done) {
      if (files.size() > 1)
        in.io.note(cat(i, " of ", files.size(), " files were signed before ", path,
                       "; that and those behind it were not"));
      return done;
    }
    out.begin_object().member("path", path);
    out.member("signature", in.detached ? plan::detached_path(path).string() : path).end_object();
    if (files.size() > 1) in.io.progress("signing files", i + 1, files.size());
  }
  out.end_array().end_object();
  if (in.io.json())
    in.io.line(out.text());
  else
    in.io.note(sign_note(in, key, files));
  return {};
}

Result<void> list_signatures(Inspection& in) {
  if (in.arguments.size() != 1) return sign_usage("wrong number of files", "one plan file");
  const std::string& path = in.arguments[0];
  std::optional<Trust> trust;
  if (!in.trust.empty()) {
    HIPPLAN_TRY_ASSIGN(trust, load_trust(in.trust));
  }
  HIPPLAN_TRY_ASSIGN(const auto file, open_view(path));
  HIPPLAN_TRY_ASSIGN(const auto detached, plan::read_detached(path));
  HIPPLAN_TRY_ASSIGN(const auto set, plan::read_signatures(file.view(), detached.view(), path));
  json::Writer out;
  out.begin_object().member("schema", "hipplan.signatures/1").member("path", path);
  out.member("directory_digest", set.directory_digest.hex()).key("signatures").begin_array();
  Shown shown{in, trust, set.directory_digest, out};
  show_signatures(shown, set.embedded, false);
  show_signatures(shown, set.detached, true);
  out.end_array();
  std::optional<Error> refused;
  if (trust) {
    const auto judged = plan::require_signed(set, trust->keys, trust->now, path);
    if (!judged) refused = judged.error();
  }
  if (refused) write_error(out.key("error"), *refused);
  out.end_object();
  if (in.io.json()) in.io.line(out.text());
  if (!in.io.json() && set.embedded.empty() && set.detached.empty())
    in.io.line("not signed");
  else if (!in.io.json() && trust)
    in.io.line("the contents are not checked; hipplan-verify checks them");
  if (refused) return *refused;
  return {};
}

}  // namespace hipplan::commands
