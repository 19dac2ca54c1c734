// MLIR's bytecode reader trusts its input: a damaged length makes it allocate, read or recurse
// without bound and takes the process with it. So bytecode is read twice: first by a child that may
// die.
#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"
#include <cstddef>

namespace tessera {

enum class Trial {
  Fine,    // it came to an end, whatever it found
  Crashed, // or wanted too much memory
  TooLong,
};

// Runs `read` in a child process, silently, with memory for a file of `bytes` and 10 seconds of a
// core. Fine where no child can be had.
Trial tryInChild(llvm::function_ref<void()> read, size_t bytes);

} // namespace tessera
