// What a section of code for GPUs may hold.
#pragma once

#include "runtime/Status.h"
#include <string_view>

namespace tessera::runtime {

// PTX as text, for the driver's compiler: no byte that is no character of it, and no other module's
// functions.
Status checkPtx(std::string_view text);
// Machine code as ptxas writes it: an ELF file for GPUs, all of whose tables and sections lie within it.
Status checkCubin(std::string_view bytes);

} // namespace tessera::runtime
