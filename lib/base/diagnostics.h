// Where the library sends notes and warnings: to a sink that the caller passes, never to a stream.
#pragma once

#include <functional>
#include <string>

namespace hipplan {

enum class Severity { note, warning, error };

struct Diagnostic {
  Severity severity = Severity::note;
  std::string reason;  ///< stable kebab-case id
  std::string where;
  std::string text;
};

/// May be called from several threads only where a function says so. An empty sink drops
/// everything.
using DiagnosticSink = std::function<void(const Diagnostic&)>;

inline void report(const DiagnosticSink& sink, Diagnostic diagnostic) {
  if (sink) sink(diagnostic);
}

}  // namespace hipplan
