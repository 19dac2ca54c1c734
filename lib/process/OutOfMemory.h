// Running out of memory as an answer instead of the end of the process.
#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"

#include <atomic>

namespace tessera {

// What is said when it returns false.
inline constexpr char kOutOfMemory[] = "out of memory";

// Runs `work`; false when memory ran out on the way, or did so before in this process. LLVM and
// MLIR are built without exceptions: what they held then is not given back, locks included, so that
// the process can go on, but not compile again.
bool runWithinMemory(llvm::function_ref<void()> work);

// Runs both, the second on a thread of its own, with a deep stack, where one can be made. To be called from the
// work of runWithinMemory, which then hears of memory that ran out in either.
void runBoth(llvm::function_ref<void()> first, llvm::function_ref<void()> second);

// The numbers below `count`, each for one of the threads that take them.
class SharedCount {
public:
  explicit SharedCount(size_t count) : count(count) {}

  // Those that nobody has taken yet, in their order, until there are none.
  void takeEach(llvm::function_ref<void(size_t)> work) {
    for (size_t i; (i = next++) < count;)
      work(i);
  }

private:
  size_t count;
  std::atomic<size_t> next{0};
};

// Runs `work` for each number below `count`, begun in their order, on whichever of two such threads is free.
void runEach(size_t count, llvm::function_ref<void(size_t)> work);

} // namespace tessera
