// MLIR's bytecode reader trusts its input: a damaged length makes it allocate, read, free or
// recurse without bound and takes the process with it. So bytecode is read by a child that may die,
// and what comes back is written anew.
#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"
#include <cstddef>
#include <cstdint>
#include <string>

namespace tessera {

enum class ReadEnd {
  Fine,    // it came to an end, whatever it found
  Crashed, // or wanted too much memory
  TooLong,
  NotTried, // no child can be had: a process with other threads can't be copied safely
};

struct SandboxedRead {
  ReadEnd end;
  std::string output; // of `read`, where it is Fine
};

// Runs `read` in a child process, silently, with memory for a file of `bytes` and seconds of a core
// that a reader can't need: 2, and one for each MiB.
SandboxedRead readSandboxed(llvm::function_ref<std::string()> read, size_t bytes);

/// Bytes of address space that this process has mapped.
uint64_t addressSpaceInUse();

} // namespace tessera
