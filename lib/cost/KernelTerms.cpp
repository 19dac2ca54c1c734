#include "lib/cost/KernelTerms.h"
#include "lib/cost/CacheWalk.h"
#include "lib/cost/ProductTile.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

namespace tessera::cost {

static constexpr const char *kNames[] = {
    "arithmetic",     "division",       "exponential",   "function",
    "one_by_one",     "narrowed",       "waiting",       "columns",
    "rows",           "stepwise",       "chain",         "halves",
    "attended",       "turned",         "strided",       "far",
    "gathered",       "sorted",         "scattered",     "pieces",
    "product_f32",    "product_bf16",   "product_f64",   "runs",
    "results",        "copied",         "copied_turned", "copied_computed",
    "begins",         "library",        "warm_strips",   "cold_strips",
    "memory_strips",  "warm",           "streams",       "written_strips",
    "memory_streams", "memory_written", "taken_back",    "exchanged",
    "combined",
};
static_assert(std::size(kNames) == kTerms);

const char *nameOf(Term term) { return kNames[static_cast<unsigned>(term)]; }
bool isKindOfWork(llvm::StringRef name) { return llvm::is_contained(kNames, name); }

Terms &Terms::add(const Terms &other, double times) {
  for (unsigned i = 0; i < kTerms; ++i)
    amount[i] += times * other.amount[i];
  return *this;
}

namespace {

// Of `lanes` of four bytes.
void addCopy(Product::Copy copy, double lanes, Terms &terms) {
  if (copy != Product::None)
    terms[copy == Product::Plain    ? Term::Copied
          : copy == Product::Turned ? Term::CopiedTurned
                                    : Term::CopiedComputed] += lanes;
}

// Of an element: two of bf16 are a lane, but where they are computed.
double lanesOfCopy(Product::Copy copy, bool ofBf16) {
  return ofBf16 && copy != Product::Computed ? 0.5 : 1;
}

// By the processor's own tiles of bf16 (passes/codegen/cpu/ContractionTiles.cpp): two by two of them
// hold sums of four bytes, and each step is as many pairs of k.
void addTiled(const Product &product, double tileRows, Terms &terms) {
  constexpr double block = 4096; // of k, that one sum adds
  auto whole = [](double size, double step) { return step * std::ceil(size / step); };
  double unit = 2 * tileRows, columns = product.n > tileRows ? unit : tileRows;
  double rows = std::min(product.m, unit), k = whole(product.k, unit);
  double tiles = product.batch * std::ceil(product.m / rows) * std::ceil(product.n / columns);
  terms[Term::ProductBF16] += 2 * tiles * whole(rows, tileRows) * columns * k;
  terms[Term::Runs] += tiles * std::ceil(k / block);
  terms[Term::Results] += tiles * rows * columns / tileRows * std::ceil(k / block);
  const Product::Copies &copies = product.byTiles;
  double a = product.batch * product.m * k * copies.timesA,
         b = product.batch * product.n * k * copies.timesB;
  addCopy(copies.a, lanesOfCopy(copies.a, /*ofBf16=*/true) * a, terms);
  addCopy(copies.b, lanesOfCopy(copies.b, /*ofBf16=*/true) * b, terms);
}

bool goesByTiles(const DeviceRates &rates, const Product &product) {
  return rates.tileRows > 0 && product.type == ProductType::BF16;
}

// Bytes of b that come from beyond a core's cache once more: where b is read as it lies, each tile of rows
// reads the same few lines of all its rows, and where these lie a power of two apart they come to lie in few
// of the cache's sets.
//   512 rows 2 KiB apart, a cache of 512 KiB: it has room for 256 such lines
double readAgain(const Product &product, const Tile &tile, const DeviceRates &rates) {
  constexpr double ways = 8, mostOfWay = 128 << 10; // of caches of some megabytes ways are more
  double passes = std::ceil(product.m / tile.rows) - 1;
  auto way = static_cast<int64_t>(std::min(rates.cacheBytes / ways, mostOfWay));
  if (product.strideOfB <= 0 || passes <= 0 || way <= 0)
    return 0;
  int64_t apart = std::gcd(static_cast<int64_t>(product.strideOfB), way);
  double element = product.type == ProductType::F64 ? 8 : 4;
  double room = rates.cacheBytes / std::max(double(apart), element * tile.columns);
  double missed = 1 - heldAfter(product.k, room);
  return missed * passes * element * product.batch * product.n * product.k;
}

void addProduct(const Product &product, const DeviceRates &rates, Terms &terms) {
  if (goesByTiles(rates, product))
    return addTiled(product, rates.tileRows, terms);
  double lanesOfVector = rates.vectorBytes / 4;
  Tile tile = tileOf(product, lanesOfVector);
  double tiles =
      product.batch * std::ceil(product.m / tile.rows) * std::ceil(product.n / tile.columns);
  double width = lanesOfVector / (product.type == ProductType::F64 ? 2 : 1);
  // Pairs fill whole vectors. Otherwise, and where the processor has no products of pairs, all is widened
  // when it is copied.
  bool inPairs = product.type == ProductType::BF16 && !product.isWidened &&
                 rates.kernels.count(nameOf(Term::ProductBF16)) &&
                 tile.columns == tile.vectors * lanesOfVector;
  // Fewer sums at a time wait for each other: an addition of two products takes six cycles, two begin in one.
  double sums = std::max(tile.rows * tile.vectors, inPairs ? 12.0 : 8.0);
  bool isDouble = product.type == ProductType::F64;
  double flops = 2 * tiles * product.k * sums * (isDouble ? lanesOfVector / 2 : lanesOfVector);
  terms[isDouble ? Term::ProductF64 : inPairs ? Term::ProductBF16 : Term::ProductF32] += flops;
  constexpr double block = 128; // of k, that one sum adds
  terms[Term::Runs] += tiles * std::max(product.k / product.run, std::ceil(product.k / block));
  // What is turned passes through registers thrice.
  terms[Term::Results] += tiles * (product.isTurned ? 3 * width : tile.rows * tile.vectors);
  Product::Copies copies = {product.a, product.b, product.timesA, product.timesB};
  if (rates.vectorBytes < 64 && product.byShortVectors)
    copies = *product.byShortVectors;
  if (copies.b == Product::None)
    terms[Term::ColdStrips] += readAgain(product, tile, rates);
  double a = product.batch * product.m * product.k * copies.timesA,
         b = product.batch * product.n * product.k * copies.timesB;
  addCopy(copies.a, lanesOfCopy(copies.a, inPairs) * a, terms);
  addCopy(copies.b, lanesOfCopy(copies.b, inPairs) * b, terms);
}

} // namespace

static bool isBeyondShared(const DeviceRates &rates, double bytes) {
  return rates.sharedBytes > 0 && bytes > rates.sharedBytes;
}

Terms termsOf(const DeviceRates &rates, const KernelWork &work, llvm::ArrayRef<Missed> missed) {
  Terms terms;
  auto copy = [&](Term first, const auto &from) {
    for (size_t i = 0; i < from.size(); ++i)
      terms.amount[static_cast<unsigned>(first) + i] = from[i];
  };
  copy(Term::Arithmetic, work.elements);
  copy(Term::Columns, work.folded);
  copy(Term::Turned, work.accessed);
  for (const Product &product : work.products)
    addProduct(product, rates, terms);
  terms[Term::Begins] += work.runs;
  terms[Term::Library] = work.libraryFlops;
  Missed whole;
  if (missed.empty() && work.bytes() > rates.cacheBytes)
    whole.core = 1;
  if (missed.empty() && isBeyondShared(rates, work.bytes()))
    whole.all = 1;
  bool isNear = work.bytes() <= rates.nearBytes;
  for (size_t i = 0; i < work.arrays.size(); ++i) {
    const Touched &array = work.arrays[i];
    double core =
               i < missed.size() ? std::min(missed[i].core, array.bytes) : whole.core * array.bytes,
           all = i < missed.size() ? std::min(missed[i].all, core) : whole.all * array.bytes;
    // Nobody waits for what is written.
    bool waits = array.inStrips && !array.isWritten;
    terms[waits ? Term::WarmStrips : Term::Warm] += array.bytes - core;
    terms[waits            ? Term::ColdStrips
          : array.inStrips ? Term::WrittenStrips
                           : Term::Streams] += core - all;
    terms[waits            ? Term::MemoryStrips
          : array.inStrips ? Term::MemoryWritten
                           : Term::MemoryStreams] += all;
    isNear &= core == 0;
  }
  if (isNear) // the loops' own loads are part of what they compute
    terms[Term::Warm] = terms[Term::WarmStrips] = 0;
  return terms;
}

Terms seenInMean(const Terms &terms, double share) {
  Terms seen = Terms().add(terms, share);
  seen[Term::Attended] = terms[Term::Attended];
  return seen;
}

Terms besideTiles(const DeviceRates &rates, Terms terms) {
  for (unsigned i = 0; i < kFirstOfMemory; ++i)
    if (i != static_cast<unsigned>(Term::ProductBF16)) // which is measured so
      terms.amount[i] *= rates.besideTiles;
  return terms;
}

bool goesByTiles(const DeviceRates &rates, const KernelWork &work) {
  return llvm::any_of(work.products,
                      [&](const Product &product) { return goesByTiles(rates, product); });
}

// Of files from before a kind of work had a rate of its own: as it was counted then.
static double rateInstead(const DeviceRates &rates, Term term) {
  auto of = [&](Term other, double times) {
    auto rate = rates.kernels.find(nameOf(other));
    return rate == rates.kernels.end() ? 0 : rate->second / times;
  };
  return term == Term::Narrowed   ? of(Term::Arithmetic, 3)
         : term == Term::Attended ? of(Term::Halves, 4)
         : term == Term::Pieces   ? of(Term::OneByOne, 1)
                                  : 0;
}

double secondsOf(const DeviceRates &rates, const Terms &terms) {
  double compute = 0, memory = 0;
  for (unsigned i = 0; i < kTerms; ++i) {
    if (terms.amount[i] <= 0)
      continue;
    auto found = rates.kernels.find(kNames[i]);
    double rate =
        found == rates.kernels.end() ? rateInstead(rates, static_cast<Term>(i)) : found->second;
    if (rate > 0)
      (i < kFirstOfMemory ? compute : memory) += terms.amount[i] / rate;
  }
  return std::hypot(compute, memory);
}

double rooflineSeconds(const DeviceRates &rates, double flops, double bytes) {
  if (!goesByKinds(rates))
    return std::max(flops / rates.flopsPerSecond, bytes / rates.bytesPerSecond);
  Terms terms;
  terms[Term::ProductF32] = flops;
  terms[isBeyondShared(rates, bytes) ? Term::MemoryStreams
        : bytes > rates.cacheBytes   ? Term::Streams
                                     : Term::Warm] = bytes;
  return secondsOf(rates, terms);
}

double kernelSeconds(const DeviceRates &rates, const KernelWork &work,
                     llvm::ArrayRef<Missed> missed) {
  if (isGpu(rates))
    return gpuSeconds(rates, work, likelyBlocks(rates, work));
  return goesByKinds(rates) ? secondsOf(rates, termsOf(rates, work, missed))
                            : leastSeconds(rates, work);
}

double flopsPerSecond(const DeviceRates &rates, ProductType type) {
  auto typed = rates.flopsByType.find(type == ProductType::BF16  ? "bf16"
                                      : type == ProductType::F64 ? "f64"
                                                                 : "f32");
  return typed == rates.flopsByType.end() ? rates.flopsPerSecond : typed->second;
}

double leastSeconds(const DeviceRates &rates, const KernelWork &work) {
  double seconds = work.libraryFlops / rates.flopsPerSecond, products = 0;
  for (const Product &product : work.products) {
    seconds += product.flops() / flopsPerSecond(rates, product.type);
    products += product.flops();
  }
  seconds += std::max(0.0, work.flops - work.libraryFlops - products) / rates.flopsPerSecond;
  return std::max(seconds, work.bytes() / rates.bytesPerSecond);
}

} // namespace tessera::cost
