#include "compiler/explain/Frontier.h"

#include "passes/fuse/MemoryBound.h"
#include "passes/fuse/Passes.h"

#include "mlir/Pass/PassManager.h"

#include <limits>

namespace tessera {

using namespace mlir;
using fuse::MeasuredProgram;

constexpr int kBounds = 5; // between the program as it is and the least

// Drops what needs more of both than another; the program as it is, the first, stays.
static std::vector<MeasuredProgram> paretoFront(std::vector<MeasuredProgram> points) {
  std::vector<MeasuredProgram> front{points.front()};
  llvm::stable_sort(points, [](const MeasuredProgram &a, const MeasuredProgram &b) {
    return std::pair(a.bytes, a.seconds) < std::pair(b.bytes, b.seconds);
  });
  std::vector<MeasuredProgram> rising;
  for (const MeasuredProgram &point : points)
    if (rising.empty() || point.seconds < rising.back().seconds)
      rising.push_back(point);
  for (const MeasuredProgram &point : llvm::reverse(rising))
    if (point.bytes < front.front().bytes)
      front.push_back(point);
  return front;
}

std::vector<explain::LessMemory> frontierOf(ModuleOp module) {
  PassManager passes(module.getContext());
  buildBeforeRematerialize(passes);
  if (failed(passes.run(module)))
    return {};
  fuse::MemoryBound bound(module, /*predicts=*/true);
  if (failed(bound.begin()))
    return {};
  constexpr int64_t kAnyBound = std::numeric_limits<int64_t>::max();
  FailureOr<MeasuredProgram> whole = bound.asItIs(), least = bound.least(kAnyBound);
  if (failed(whole) || failed(least))
    return {};
  std::vector<MeasuredProgram> points{*whole, *least};
  for (int i = 1; i <= kBounds; ++i) {
    int64_t bytes = whole->bytes - (whole->bytes - least->bytes) * i / (kBounds + 1);
    auto found = bound.fitInto(bytes);
    if (failed(found))
      return {};
    if (*found)
      points.push_back(**found);
  }
  std::vector<explain::LessMemory> frontier;
  for (const MeasuredProgram &point : paretoFront(std::move(points)))
    frontier.push_back({point.bytes, point.seconds, point.program->computedAgain});
  return frontier;
}

} // namespace tessera
