// How long a kernel takes by a machine's rates, and rates that are found from measurements.
#include "lib/cost/CacheWalk.h"
#include "lib/cost/FitRates.h"
#include "lib/cost/SharedCores.h"

#include "gtest/gtest.h"

#include <cmath>

namespace tessera::cost {
namespace {

KernelWork elementwise(double lanes, double bytes) {
  KernelWork work;
  work.of(ElementClass::Arithmetic) = work.flops = lanes;
  work.arrays = {{bytes / 2}, {bytes / 2}};
  return work;
}

TEST(KernelSeconds, AddsWhatIsComputedAndOverlapsMemory) {
  DeviceRates rates;
  rates.kernels = {{"arithmetic", 1e9}, {"division", 1e8}, {"warm", 1e9}, {"streams", 1e8}};
  KernelWork work = elementwise(3e6, 4e6);
  Missed warm[] = {{}, {}}, cold[] = {{2e6}, {2e6}};
  EXPECT_DOUBLE_EQ(kernelSeconds(rates, work, warm), 5e-3); // 3 ms and 4 ms
  EXPECT_DOUBLE_EQ(kernelSeconds(rates, work, cold), std::hypot(3e-3, 40e-3));
  work.of(ElementClass::Division) = 1e5;
  EXPECT_DOUBLE_EQ(kernelSeconds(rates, work, warm), std::hypot(4e-3, 4e-3));
}

TEST(KernelSeconds, ArraysThatTheCacheCannotHoldAreCold) {
  DeviceRates rates;
  rates.cacheBytes = 1e6;
  rates.kernels = {{"warm", 1e9}, {"streams", 1e8}};
  EXPECT_DOUBLE_EQ(kernelSeconds(rates, elementwise(0, 1e6)), 1e-3);
  EXPECT_DOUBLE_EQ(kernelSeconds(rates, elementwise(0, 2e6)), 20e-3);
  rates.sharedBytes = 3e6; // and beyond it memory, which half of the second array is in
  rates.kernels["memory_streams"] = 1e7;
  EXPECT_DOUBLE_EQ(kernelSeconds(rates, elementwise(0, 4e6)), 400e-3);
  Missed half[] = {{1e6}, {1e6, 5e5}};
  EXPECT_DOUBLE_EQ(kernelSeconds(rates, elementwise(0, 2e6), half), 15e-3 + 50e-3);
}

// Rows of which nothing is seen are begun and ended as others are.
TEST(KernelTerms, WhatIsSeenInTheMeanLeavesRows) {
  Terms terms;
  terms[Term::ProductF32] = 100;
  terms[Term::Attended] = 10;
  Terms seen = seenInMean(terms, 0.5);
  EXPECT_EQ(seen[Term::ProductF32], 50);
  EXPECT_EQ(seen[Term::Attended], 10);
}

// Results that are written in strips overlap with computing, operands that are read so do not.
TEST(KernelSeconds, NobodyWaitsForWhatIsWritten) {
  DeviceRates rates;
  rates.kernels = {{"arithmetic", 1e9}, {"cold_strips", 1e8}, {"written_strips", 1e8}};
  KernelWork work = elementwise(3e6, 8e5);
  work.arrays[0].inStrips = work.arrays[1].inStrips = work.arrays[1].isWritten = true;
  Missed read[] = {{4e5}, {}}, written[] = {{}, {4e5}};
  EXPECT_DOUBLE_EQ(kernelSeconds(rates, work, read), 7e-3);
  EXPECT_DOUBLE_EQ(kernelSeconds(rates, work, written), 5e-3);
}

// A tile at the edge computes as much as a whole one.
TEST(KernelSeconds, ProductsAreWholeTiles) {
  DeviceRates rates;
  rates.kernels = {{"product_f32", 1e9}};
  KernelWork whole, edge;
  whole.products.push_back({.m = 64, .n = 64, .k = 128, .run = 128});
  edge.products.push_back({.m = 64, .n = 33, .k = 128, .run = 128});
  EXPECT_DOUBLE_EQ(kernelSeconds(rates, whole), whole.products[0].flops() / 1e9);
  EXPECT_DOUBLE_EQ(kernelSeconds(rates, edge), kernelSeconds(rates, whole));
  // One row keeps two sums where eight would fit in the time that one takes.
  KernelWork row;
  row.products.push_back({.m = 1, .n = 64, .k = 128, .run = 128});
  EXPECT_DOUBLE_EQ(kernelSeconds(rates, row), 4 * row.products[0].flops() / 1e9);
}

// Pairs of bf16 are added in one step, which takes half as long again: more sums go on at a time. They are
// copied as they are, what is computed for them is of f32 before.
TEST(KernelSeconds, ProductsOfPairs) {
  DeviceRates rates;
  rates.kernels = {{"product_bf16", 1e9}, {"copied", 1e6}};
  KernelWork narrow; // one vector of eight rows: eight sums
  Product &product = narrow.products.emplace_back();
  product = {.type = ProductType::BF16, .m = 64, .n = 16, .k = 128, .run = 128};
  EXPECT_DOUBLE_EQ(kernelSeconds(rates, narrow), 1.5 * product.flops() / 1e9);
  double uncopied = kernelSeconds(rates, narrow);
  product.a = Product::Plain;
  EXPECT_DOUBLE_EQ(kernelSeconds(rates, narrow) - uncopied, 64 * 128 / 2 / 1e6);
  product.isWidened = true;
  EXPECT_DOUBLE_EQ(kernelSeconds(rates, narrow), 64 * 128 / 1e6);
}

// A processor that has no products of bf16 has no rate for them: they are of f32, also when they are copied.
// (They were copied at half their price, as bf16.)
TEST(KernelSeconds, WithoutARateProductsOfBf16AreOfF32) {
  DeviceRates rates;
  rates.kernels = {{"product_f32", 1e9}};
  KernelWork work;
  Product &product = work.products.emplace_back();
  product = {.type = ProductType::BF16, .m = 64, .n = 64, .k = 128, .run = 128};
  EXPECT_DOUBLE_EQ(kernelSeconds(rates, work), product.flops() / 1e9);
  rates.kernels = {{"copied", 1e6}};
  product.b = Product::Plain, product.timesB = 2;
  EXPECT_DOUBLE_EQ(kernelSeconds(rates, work), 2 * 64 * 128 / 1e6);
  rates.kernels["product_bf16"] = 1e30;
  EXPECT_DOUBLE_EQ(kernelSeconds(rates, work), 64 * 128 / 1e6);
}

// Where vectors are shorter than 64 bytes cells are of another size, and copy operands as often as that says.
TEST(KernelSeconds, ShortVectorsHaveCopiesOfTheirOwn) {
  DeviceRates rates;
  rates.kernels = {{"copied", 1e6}};
  KernelWork work;
  Product &product = work.products.emplace_back();
  product = {.m = 64, .n = 64, .k = 128, .run = 128, .a = Product::Plain};
  EXPECT_DOUBLE_EQ(kernelSeconds(rates, work), 64 * 128 / 1e6);
  rates.vectorBytes = 32;
  EXPECT_DOUBLE_EQ(kernelSeconds(rates, work), 64 * 128 / 1e6); // where nothing else is said
  product.byShortVectors = {.a = Product::Plain, .b = Product::Plain, .timesA = 2, .timesB = 3};
  EXPECT_DOUBLE_EQ(kernelSeconds(rates, work), (2 * 64 + 3 * 64) * 128 / 1e6);
}

// Each tile of rows reads the same lines of b, which a power of two apart lie in few of the cache's sets. (All
// strips were priced by the rate that such ones had, others at a quarter of their pace.)
TEST(KernelSeconds, RowsAPowerOfTwoApartAreReadAgain) {
  DeviceRates rates;
  rates.vectorBytes = 32;
  rates.cacheBytes = 512 << 10;
  rates.kernels = {{"cold_strips", 1e9}};
  KernelWork work;
  Product &product = work.products.emplace_back();
  product = {.m = 16, .n = 512, .k = 512, .run = 512, .strideOfB = 2048};
  double missed = 1 - heldAfter(512, 256), ofB = 4 * 512 * 512;
  EXPECT_DOUBLE_EQ(kernelSeconds(rates, work), 3 * missed * ofB / 1e9); // four tiles of four rows
  EXPECT_GT(missed, 0.5);
  product.k = product.run = 256; // which the sets have room for
  EXPECT_EQ(kernelSeconds(rates, work), 0);
  product.k = product.run = 512, product.strideOfB = 1920;
  EXPECT_EQ(kernelSeconds(rates, work), 0);
  product.strideOfB = 2048, product.b = Product::Plain; // panels lie in one piece
  EXPECT_EQ(kernelSeconds(rates, work), 0);
}

// Files from before a kind of work had a rate of its own price it as it was counted then.
TEST(KernelSeconds, OlderFilesPriceWhatHasARateNow) {
  DeviceRates rates;
  rates.kernels = {{"arithmetic", 3e9}, {"halves", 4e6}};
  KernelWork work;
  work.of(ElementClass::Narrowed) = 1e6;
  EXPECT_DOUBLE_EQ(kernelSeconds(rates, work), 1e-3);
  work.of(Folding::Attended) = 1e3;
  EXPECT_DOUBLE_EQ(kernelSeconds(rates, work), 2e-3);
  rates.kernels["narrowed"] = 1e9;
  rates.kernels["attended"] = 1e3;
  EXPECT_DOUBLE_EQ(kernelSeconds(rates, work), 1 + 1e-3);
}

// Where the processor multiplies tiles of bf16, they are 16 x 16 sums of 32 k's each, and b is copied.
TEST(KernelSeconds, ProductsOfBf16GoByTheProcessorsTiles) {
  DeviceRates rates;
  rates.kernels = {{"product_bf16", 1e9}};
  KernelWork work;
  Product &product = work.products.emplace_back();
  product = {.type = ProductType::BF16, .m = 40, .n = 33, .k = 40, .run = 40};
  double byRegisters = kernelSeconds(rates, work);
  rates.tileRows = 16;
  // Two tiles of 32 rows and two of 32 columns, of two units of k.
  EXPECT_DOUBLE_EQ(kernelSeconds(rates, work), 2.0 * 64 * 64 * 64 / 1e9);
  EXPECT_NE(kernelSeconds(rates, work), byRegisters);
  rates.kernels = {{"copied", 1e6}};
  product.byTiles.timesB = 3;
  EXPECT_DOUBLE_EQ(kernelSeconds(rates, work), 3 * 33 * 64 / 2 / 1e6); // two elements a lane
}

// The clock is slower in a step that multiplies by tiles; those products are measured so.
TEST(KernelSeconds, WhatIsComputedBesideTilesTakesLonger) {
  DeviceRates rates;
  rates.besideTiles = 1.5;
  Terms terms;
  terms[Term::Arithmetic] = terms[Term::ProductBF16] = terms[Term::Streams] = 8;
  Terms beside = besideTiles(rates, terms);
  EXPECT_EQ(beside[Term::Arithmetic], 12);
  EXPECT_EQ(beside[Term::ProductBF16], 8);
  EXPECT_EQ(beside[Term::Streams], 8);
  KernelWork work;
  work.products.push_back({.type = ProductType::BF16});
  EXPECT_FALSE(goesByTiles(rates, work));
  rates.tileRows = 16;
  EXPECT_TRUE(goesByTiles(rates, work));
}

TEST(KernelSeconds, WithoutRatesByKindTheRoofline) {
  DeviceRates rates;
  rates.flopsPerSecond = 1e9;
  rates.bytesPerSecond = 1e8;
  EXPECT_DOUBLE_EQ(kernelSeconds(rates, elementwise(3e6, 1e5)), 3e-3);
  EXPECT_DOUBLE_EQ(kernelSeconds(rates, elementwise(3e6, 1e6)), 10e-3);
  rates.flopsByType["bf16"] = 4e9;
  KernelWork product;
  product.products.push_back({.type = ProductType::BF16, .m = 100, .n = 100, .k = 100});
  product.flops = product.products[0].flops();
  EXPECT_DOUBLE_EQ(kernelSeconds(rates, product), 2e6 / 4e9);
}

TEST(SharedGrid, HasAtLeastOneCell) {
  KernelWork work;
  work.flops = 3;
  for (auto [grid, cells] :
       {std::pair<double, uint32_t>{0, 1}, {.25, 1}, {7, 7}, {1e12, UINT32_MAX}}) {
    work.grid = grid;
    EXPECT_EQ(sharedGrid(work, 5).cells, cells);
  }
  EXPECT_EQ(sharedGrid(work, 5).flops, 3);
  EXPECT_EQ(sharedGrid(work, 5).bytes, 5);
}

TEST(SharedSeconds, GridsFeedIdleCores) {
  DeviceRates rates;
  rates.sharingSeconds = 1e-6;
  // Of 100 microseconds, as the runtime takes it: chunks of an eighth, however long it is here.
  steps::SharedGrid eight{8, 4e6, 0}, three{3, 4e6, 0}, small{8, 1e4, 1e4}, whole{1, 4e6, 0};
  EXPECT_DOUBLE_EQ(sharedSeconds(rates, 100e-6, eight, 1), 100e-6);
  EXPECT_DOUBLE_EQ(sharedSeconds(rates, 100e-6, eight, 2), 51e-6);
  EXPECT_DOUBLE_EQ(sharedSeconds(rates, 10e-6, eight, 2), 6e-6);
  EXPECT_DOUBLE_EQ(sharedSeconds(rates, 90e-6, three, 2), 61e-6); // two cells and one
  EXPECT_DOUBLE_EQ(sharedSeconds(rates, 100e-6, small, 2), 100e-6);
  EXPECT_DOUBLE_EQ(sharedSeconds(rates, 100e-6, whole, 2), 100e-6);
}

// Chunks are of 8 of its microseconds: of 15 bytes for each of them two, of eight cells and of seven.
TEST(SharedSeconds, CoresTakeChunksInTurns) {
  DeviceRates rates;
  steps::SharedGrid grid{15, 0, 150e3};
  EXPECT_EQ(grid.chunk(), 8u);
  EXPECT_DOUBLE_EQ(sharedSeconds(rates, 15e-6, grid, 2), 8e-6);
  EXPECT_DOUBLE_EQ(sharedSeconds(rates, 15e-6, grid, 4), 8e-6);
  grid = {7, 0, 280e3}; // of two cells, four of them
  EXPECT_DOUBLE_EQ(sharedSeconds(rates, 7e-6, grid, 2), 4e-6);
  EXPECT_EQ(coresOfGrid(grid, 16), 4);
}

// A cell of 96 of 128 columns and one of 32; two of 48 and one of 32, of which the core with one takes the
// last.
TEST(SharedSeconds, CellsThatAnEdgeCutsShort) {
  DeviceRates rates;
  steps::SharedGrid two{2, 4e6, 0}, three{3, 4e6, 0};
  EXPECT_DOUBLE_EQ(sharedSeconds(rates, 128e-6, two, 2, false, 96 / 128.0), 96e-6);
  EXPECT_DOUBLE_EQ(sharedSeconds(rates, 128e-6, two, 2, false, 0.5), 64e-6);
  EXPECT_DOUBLE_EQ(sharedSeconds(rates, 128e-6, three, 2, false, 48 / 128.0), 80e-6);
  EXPECT_DOUBLE_EQ(sharedSeconds(rates, 128e-6, three, 3, false, 48 / 128.0), 48e-6);
}

TEST(FitRates, WhatAStepTakesLongerIsItsExchange) {
  Observation with, without;
  with.terms[Term::Exchanged] = 10, with.terms[Term::Warm] = 5, with.meetings = 2;
  without.terms[Term::Warm] = 7;
  with.launches = without.launches = 3;
  with.seconds = 8, without.seconds = 6;
  Observation alone = exchangeAlone(with, without);
  EXPECT_EQ(alone.terms[Term::Exchanged], 10);
  EXPECT_EQ(alone.terms[Term::Warm], 0);
  EXPECT_EQ(alone.meetings, 2);
  EXPECT_EQ(alone.launches, 0);
  EXPECT_EQ(alone.seconds, 2);
  without.seconds = 9; // noise
  EXPECT_DOUBLE_EQ(exchangeAlone(with, without).seconds, 0.08);
}

// Programs that spend most of their time on one or two kinds of work each, on a machine whose rates
// are known.
std::vector<Observation> observed(const DeviceRates &truth, double noise) {
  std::vector<Observation> all;
  for (unsigned term = 0; term < kTerms; ++term)
    for (int size = 0; size < 2; ++size) {
      Observation one;
      double rate = truth.kernels.find(nameOf(Term(term)))->second;
      one.terms.amount[term] = (1 + size) * 1e-3 * rate;
      one.terms[Term::Arithmetic] += 1e-4 * truth.kernels.find("arithmetic")->second;
      one.launches = 10;
      one.instructions = 100;
      one.seconds = predictedSeconds(truth, one) * (1 + ((term + size) % 2 ? noise : -noise));
      all.push_back(one);
    }
  for (int count : {1000, 2000}) {
    Observation steps, launches, instructions, meetings;
    steps.steps = launches.launches = instructions.instructions = meetings.meetings = count;
    for (Observation *one : {&steps, &launches, &instructions, &meetings}) {
      one->seconds = predictedSeconds(truth, *one);
      all.push_back(*one);
    }
  }
  return all;
}

DeviceRates machine() {
  DeviceRates truth = referenceRates();
  double factor = 0.3; // unlike the reference, each in its own way
  for (auto &[name, rate] : truth.kernels)
    rate *= factor = factor > 3 ? 0.3 : factor * 1.3;
  truth.stepSeconds *= 2;
  truth.launchSeconds *= 5;
  truth.meetingSeconds /= 3;
  return truth;
}

TEST(FitRates, FindsTheRates) {
  DeviceRates truth = machine(), found = fitRates(referenceRates(), observed(truth, 0));
  for (auto &[name, rate] : truth.kernels)
    EXPECT_NEAR(found.kernels[name] / rate, 1, 0.03) << name;
  EXPECT_NEAR(found.stepSeconds / truth.stepSeconds, 1, 0.05);
  EXPECT_NEAR(found.launchSeconds / truth.launchSeconds, 1, 0.05);
  EXPECT_NEAR(found.meetingSeconds / truth.meetingSeconds, 1, 0.05);
}

TEST(FitRates, OneDisturbedMeasurementSpoilsNothing) {
  DeviceRates truth = machine();
  std::vector<Observation> all = observed(truth, 0.02);
  all[0].seconds *= 10;
  DeviceRates found = fitRates(referenceRates(), all);
  for (auto &[name, rate] : truth.kernels)
    EXPECT_NEAR(found.kernels[name] / rate, 1, name == "arithmetic" ? 0.4 : 0.15) << name;
}

TEST(FitRates, WhatNothingTellsStays) {
  Observation one;
  one.terms[Term::Division] = 1e6;
  one.seconds = 1e-3;
  DeviceRates found = fitRates(referenceRates(), one);
  EXPECT_NEAR(found.kernels["division"], 1e9, 3e7);
  EXPECT_NEAR(found.kernels["sorted"] / referenceRates().kernels.find("sorted")->second, 1, 1e-6);
}

} // namespace
} // namespace tessera::cost
