// What a device takes for its part of a kernel that is in parts on several.
//
// What it computes is such a part of what one device would compute, and so are the bytes that it touches,
// here and since it came to an array last. Caches hold more of that: kernels that wait for memory on one
// device need not on eight.
#pragma once

#include "lib/cost/Topology.h"
#include "lib/plan/Program.h"

#include <map>

namespace tessera::plan {

// Of how many parts of a product a device has one.
struct ProductShards {
  double all = 1;    // of what it computes
  double arrays = 1; // of what it reads and writes
  double batch = 1, m = 1, n = 1,
         k = 1; // of its dimensions; `all` is their product, if they are known
};

class KernelPrices {
public:
  // All are kept by reference.
  KernelPrices(const Program &program, const cost::Topology &topology, const sharding::Mesh &mesh);

  // Of the ops of the kernel together, each in `shards` parts.
  double seconds(int32_t kernel, double shards);
  // The same of its product, whose dimensions and arrays are in other numbers of parts.
  double seconds(int32_t kernel, const ProductShards &shards);
  // By rates of operations and bytes alone, of which ops have shares.
  double least(int32_t kernel) const;
  bool isMemoryBound(int32_t kernel) const;
  // What decides of these: kernels of one key take as long, however they are divided.
  const std::string &keyOf(int32_t kernel);

  double flopsPerSecond(llvm::StringRef elementType) const;
  double bytesPerSecond() const { return topology.device.bytesPerSecond; }

private:
  double secondsOf(const Kernel &kernel, const cost::KernelWork &work,
                   const ProductShards &shards) const;

  const Program &program;
  const cost::Topology &topology;
  double devices, cores;                       // of a device
  bool usesTiles = false;                      // the processor's
  std::vector<std::map<double, double>> known; // by kernel, of parts
  std::vector<std::string> keys;               // empty: not asked for yet
};

} // namespace tessera::plan
