// ELF files and PTX texts of any maker: what their headers say.
#pragma once

#include "plan/foreign_facts.h"

namespace hipplan::plan {

/// Class, machine, flags; of a cubin also the SM it is for and the names of its kernels, which are
/// those of its sections .text.NAME.
void elf_facts(ForeignFacts& to, ByteView bytes);
/// Version, target, address size and the names of the entry points.
void ptx_facts(ForeignFacts& to, ByteView bytes);

}  // namespace hipplan::plan
