// Which stacks are put away in the narrower type that their values are converted from.
#include "passes/fuse/NarrowStacks.h"

#include "compiler/Registration.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

using namespace mlir;

namespace {

// A loop that converts to $WIDE and puts away in a stack that begins as $START; $READS is behind it.
constexpr const char *kLoop = R"(
  sdy.mesh @mesh = <["d"=2]>
  func.func @main(%x: tensor<16x16x$NARROW>, %a: tensor<8x16x16x$WIDE>) -> tensor<8x16x16x$WIDE> {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %eight = stablehlo.constant dense<8> : tensor<i32>
    %start = stablehlo.constant dense<$START> : tensor<8x16x16x$WIDE>
    %f:2 = stablehlo.while(%i = %zero, %s = %start) : tensor<i32>, tensor<8x16x16x$WIDE> attributes {tessera.trip_count = #tessera.trip_count<8>}
    cond {
      %p = stablehlo.compare LT, %i, %eight : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %h = stablehlo.multiply %x, %x : tensor<16x16x$NARROW>
      %w = stablehlo.convert %h : (tensor<16x16x$NARROW>) -> tensor<16x16x$WIDE>
      %v = stablehlo.reshape %w : (tensor<16x16x$WIDE>) -> tensor<1x16x16x$WIDE>
      %t = stablehlo.dynamic_update_slice %s, %v, %i, %zero, %zero : (tensor<8x16x16x$WIDE>, tensor<1x16x16x$WIDE>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<8x16x16x$WIDE>
      %n = stablehlo.add %i, %one : tensor<i32>
      stablehlo.return %n, %t : tensor<i32>, tensor<8x16x16x$WIDE>
    }
    $READS
  })";

constexpr const char *kByElements = R"(
    %r = stablehlo.reshape %f#1 : (tensor<8x16x16x$WIDE>) -> tensor<128x16x$WIDE>
    %u = stablehlo.add %r, %r : tensor<128x16x$WIDE>
    %y = stablehlo.reshape %u : (tensor<128x16x$WIDE>) -> tensor<8x16x16x$WIDE>
    %z = stablehlo.multiply %f#1, %y : tensor<8x16x16x$WIDE>
    return %z : tensor<8x16x16x$WIDE>)";

struct Kind {
  std::string reads = kByElements, narrow = "bf16", wide = "f32", start = "0.0";
};

// How many stacks are narrowed; -1 where what comes of it is no program.
int narrowed(const Kind &kind) {
  std::string text = kLoop;
  auto replace = [&](const std::string &name, const std::string &by) {
    for (size_t at; (at = text.find(name)) != std::string::npos;)
      text.replace(at, name.size(), by);
  };
  replace("$READS", kind.reads);
  replace("$NARROW", kind.narrow);
  replace("$WIDE", kind.wide);
  replace("$START", kind.start);
  DialectRegistry registry;
  tessera::registerDialects(registry);
  MLIRContext context(registry);
  context.loadAllAvailableDialects();
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
  int count = module ? tessera::fuse::narrowStacks(*module) : -1;
  return module && succeeded(verify(*module)) ? count : -1;
}

TEST(NarrowStacks, AreThoseReadByElements) {
  EXPECT_EQ(narrowed({}), 1);
  EXPECT_EQ(narrowed({.narrow = "i8", .wide = "i32", .start = "0"}), 1);
  EXPECT_EQ(narrowed({.narrow = "i1", .wide = "f32"}), 1);
}

TEST(NarrowStacks, AreNoneOfATypeThatTakesAsMuch) {
  EXPECT_EQ(narrowed({.narrow = "i32", .wide = "f32"}), 0);
  EXPECT_EQ(narrowed({.narrow = "f32", .wide = "bf16"}), 0);
}

// What no trip writes stays as it was: only zeros are the same in every type.
TEST(NarrowStacks, BeginAsZeros) {
  EXPECT_EQ(narrowed({.start = "1.0"}), 0);
  EXPECT_EQ(narrowed({.start = "-0.0"}), 0);
}

// The wide array would be there beside the narrow one.
TEST(NarrowStacks, AreNoneThatAreReadAsArrays) {
  EXPECT_EQ(narrowed({.reads = "return %f#1 : tensor<8x16x16x$WIDE>"}), 0);
  EXPECT_EQ(narrowed({.reads = R"(
    %r = stablehlo.reshape %f#1 : (tensor<8x16x16x$WIDE>) -> tensor<128x16x$WIDE>
    %c = comm.all_reduce sum(%r) over <@mesh, ["d"=2]> : (tensor<128x16x$WIDE>) -> tensor<128x16x$WIDE>
    %z = stablehlo.reshape %c : (tensor<128x16x$WIDE>) -> tensor<8x16x16x$WIDE>
    return %z : tensor<8x16x16x$WIDE>)"}),
            0);
  EXPECT_EQ(narrowed({.reads = R"(
    %z = stablehlo.dynamic_update_slice %f#1, %a, %zero, %zero, %zero : (tensor<8x16x16x$WIDE>, tensor<8x16x16x$WIDE>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<8x16x16x$WIDE>
    return %z : tensor<8x16x16x$WIDE>)"}),
            0);
}

} // namespace
