#include "lib/cost/GpuTime.h"

#include <algorithm>
#include <cmath>

namespace tessera::cost {

namespace {

// Instructions for a lane of four bytes: of what is computed of elements, of what is folded, and of
// elements that lie apart, whose addresses are computed one by one (passes/codegen/gpu).
constexpr std::array<double, elementClasses> kOfElements = {1, 10, 20, 40, 60};
constexpr std::array<double, foldings> kFolded = {1, 1, 1, 1, 4};
constexpr double kOfAddress = 4;
// A processor draws 64 bytes a clock from the cache that all share: about so many times its share of
// the memory (4.8 of an A100, 4.4 of an H100).
constexpr double kMostOfShare = 4;

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

double processorsOf(const DeviceRates &rates) {
  auto found = rates.kernels.find("processors");
  return found == rates.kernels.end() ? 0 : found->second;
}

double gpuSeconds(const DeviceRates &rates, const KernelWork &work, double blocks) {
  double processors = processorsOf(rates);
  double compute = instructions(work) / (rates.flopsPerSecond / 2);
  for (const Product &product : work.products)
    compute += product.flops() / flopsPerSecond(rates, product.type);
  compute *= std::ceil(blocks / processors) * processors / blocks;
  double share = std::min(blocks, processors) / processors;
  double bytesPerSecond = rates.bytesPerSecond * std::min(1.0, kMostOfShare * share);
  return std::hypot(compute, work.bytes() / bytesPerSecond);
}

} // namespace tessera::cost
