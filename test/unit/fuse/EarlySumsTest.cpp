// Which sums of a loop are added to as soon as there is something to add.
#include "passes/fuse/EarlySums.h"

#include "compiler/Registration.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

using namespace mlir;

namespace {

// A loop that carries a sum, of what its first op converts to f32; $OPS are before the sum.
constexpr const char *kLoop = R"(
  func.func @main(%x: tensor<16x16xbf16>, %a: tensor<16x16xf32>) -> tensor<16x16xf32> {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %eight = stablehlo.constant dense<8> : tensor<i32>
    %start = stablehlo.constant dense<0.0> : tensor<16x16xf32>
    %f:3 = stablehlo.while(%i = %zero, %s = %start, %b = %a) : tensor<i32>, tensor<16x16xf32>, tensor<16x16xf32> attributes {tessera.trip_count = #tessera.trip_count<8>}
    cond {
      %p = stablehlo.compare LT, %i, %eight : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %h = stablehlo.multiply %x, %x : tensor<16x16xbf16>
      $OPS
      %n = stablehlo.add %i, %one : tensor<i32>
      stablehlo.return %n, %t, %c : tensor<i32>, tensor<16x16xf32>, tensor<16x16xf32>
    }
    return %f#1 : tensor<16x16xf32>
  })";

// The names of the loop's ops, in order; empty where what comes of it is no program.
std::string orderOf(const std::string &ops) {
  std::string text = kLoop;
  text.replace(text.find("$OPS"), 4, ops);
  DialectRegistry registry;
  tessera::registerDialects(registry);
  MLIRContext context(registry);
  context.loadAllAvailableDialects();
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
  if (!module)
    return "";
  tessera::fuse::addEarly(*module);
  if (failed(verify(*module)))
    return "";
  std::string names;
  module->walk([&](Operation *op) {
    if (op->getName().getStringRef() == "stablehlo.while")
      for (Operation &inner : op->getRegion(1).front().without_terminator())
        names += inner.getName().stripDialect().str() + " ";
  });
  return names;
}

} // namespace

TEST(EarlySums, AreAddedToWhereWhatIsAddedIsMade) {
  EXPECT_EQ(orderOf(R"(
      %c = stablehlo.tanh %b : tensor<16x16xf32>
      %w = stablehlo.convert %h : (tensor<16x16xbf16>) -> tensor<16x16xf32>
      %t = stablehlo.add %s, %w : tensor<16x16xf32>)"),
            "multiply convert add tanh add ");
}

TEST(EarlySums, StayWhereTheTripReadsWhatTheyWere) {
  EXPECT_EQ(orderOf(R"(
      %c = stablehlo.multiply %b, %s : tensor<16x16xf32>
      %w = stablehlo.convert %h : (tensor<16x16xbf16>) -> tensor<16x16xf32>
      %t = stablehlo.add %s, %w : tensor<16x16xf32>)"),
            "multiply multiply convert add add ");
}

TEST(EarlySums, StayWhereTheTripReadsWhatTheyAre) {
  EXPECT_EQ(orderOf(R"(
      %k = stablehlo.tanh %b : tensor<16x16xf32>
      %w = stablehlo.convert %h : (tensor<16x16xbf16>) -> tensor<16x16xf32>
      %t = stablehlo.add %s, %w : tensor<16x16xf32>
      %c = stablehlo.multiply %k, %t : tensor<16x16xf32>)"),
            "multiply tanh convert add multiply add ");
}

TEST(EarlySums, MoveNothingThatOthersRead) {
  EXPECT_EQ(orderOf(R"(
      %k = stablehlo.tanh %b : tensor<16x16xf32>
      %w = stablehlo.convert %h : (tensor<16x16xbf16>) -> tensor<16x16xf32>
      %t = stablehlo.add %s, %w : tensor<16x16xf32>
      %c = stablehlo.multiply %k, %w : tensor<16x16xf32>)"),
            "multiply tanh convert add multiply add ");
}
