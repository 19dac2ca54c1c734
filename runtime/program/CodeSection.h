// The shared object of a program, checked before the dynamic linker sees it.
#pragma once

#include "runtime/Status.h"
#include <string_view>

namespace tessera::runtime {

// The dynamic linker trusts what it opens: tables that point anywhere crash it, and constructors
// run before dlopen returns. So only what the compiler writes is let through:
//
//   - segments inside of the file, apart from each other, none both writable and executable
//   - a dynamic table of symbols, their hash table and relocations, each inside of a segment: no
//     constructor or destructor, no other library, no search path, no thread-local storage
//   - symbols that are functions in executable segments, or to be found in the process; none that
//     is chosen by a function at loading (IFUNC)
//   - relocations of addresses, in writable segments
//
// Linear in the size of the code. What the functions do is theirs: docs/trust.md.
Status checkCode(std::string_view code);

} // namespace tessera::runtime
