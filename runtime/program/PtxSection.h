// What a section of code for GPUs may hold.
#pragma once

#include "runtime/Status.h"
#include <map>
#include <string>
#include <string_view>

namespace tessera::runtime {

// PTX as text, for the driver's compiler: no byte that is no character of it, and no other module's
// functions.
Status checkPtx(std::string_view text);
// Kernels that PTX has no code for, as it is equal to another's, and whose it is: lines "// .alias add_7, add_0;". So it
// is with the machine code that is made of the text.
std::map<std::string, std::string> aliasesOf(std::string_view ptx);
// Machine code as ptxas writes it: an ELF file for GPUs, all of whose tables and sections lie within it.
Status checkCubin(std::string_view bytes);

} // namespace tessera::runtime
