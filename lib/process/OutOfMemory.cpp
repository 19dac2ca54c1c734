// Compiled with exceptions, unlike all around it: a std::bad_alloc goes through frames that have no
// handlers up to here.
#include "lib/process/OutOfMemory.h"

#include "lib/process/Stacks.h"

#include "llvm/Support/ErrorHandling.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <pthread.h>

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

// A thread with a deep stack, unlike std::thread, if one can be made. `work` must outlive it.
class DeepThread {
public:
  explicit DeepThread(llvm::function_ref<void()> work) : work(work) {
    pthread_attr_t attributes;
    if (pthread_attr_init(&attributes) != 0)
      return;
    made = pthread_attr_setstacksize(&attributes, kDeepStackBytes) == 0 &&
           pthread_create(&thread, &attributes, run, this) == 0;
    pthread_attr_destroy(&attributes);
  }
  bool isThere() const { return made; }
  void join() { pthread_join(thread, nullptr); }

private:
  static void *run(void *self) {
    static_cast<DeepThread *>(self)->work();
    return nullptr;
  }

  llvm::function_ref<void()> work;
  pthread_t thread = {};
  bool made = false;
};

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
  auto attemptSecond = [&] { secondFits = attempt(second); };
  DeepThread other(attemptSecond);
  bool firstFits = attempt(first);
  if (other.isThere())
    other.join();
  else if (firstFits) // one after the other, then
    second();
  if (!firstFits || !secondFits)
    throw std::bad_alloc();
}

void runEach(size_t count, llvm::function_ref<void(size_t)> work) {
  SharedCount numbers(count);
  auto runRest = [&] { numbers.takeEach(work); };
  runBoth(runRest, runRest);
}

} // namespace tessera
