// What reads and walks a program recurses as deep as the program is nested, here and in MLIR and
// LLVM. How deep that may be is a limit of ours (Nesting.h), so the stack is ours too: a caller's
// thread may have 8 MB, or 512 kB.
#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"

namespace tessera {

// Runs `work` on a stack of 64 MB, of which only what is used takes memory, and returns when it is
// done. It stays on the caller's thread: callbacks come where they are expected, thread-local state
// is there, and a process of one thread remains one that may fork (SandboxedRead.h). False, and nothing
// was run, where there is no memory for the stack. `work` must not throw.
bool onDeepStack(llvm::function_ref<void()> work);

inline constexpr char kNoDeepStack[] = "error: there are no 64 MB of memory for a stack";

// What `work` returns, or such a result with an `error` where there is no stack for it.
template <typename Work> auto resultOnDeepStack(Work work) {
  decltype(work()) result;
  if (!onDeepStack([&] { result = work(); }))
    result.error = kNoDeepStack;
  return result;
}

} // namespace tessera
