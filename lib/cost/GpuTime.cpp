#include "lib/cost/GpuTime.h"
#include "lib/cost/KernelTerms.h"
#include "lib/target/GpuBlocks.h"

#include <algorithm>
#include <cmath>

namespace tessera::cost {

namespace {

// Instructions for a lane of four bytes: of what is computed of elements, of what is folded, and of
// elements that lie apart, whose addresses are computed one by one (passes/codegen/gpu).
// Chains wait for themselves behind other warps.
constexpr std::array<double, elementClasses> kOfElements = {1, 10, 20, 40, 60, 3, /*Waiting=*/0};
constexpr std::array<double, foldings> kFolded = {1, 1, 1, 1, 4, 16};
constexpr double kOfAddress = 4;
// A processor draws 64 bytes a clock from the cache that all share: about so many times its share of
// the memory (4.8 of an A100, 4.4 of an H100).
constexpr double kMostOfShare = 4;
// What the threads of a block move at a time.
constexpr double kBytesOfBlock = target::kBlockThreads * target::kAccessBytes;

double instructions(const KernelWork &work) {
  double sum = 0;
  for (unsigned i = 0; i < elementClasses; ++i)
    sum += kOfElements[i] * work.elements[i];
  for (unsigned i = 0; i < foldings; ++i)
    sum += kFolded[i] * work.folded[i];
  for (double apart : work.accessed)
    sum += kOfAddress * apart;
  return sum + work.moved / 4;
}

} // namespace

double gpuSeconds(const DeviceRates &rates, const KernelWork &work, double blocks) {
  double processors = rates.processors, compute = instructions(work) / (rates.flopsPerSecond / 2);
  for (const Product &product : work.products)
    compute += product.flops() / flopsPerSecond(rates, product.type);
  compute *= std::ceil(blocks / processors) * processors / blocks;
  double share = std::min(blocks, processors) / processors;
  double bytesPerSecond = rates.bytesPerSecond * std::min(1.0, kMostOfShare * share);
  return std::hypot(compute, work.bytes() / bytesPerSecond);
}

double likelyBlocks(const DeviceRates &rates, const KernelWork &work) {
  double blocks = 1;
  for (const Product &product : work.products) {
    double tiles = 0;
    for (int64_t edge : target::kTileEdges) {
      auto size = static_cast<double>(edge);
      tiles = product.batch * std::ceil(product.m / size) * std::ceil(product.n / size);
      if (tiles >= rates.processors)
        break;
    }
    blocks = std::max(blocks, tiles);
  }
  if (!work.products.empty())
    return blocks;
  for (const Touched &array : work.arrays)
    blocks = std::max(blocks, std::ceil(array.bytes / kBytesOfBlock));
  return blocks;
}

} // namespace tessera::cost
