// Compiled with exceptions, unlike all around it: a std::bad_alloc goes through frames that have no
// handlers up to here.
#include "lib/process/OutOfMemory.h"

#include "llvm/Support/ErrorHandling.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <system_error>
#include <thread>

namespace tessera {
namespace {

std::atomic<bool> ranOut{false};
thread_local bool isInside = false;

// LLVM calls this where malloc gives nothing; it must not return.
void onBadAlloc(void *, const char *, bool) {
  if (isInside)
    throw std::bad_alloc();
  std::fputs("LLVM ERROR: out of memory\n", stderr);
  std::abort(); // another user of LLVM in this process, to whom this is what LLVM does
}

bool attempt(llvm::function_ref<void()> work) {
  bool wasInside = isInside, fits = true;
  isInside = true;
  try {
    work();
  } catch (const std::bad_alloc &) {
    fits = false;
  }
  isInside = wasInside;
  return fits;
}

} // namespace

bool runWithinMemory(llvm::function_ref<void()> work) {
  static const bool installed = [] {
    llvm::install_bad_alloc_error_handler(onBadAlloc);
    return true;
  }();
  (void)installed;
  if (!ranOut && !attempt(work))
    ranOut = true;
  return !ranOut;
}

void runBoth(llvm::function_ref<void()> first, llvm::function_ref<void()> second) {
  bool secondFits = true;
  std::thread other;
  try {
    other = std::thread([&] { secondFits = attempt(second); });
  } catch (const std::system_error &) {
    // One after the other, then.
  }
  bool firstFits = attempt(first);
  if (other.joinable())
    other.join();
  else if (firstFits)
    second();
  if (!firstFits || !secondFits)
    throw std::bad_alloc();
}

} // namespace tessera
