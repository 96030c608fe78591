// Names of inputs in messages, as callers of the C interface know them.
#pragma once

#include "base/result.h"

namespace hipplan::api {

/// The library's messages name an input that is missing or wrong by the tools' option, which stands
/// for the same thing everywhere. Here each becomes the argument or field of hipplan/hipplan.h that
/// takes it; advice about options that functions have no argument for is left out or says what to
/// do instead. What names a tool in front of its option stays.
[[nodiscard]] Error with_argument_names(Error error);

}  // namespace hipplan::api
