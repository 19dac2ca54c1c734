// What is tried to find the least memory that a program needs.
#include "passes/fuse/MemoryBound.h"
#include "passes/fuse/TrialInOrder.h"

#include "compiler/Registration.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

using namespace mlir;
using tessera::fuse::MeasuredProgram;

namespace {

// Its tanh is computed again where there is little room, and its last sum before its product.
constexpr const char *kProgram = R"(
  func.func @main(%x: tensor<64x64xf32>, %v: tensor<64x256xf32>, %w: tensor<256x64xf32>) -> tensor<64x64xf32> {
    %a = stablehlo.tanh %x : tensor<64x64xf32>
    %b = stablehlo.dot_general %a, %v, contracting_dims = [1] x [0] : (tensor<64x64xf32>, tensor<64x256xf32>) -> tensor<64x256xf32>
    %c = stablehlo.dot_general %b, %w, contracting_dims = [1] x [0] : (tensor<64x256xf32>, tensor<256x64xf32>) -> tensor<64x64xf32>
    %d = stablehlo.dot_general %c, %a, contracting_dims = [1] x [0] : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    return %d : tensor<64x64xf32>
  })";

struct MemoryBound : testing::Test {
  MemoryBound() {
    DialectRegistry registry;
    tessera::registerDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
    module = parseSourceString<ModuleOp>(kProgram, &context);
  }

  // Of a search that takes programs of more ops than `large` for large ones, for a bound.
  MeasuredProgram least(tessera::fuse::MemoryBound &search, int64_t bound) {
    EXPECT_TRUE(succeeded(search.begin()));
    auto fitting = search.fitInto(bound);
    EXPECT_TRUE(succeeded(fitting) && !*fitting);
    auto least = search.least(bound);
    EXPECT_TRUE(succeeded(least));
    return *least;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

// Where a large program's arguments alone are too much, two programs are measured, for the error: in the
// order that tries hardest, and neither is one of the steps down.
TEST_F(MemoryBound, OfALargeProgramWithoutRoomTwoAreMeasured) {
  tessera::fuse::MemoryBound large(*module, /*predicts=*/false, /*large=*/3);
  MeasuredProgram few = least(large, 1);
  EXPECT_EQ(few.allowed, large.callersBytes());
  tessera::fuse::MemoryBound small(*module);
  MeasuredProgram many = least(small, 1);
  EXPECT_GE(few.bytes, many.bytes);
  EXPECT_LT(few.bytes, large.callersBytes() * 2);
  EXPECT_EQ(large.countTried(), 1); // straight down
  EXPECT_GT(small.countTried(), 1);
}

// With room for these, all is tried: what is named fits.
TEST_F(MemoryBound, OfALargeProgramWithRoomAllIsTried) {
  tessera::fuse::MemoryBound small(*module);
  MeasuredProgram all = least(small, 1);
  tessera::fuse::MemoryBound large(*module, /*predicts=*/false, /*large=*/3);
  EXPECT_EQ(least(large, small.callersBytes() + 1).bytes, all.bytes);
}

// What is named is aimed below, until nothing is found there.
TEST_F(MemoryBound, BelowTheLeastNothingIsFound) {
  tessera::fuse::MemoryBound search(*module);
  MeasuredProgram named = least(search, search.callersBytes() + 1);
  auto below = search.fitInto(named.bytes - (named.bytes - search.callersBytes()) / 32);
  EXPECT_TRUE(succeeded(below) && !*below);
}

// Its arrays are all made before they are read: the phase order reads each before it makes the next.
TEST_F(MemoryBound, TasksInTheirOrderHoldWhatTheProgramWillHold) {
  constexpr const char *early = R"(
  module attributes {tessera.schedule = #tessera.schedule<overlap = auto, memory = 1>} {
    func.func @main(%x: tensor<64x64xf32>, %v: tensor<64x256xf32>, %w: tensor<256x64xf32>) -> tensor<64x64xf32> {
      %a = stablehlo.dot_general %x, %v, contracting_dims = [1] x [0] : (tensor<64x64xf32>, tensor<64x256xf32>) -> tensor<64x256xf32>
      %y = stablehlo.tanh %x : tensor<64x64xf32>
      %b = stablehlo.dot_general %y, %v, contracting_dims = [1] x [0] : (tensor<64x64xf32>, tensor<64x256xf32>) -> tensor<64x256xf32>
      %c = stablehlo.dot_general %a, %w, contracting_dims = [1] x [0] : (tensor<64x256xf32>, tensor<256x64xf32>) -> tensor<64x64xf32>
      %d = stablehlo.dot_general %b, %w, contracting_dims = [1] x [0] : (tensor<64x256xf32>, tensor<256x64xf32>) -> tensor<64x64xf32>
      %e = stablehlo.dot_general %c, %d, contracting_dims = [1] x [0] : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
      return %e : tensor<64x64xf32>
    }
  })";
  module = parseSourceString<ModuleOp>(early, &context);
  tessera::codegen::KernelScratch scratch;
  auto trial = tessera::fuse::tryKernels(*module, scratch);
  auto ordered = tessera::fuse::tryInOrder(*module, scratch);
  ASSERT_TRUE(succeeded(trial) && succeeded(ordered));
  constexpr int64_t array = 64 * 256 * 4;
  EXPECT_GE(tessera::cost::peakOf(trial->program), 2 * array);
  EXPECT_LT(tessera::cost::peakOf(ordered->program), 2 * array);
}

} // namespace
