#include "passes/codegen/kernel/ConvolutionTaps.h"

#include "llvm/ADT/STLExtras.h"

namespace tessera::codegen {

Taps tapsOf(int64_t size, int64_t dilation, int64_t base, int64_t remainder) {
  int64_t first = 0;
  while ((remainder + dilation * first) % base != 0)
    ++first;
  return {size, first, base};
}

llvm::SmallVector<int64_t, 0> blockEnds(llvm::ArrayRef<Taps> loops, int64_t block) {
  llvm::SmallVector<int64_t, 0> ends;
  llvm::SmallVector<int64_t> at;
  for (const Taps &taps : loops) {
    if (taps.count() == 0)
      return ends;
    at.push_back(taps.first);
  }
  int64_t terms = 0, current = -1;
  for (bool isDone = false; !isDone;) {
    int64_t position = 0;
    for (auto [taps, i] : llvm::zip(loops, at))
      position = position * taps.size + i;
    if (position / block != current && terms)
      ends.push_back(terms);
    current = position / block;
    ++terms;
    isDone = true;
    for (size_t i = loops.size(); i-- > 0 && isDone;) {
      at[i] += loops[i].step;
      isDone = at[i] >= loops[i].size;
      if (isDone)
        at[i] = loops[i].first;
    }
  }
  ends.push_back(terms);
  return ends;
}

} // namespace tessera::codegen
