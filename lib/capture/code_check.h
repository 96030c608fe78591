// Three accounts of one kernel that must agree: its descriptor, its code object, its handler.
#pragma once

#include "capture/code_cache.h"
#include "engine/dispatch.h"

namespace hipplan::capture {

/// The kernel in the code object, after these checks in order: the code's architecture runs on the
/// target (unusable, "code-target"); the symbol is there (damaged, "symbol"); its explicit
/// arguments are those of the descriptor (damaged, "signature") and of the handler (unusable,
/// "handler-signature"); workgroup and LDS fit kernel and target (unusable, "resources").
Result<const codeobject::Kernel*> check_kernel(const VerifiedCode& code,
                                               const descriptor::Source& source,
                                               const engine::DispatchHandler& handler,
                                               const engine::PreparedLaunch& launch,
                                               const target::Description& target);

}  // namespace hipplan::capture
