// The kinds of work whose rates a machine has, and how long a kernel takes by them.
//
// A kernel computes and waits for memory partly at the same time: with c the seconds of all that it
// computes, one kind after the other, and m those of the bytes that it moves in streams, it takes
// about sqrt(c*c + m*m), beside its launch. Nobody fetches ahead what is read in strips: that adds to
// c.
#pragma once

#include "lib/cost/GpuTime.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <array>
#include <vector>

namespace tessera::cost {

enum class Term : uint8_t {
  // Lanes of four bytes, whole vectors (KernelWork.h).
  Arithmetic,
  Division,
  Exponential,
  Function,
  OneByOne, // elements
  Narrowed, // lanes
  Waiting,  // operations times cycles
  Columns,
  Rows,
  Stepwise,
  Chain,
  Halves,   // vectors
  Attended, // rows
  // Elements.
  Turned,
  Strided,
  Far,
  Gathered,
  Sorted,
  Scattered,
  Pieces, // steps
  // Of products: operations of whole tiles of registers, whose edges compute nothing.
  ProductF32,
  ProductBF16,
  ProductF64,
  Runs,    // inner loops that begin, within products
  Results, // vectors of results that leave the registers
  // Elements of operands that are copied before they are multiplied.
  Copied,
  CopiedTurned,
  CopiedComputed,
  Begins,  // inner loops that begin, elsewhere
  Library, // operations of the runtime's own functions
  // Bytes of arrays that are read a few lines here and there.
  WarmStrips,   // that the cache still holds
  ColdStrips,   // others, in the cache that cores share
  MemoryStrips, // that no cache holds
  // Bytes one after the other.
  Warm,
  Streams,
  WrittenStrips, // of those that are written a few lines here and there
  // The same of arrays that no cache holds.
  MemoryStreams,
  MemoryWritten,
  // Bytes that are written where another core has the same lines: it has to give them up.
  TakenBack,
  // Bytes of collectives whose devices share a memory.
  Exchanged,
  Combined, // that are reduced
};
constexpr unsigned kTerms = static_cast<unsigned>(Term::Combined) + 1;
constexpr unsigned kFirstOfMemory = static_cast<unsigned>(Term::Warm);
const char *nameOf(Term term); // "arithmetic", as topology files have it
bool isKindOfWork(llvm::StringRef name);

// How much of each there is.
struct Terms {
  std::array<double, kTerms> amount{};
  double &operator[](Term term) { return amount[static_cast<unsigned>(term)]; }
  double operator[](Term term) const { return amount[static_cast<unsigned>(term)]; }
  Terms &add(const Terms &other, double times = 1);
};

// Bytes of an array that a core's cache does not hold; of these, bytes that no cache holds.
struct Missed {
  double core = 0, all = 0;
};

// `missed`: of each of the kernel's arrays; none given: all where together they are more than a cache
// holds, otherwise none.
Terms termsOf(const DeviceRates &rates, const KernelWork &work, llvm::ArrayRef<Missed> missed = {});

// Of a kernel of which positions that are known at run time hide some: the same share of all, but that rows
// are begun and ended whatever they see.
Terms seenInMean(const Terms &terms, double share);

// Of a kernel in a step of which other kernels, or this one, multiply by the processor's tiles.
Terms besideTiles(const DeviceRates &rates, Terms terms);
bool goesByTiles(const DeviceRates &rates, const KernelWork &work);

// Whether kernels go by rates of kinds of work, as cores' do that were measured.
inline bool goesByKinds(const DeviceRates &rates) {
  return !rates.kernels.empty() && !isGpu(rates);
}
// Whether more decides of a kernel than the roofline of its products and its memory.
inline bool pricesKernels(const DeviceRates &rates) { return goesByKinds(rates) || isGpu(rates); }

double flopsPerSecond(const DeviceRates &rates, ProductType type); // of products

// Of one core, or one device; without the launch. Of a GPU, by the blocks that the kernel is likely to
// get. Where a machine's rates by kind are not known, that roofline.
double kernelSeconds(const DeviceRates &rates, const KernelWork &work,
                     llvm::ArrayRef<Missed> missed = {});
// The roofline: no core does the same in less.
double leastSeconds(const DeviceRates &rates, const KernelWork &work);
// Of work that is nothing else than these.
double secondsOf(const DeviceRates &rates, const Terms &terms);
// Of a kernel of which no more is known than these, by the same rule: products of f32, and arrays
// that the cache holds if it has room for them.
double rooflineSeconds(const DeviceRates &rates, double flops, double bytes);

} // namespace tessera::cost
