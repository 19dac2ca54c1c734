// 1 / sqrt(x) in f32: the processor's approximation and one step of Newton's method, as XLA:CPU
// computes it: within 4 ULP, the same bits as XLA's on the same processor, and no division.
#include "passes/codegen/cpu/VectorMath.h"

#include "llvm/IR/IntrinsicsX86.h"

#include <limits>
#include <numeric>

namespace tessera::codegen {

using Value = llvm::Value *;

Value VectorMath::approximateRsqrt(Value x) {
  auto *vector = llvm::dyn_cast<llvm::FixedVectorType>(x->getType());
  unsigned lanes = vector ? vector->getNumElements() : 1;
  if (lanes == 4)
    return b.CreateIntrinsic(llvm::Intrinsic::x86_sse_rsqrt_ps, {}, {x});
  if (lanes == 8)
    return b.CreateIntrinsic(llvm::Intrinsic::x86_avx_rsqrt_ps_256, {}, {x});
  auto part = [&](Value from, unsigned first, unsigned count) {
    llvm::SmallVector<int> order(count);
    std::iota(order.begin(), order.end(), first);
    return b.CreateShuffleVector(from, order);
  };
  if (lanes > 8) {
    Value low = approximateRsqrt(part(x, 0, lanes / 2));
    Value high = approximateRsqrt(part(x, lanes / 2, lanes / 2));
    llvm::SmallVector<int> all(lanes);
    std::iota(all.begin(), all.end(), 0);
    return b.CreateShuffleVector(low, high, all);
  }
  if (!vector)
    return b.CreateExtractElement(approximateRsqrt(b.CreateVectorSplat(4, x)), uint64_t(0));
  llvm::SmallVector<int> wide{0, 0, 0, 0};
  std::iota(wide.begin(), wide.begin() + lanes, 0);
  return part(approximateRsqrt(b.CreateShuffleVector(x, wide)), 0, lanes);
}

Value VectorMath::rsqrt(Value x) {
  Value y = approximateRsqrt(x);
  Value error = fma(b.CreateFMul(x, y), y, number(x, -1));
  Value better = fma(b.CreateFMul(y, number(x, -0.5)), error, y);
  // Zeros and the subnormals that count as zero have infinite roots already, and infinity has 0.
  Value isPlain =
      b.CreateAnd(b.CreateFCmpUNE(abs(y), number(x, std::numeric_limits<double>::infinity())),
                  b.CreateFCmpUNE(y, number(x, 0)));
  return select(isPlain, better, y);
}

} // namespace tessera::codegen
