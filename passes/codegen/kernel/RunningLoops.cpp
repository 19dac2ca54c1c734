#include "passes/codegen/kernel/RunningLoops.h"

#include "dialects/stablehlo/RunningReduction.h"
#include "dialects/stablehlo/TensorTypes.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>

namespace tessera::codegen {

using namespace tessera::stablehlo;

int RunningLoops::levels() const {
  int levels = 1;
  for (int64_t reach = block; reach < size; reach *= block)
    ++levels;
  return levels;
}

int64_t RunningLoops::cells() const {
  return llvm::divideCeil(inner, innerChunk) * llvm::divideCeil(outer, outerChunk);
}

std::optional<RunningLoops> runningLoopsOf(ReduceWindowOp op) {
  std::optional<RunningDim> running = onlyRunningDim(op);
  if (!running || !isSplittable(op))
    return std::nullopt;
  auto shape = shapeOf(op.getInputs()[0]);
  RunningLoops loops;
  loops.forward = running->forward;
  for (auto [d, size] : llvm::enumerate(shape))
    (int64_t(d) < running->dim   ? loops.outer
     : int64_t(d) > running->dim ? loops.inner
                                 : loops.size) *= size;
  if (loops.size <= RunningLoops::block)
    return std::nullopt;
  // Columns side by side go together, so many that their accumulators stay in the first cache.
  constexpr int64_t columns = 256, elementsOfCell = 1 << 16;
  loops.innerChunk = std::min(loops.inner, columns);
  loops.outerChunk =
      std::clamp<int64_t>(elementsOfCell / std::max<int64_t>(loops.innerChunk * loops.size, 1), 1,
                          std::max<int64_t>(loops.outer, 1));
  return loops;
}

} // namespace tessera::codegen
