#include "passes/codegen/kernel/WorkMemo.h"

namespace tessera::codegen {

static thread_local WorkMemo *current = nullptr;

WorkMemo::WorkMemo() : isOutermost(!current) {
  if (isOutermost)
    current = this;
}

WorkMemo::~WorkMemo() {
  if (isOutermost)
    current = nullptr;
}

cost::KernelWork WorkMemo::recall(const KernelSource &kernel,
                                  llvm::function_ref<cost::KernelWork()> count) {
  if (!current)
    return count();
  KernelKey key = keyOf(kernel);
  auto known = current->known.find(key);
  if (known == current->known.end())
    known = current->known.emplace(std::move(key), count()).first;
  return known->second;
}

} // namespace tessera::codegen
