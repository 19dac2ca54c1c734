#include "passes/codegen/kernel/ConvolutionTaps.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <optional>

namespace tessera::codegen {

Taps tapsOf(int64_t size, int64_t dilation, int64_t base, int64_t remainder) {
  int64_t first = 0;
  while ((remainder + dilation * first) % base != 0)
    ++first;
  return {size, first, base};
}

Taps within(Taps taps, int64_t low, int64_t high) {
  if (low > taps.first)
    taps.first += llvm::divideCeil(low - taps.first, taps.step) * taps.step;
  taps.end = std::min(taps.end, high);
  return taps;
}

std::pair<int64_t, int64_t> meetingTaps(int64_t low, int64_t high, int64_t size, int64_t dilation,
                                        int64_t base) {
  int64_t last = (size - 1) * base; // the operand's last element
  return {llvm::divideCeilSigned(-high, dilation),
          llvm::divideFloorSigned(last - low, dilation) + 1};
}

BorderCuts borderCuts(int64_t low, int64_t stride, int64_t count, int64_t window, int64_t size,
                      int64_t dilation, int64_t base) {
  constexpr size_t most = 6;
  BorderCuts result;
  int64_t last = low + (count - 1) * stride, met = 0;
  auto [first, end] = meetingTaps(std::min(low, last), std::max(low, last), size, dilation, base);
  int64_t whole = within({window}, first, end).count();
  std::optional<std::pair<int64_t, int64_t>> before;
  for (int64_t i = 0; i < count; ++i) {
    int64_t start = low + i * stride;
    auto [first, end] = meetingTaps(start, start, size, dilation, base);
    Taps taps = within({window}, first, end);
    std::pair<int64_t, int64_t> here{taps.first, taps.last()};
    if (taps.count() == 0)
      here = {0, 0};
    if (before && *before != here)
      result.cuts.push_back(i);
    if (result.cuts.size() > most)
      return {};
    before = here;
    met += taps.count();
  }
  if (whole > 0 && count > 0)
    result.share = double(met) / double(whole * count);
  return result;
}

llvm::SmallVector<int64_t, 0> blockEnds(llvm::ArrayRef<Taps> loops, int64_t block) {
  llvm::SmallVector<int64_t, 0> ends;
  // Runs of terms side by side: the loops inside of the last that leaves out some, and that one where
  // it takes each position of a range.
  int64_t inside = 1;
  while (!loops.empty() && loops.back().isAll()) {
    inside *= loops.back().size;
    loops = loops.drop_back();
  }
  Taps runs = loops.empty() ? Taps{1} : loops.back();
  if (!loops.empty())
    loops = loops.drop_back();
  llvm::SmallVector<int64_t> at;
  for (const Taps &taps : loops) {
    if (taps.count() == 0)
      return ends;
    at.push_back(taps.first);
  }
  bool isOneRun = runs.step == 1;
  int64_t length = isOneRun ? runs.count() * inside : inside, terms = 0, current = -1;
  auto addRun = [&](int64_t position) {
    for (int64_t end = position + length; position < end;) {
      if (position / block != current && terms)
        ends.push_back(terms);
      current = position / block;
      int64_t next = std::min(end, (current + 1) * block);
      terms += next - position;
      position = next;
    }
  };
  for (bool isDone = runs.count() == 0; !isDone;) {
    int64_t before = 0;
    for (auto [taps, i] : llvm::zip(loops, at))
      before = before * taps.size + i;
    for (int64_t i = runs.first; i < runs.last(); i += isOneRun ? runs.last() : runs.step)
      addRun((before * runs.size + i) * inside);
    isDone = true;
    for (size_t i = loops.size(); i-- > 0 && isDone;) {
      at[i] += loops[i].step;
      isDone = at[i] >= loops[i].last();
      if (isDone)
        at[i] = loops[i].first;
    }
  }
  if (terms)
    ends.push_back(terms);
  return ends;
}

} // namespace tessera::codegen
