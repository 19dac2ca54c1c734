#include "compiler/DeepStack.h"

#include "lib/process/Stacks.h"

#include <cstddef>
#include <cstdint>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

namespace tessera {
namespace {

struct Call {
  llvm::function_ref<void()> work;
  ucontext_t caller, callee;
};

// makecontext passes integers only.
void enter(unsigned high, unsigned low) {
  auto *call = reinterpret_cast<Call *>(uint64_t(high) << 32 | low);
  call->work();
}

} // namespace

bool onDeepStack(llvm::function_ref<void()> work) {
  Call call{work, {}, {}};
  size_t guard = sysconf(_SC_PAGESIZE); // below it, so that an overflow is a fault and no damage
  void *stack = mmap(nullptr, kDeepStackBytes + guard, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (stack == MAP_FAILED)
    return false;
  bool ready = mprotect(stack, guard, PROT_NONE) == 0 && getcontext(&call.callee) == 0;
  if (ready) {
    call.callee.uc_stack.ss_sp = static_cast<char *>(stack) + guard;
    call.callee.uc_stack.ss_size = kDeepStackBytes;
    call.callee.uc_link = &call.caller;
    auto address = reinterpret_cast<uint64_t>(&call);
    makecontext(&call.callee, reinterpret_cast<void (*)()>(enter), 2, unsigned(address >> 32),
                unsigned(address));
    ready = swapcontext(&call.caller, &call.callee) == 0;
  }
  munmap(stack, kDeepStackBytes + guard);
  return ready;
}

} // namespace tessera
