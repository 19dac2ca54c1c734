#include "lib/plan/KernelPrices.h"

#include "lib/cost/CacheWalk.h"
#include "lib/cost/KernelTerms.h"
#include "lib/cost/ProductCells.h"
#include "lib/cost/SharedCores.h"
#include "lib/sharding/ContentKey.h"

#include "llvm/ADT/STLExtras.h"

namespace tessera::plan {

KernelPrices::KernelPrices(const Program &program, const cost::Topology &topology,
                           const sharding::Mesh &mesh)
    : program(program), topology(topology), devices(double(mesh.numDevices())),
      cores(cost::coresOf(topology, mesh.numDevices())), known(program.kernels.size()),
      keys(program.kernels.size()) {
  usesTiles = llvm::any_of(program.kernels, [&](const Kernel &kernel) {
    return kernel.isCounted && cost::goesByTiles(topology.device, kernel.work);
  });
}

double KernelPrices::flopsPerSecond(llvm::StringRef elementType) const {
  auto typed = topology.device.flopsByType.find(elementType);
  return typed == topology.device.flopsByType.end() ? topology.device.flopsPerSecond
                                                    : typed->second;
}

double KernelPrices::least(int32_t number) const {
  const Kernel &kernel = program.kernels[number];
  return std::max(kernel.flops / flopsPerSecond(kernel.elementType),
                  kernel.bytes / bytesPerSecond());
}

bool KernelPrices::isMemoryBound(int32_t number) const {
  const Kernel &kernel = program.kernels[number];
  return kernel.bytes / bytesPerSecond() > kernel.flops / flopsPerSecond(kernel.elementType);
}

// Each in so many parts: of a product fewer batches, or rows, which other cells have then.
static cost::KernelWork scaledAlongRows(const cost::KernelWork &whole, double shards,
                                        double shardsOfArrays) {
  cost::KernelWork work = whole.scaled(1 / shards, 1 / shardsOfArrays);
  if (work.products.size() != 1)
    return work;
  cost::Product shard = whole.products.front();
  (shard.batch >= shards ? shard.batch : shard.m) /= shards;
  if (double cells = cost::setCopies(shard, whole.products.front())) {
    work.products.front() = shard;
    work.grid = cells, work.wholeCell = 0; // how even a shard's cells are is not known
  }
  return work;
}

double KernelPrices::seconds(int32_t number, double shards) {
  auto [it, isNew] = known[number].try_emplace(shards, 0);
  const Kernel &kernel = program.kernels[number];
  if (isNew && !kernel.isCounted)
    it->second = least(number) / shards;
  else if (isNew && !cost::goesByKinds(topology.device)) // as full a GPU as one has
    it->second = cost::kernelSeconds(topology.device, kernel.work) / shards;
  else if (isNew)
    it->second = secondsOf(kernel, scaledAlongRows(kernel.work, shards, shards),
                           {.all = shards, .arrays = shards});
  return it->second;
}

double KernelPrices::seconds(int32_t number, const ProductShards &shards) {
  const Kernel &kernel = program.kernels[number];
  if (!cost::goesByKinds(topology.device))
    return seconds(number, shards.all);
  cost::KernelWork work = scaledAlongRows(kernel.work, shards.all, shards.arrays);
  if (work.products.size() == 1 && shards.batch * shards.m * shards.n * shards.k == shards.all) {
    const cost::Product &whole = kernel.work.products.front();
    cost::Product &product = work.products.front() = whole;
    product.batch /= shards.batch;
    product.m /= shards.m;
    product.n /= shards.n;
    product.strideOfB /= shards.n;
    product.k /= shards.k;
    product.run = std::min(product.run, product.k);
    product.timesA = std::max(1.0, product.timesA / shards.n);
    product.timesB = std::max(1.0, product.timesB / shards.m);
    if (double cells = cost::setCopies(product, whole))
      work.grid = cells, work.wholeCell = 0; // how even a shard's cells are is not known
  }
  return secondsOf(kernel, work, shards);
}

double KernelPrices::secondsOf(const Kernel &kernel, const cost::KernelWork &work,
                               const ProductShards &shards) const {
  const cost::DeviceRates &rates = topology.device;
  steps::SharedGrid grid = cost::sharedGrid(work, kernel.given / shards.arrays);
  double sharers = cost::coresOfGrid(grid, cores);
  double cache = sharers * rates.cacheBytes, shared = std::max(cores, 1.0) * rates.sharedBytes;
  llvm::SmallVector<cost::Missed, 8> missed;
  for (auto [array, reuse] : llvm::zip(work.arrays, kernel.reuse)) {
    double since = reuse / shards.all;
    cost::Missed &each = missed.emplace_back();
    each.core = array.bytes * (1 - cost::heldAfter(since, cache) / sharers); // CacheWalk.h
    if (rates.sharedBytes > 0)
      each.all = std::min(each.core, array.bytes * (1 - cost::heldAfter(since, shared)));
  }
  cost::Terms terms = cost::termsOf(rates, work, missed);
  if (usesTiles)
    terms = cost::besideTiles(rates, terms);
  return cost::sharedSeconds(rates, cost::secondsOf(rates, terms), grid, cores,
                             /*asleep=*/false, work.wholeCell);
}

const std::string &KernelPrices::keyOf(int32_t number) {
  std::string &key = keys[number];
  if (!key.empty())
    return key;
  const Kernel &kernel = program.kernels[number];
  using sharding::appendKey;
  key = kernel.elementType;
  constexpr double kParts = 1e12; // of a second
  for (double each : {kernel.flops, kernel.bytes})
    appendKey(key, int64_t(each));
  if (kernel.isCounted)
    for (double shards : {1.0, devices})
      appendKey(key, int64_t(seconds(number, shards) * kParts));
  return key;
}

} // namespace tessera::plan
