#include "hipplan/hipplan.h"
#include "hipplan/tools.h"

/* Compiled, never run. */
int hipplan_headers_compile_as_c(void);
int hipplan_headers_compile_as_c(void) { return (int)sizeof(hipplan_tool_io); }
