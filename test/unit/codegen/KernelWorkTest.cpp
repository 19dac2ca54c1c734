// What a kernel does, counted from its body.
#include "passes/codegen/kernel/KernelWork.h"

#include "test/unit/codegen/KernelText.h"

#include <cmath>
#include <optional>

namespace tessera::codegen {
namespace {

using cost::Access;
using cost::ElementClass;
using cost::Folding;

cost::KernelWork workOfText(const std::string &signature, const std::string &body) {
  test::KernelText text(signature, body);
  exec::KernelOp kernel = text.kernel();
  return kernel ? workOf(kernel) : cost::KernelWork();
}

TEST(KernelWork, CountsElementwiseWorkByClass) {
  cost::KernelWork work = workOfText("(%x: tensor<64x32xf32>) -> tensor<64x32xf32>", R"(
    %e = stablehlo.exponential %x : tensor<64x32xf32>
    %s = stablehlo.add %e, %x : tensor<64x32xf32>
    %q = stablehlo.divide %s, %e : tensor<64x32xf32>
    exec.yield %q : tensor<64x32xf32>)");
  EXPECT_EQ(work.of(ElementClass::Exponential), 2048);
  EXPECT_EQ(work.of(ElementClass::Arithmetic), 2048);
  EXPECT_EQ(work.of(ElementClass::Division), 2048);
  EXPECT_EQ(work.flops, 3 * 2048);
  ASSERT_EQ(work.arrays.size(), 2u);
  EXPECT_EQ(work.arrays[0].bytes, 8192); // read once, used twice
  EXPECT_EQ(work.arrays[1].bytes, 8192);
}

// What lies where it is updated is not touched beside the update; in a buffer of its own all of it is written.
TEST(KernelWork, AnUpdateInAnotherBufferCopiesTheRest) {
  test::KernelText text(
      "(%x: tensor<64x32xf32>, %u: tensor<1x32xf32>, %i: tensor<i32>) -> tensor<64x32xf32> "
      "attributes {inplace = array<i64: 0>}",
      R"(
    %c = stablehlo.constant dense<0> : tensor<i32>
    %n = stablehlo.dynamic_update_slice %x, %u, %i, %c : (tensor<64x32xf32>, tensor<1x32xf32>, tensor<i32>, tensor<i32>) -> tensor<64x32xf32>
    exec.yield %n : tensor<64x32xf32>)");
  exec::KernelOp kernel = text.kernel();
  ASSERT_TRUE(kernel);
  cost::KernelWork shared = workOf(kernel), apart = workOf(kernel, {0u});
  ASSERT_EQ(shared.arrays.size(), 4u);
  ASSERT_EQ(apart.arrays.size(), 4u);
  EXPECT_EQ(shared.arrays[3].bytes, 128);
  EXPECT_EQ(apart.arrays[3].bytes, 8192);
  EXPECT_LT(shared.arrays[0].bytes, 128);
  EXPECT_EQ(apart.arrays[0].bytes, 8192);
  EXPECT_EQ(workOf(kernel, {}).arrays[3].bytes, 128);
}

TEST(KernelWork, AVectorAtTheEndOfALoopIsAWholeOne) {
  cost::KernelWork work = workOfText("(%x: tensor<100x3xf32>) -> tensor<3x100xf32>", R"(
    %t = stablehlo.transpose %x, dims = [1, 0] : (tensor<100x3xf32>) -> tensor<3x100xf32>
    %s = stablehlo.add %t, %t : tensor<3x100xf32>
    exec.yield %s : tensor<3x100xf32>)");
  EXPECT_EQ(work.of(ElementClass::Arithmetic), 3 * 112);
  EXPECT_EQ(work.of(Access::Gathered), 300); // several of a line
  EXPECT_EQ(work.flops, 300);
}

TEST(KernelWork, ReductionsGoAlongRowsOrColumns) {
  auto reduced = [](const std::string &dimension, const std::string &size) {
    return workOfText("(%x: tensor<64x128xf32>) -> tensor<" + size + "xf32>",
                      R"(
      %z = stablehlo.constant dense<0.0> : tensor<f32>
      %r = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [)" +
                          dimension + "] : (tensor<64x128xf32>, tensor<f32>) -> tensor<" + size +
                          "xf32>\n exec.yield %r : tensor<" + size + "xf32>");
  };
  EXPECT_EQ(reduced("1", "64").of(Folding::Rows), 8192);
  EXPECT_EQ(reduced("0", "128").of(Folding::Columns), 8192);
}

// Narrow floats are widened, computed and narrowed, after each operation that rounds.
TEST(KernelWork, FloatsOf16BitsAreConvertedAtEachRounding) {
  cost::KernelWork work = workOfText("(%x: tensor<1024xbf16>) -> tensor<1024xbf16>", R"(
    %n = stablehlo.negate %x : tensor<1024xbf16>
    %s = stablehlo.add %n, %x : tensor<1024xbf16>
    exec.yield %s : tensor<1024xbf16>)");
  // Loaded by 2 (once), negated by 1, added by 1, widened by 2 when it is rounded, and narrowed twice.
  EXPECT_EQ(work.of(ElementClass::Arithmetic), 6 * 1024);
  EXPECT_EQ(work.of(ElementClass::Narrowed), 2 * 1024);
}

// Each of a chain waits for the one before; other vectors' operations hide that until it is too long.
TEST(KernelWork, LongChainsWait) {
  auto waits = [](int count, const std::string &element) {
    std::string type = "tensor<1024x" + element + ">", text, x = "%x";
    for (int i = 0; i < count; ++i) {
      std::string next = "%n" + std::to_string(i);
      text += next + " = stablehlo.multiply " + x + ", %y : " + type + "\n";
      x = next;
    }
    return workOfText("(%x: " + type + ", %y: " + type + ") -> " + type,
                      text + "exec.yield " + x + " : " + type)
        .of(ElementClass::Waiting);
  };
  EXPECT_EQ(waits(16, "f32"), 0);
  EXPECT_EQ(waits(32, "f32"), 64.0 * 32 * (32 * 4 - 64)); // vectors, operations, cycles
  EXPECT_EQ(waits(64, "i32"), 0); // a cycle each, as random bits are made of
  EXPECT_EQ(waits(4, "bf16"), 0);
  EXPECT_EQ(waits(16, "bf16"), 64.0 * 64 * (16 * 16 - 64)); // each is rounded by three more
}

// Pairs that change places, as rotary embeddings do: vectors of rows' pairs, of which each half is read and
// written two apart. By its last dimension it would be loops of one element.
TEST(KernelWork, PiecesOfShortRowsAreWrittenElementsApart) {
  cost::KernelWork work = workOfText("(%x: tensor<64x32x2xf32>) -> tensor<64x32x2xf32>", R"(
    %a = stablehlo.slice %x [0:64, 0:32, 0:1] : (tensor<64x32x2xf32>) -> tensor<64x32x1xf32>
    %b = stablehlo.slice %x [0:64, 0:32, 1:2] : (tensor<64x32x2xf32>) -> tensor<64x32x1xf32>
    %n = stablehlo.negate %b : tensor<64x32x1xf32>
    %y = stablehlo.concatenate %n, %a, dim = 2 : (tensor<64x32x1xf32>, tensor<64x32x1xf32>) -> tensor<64x32x2xf32>
    exec.yield %y : tensor<64x32x2xf32>)");
  EXPECT_EQ(work.of(Access::Gathered), 2 * 64 * 32 * 2); // read and written
  EXPECT_EQ(work.runs, 1);
}

// Both parts of a complex number are written by one register.
TEST(KernelWork, ComplexNumbersLieOneAfterTheOther) {
  std::string type = "tensor<4096xcomplex<f32>>";
  cost::KernelWork work =
      workOfText("(%x: " + type + ") -> " + type,
                 "%y = stablehlo.negate %x : " + type + "\n exec.yield %y : " + type);
  EXPECT_EQ(work.of(Access::Strided), 0);
  cost::KernelWork real =
      workOfText("(%x: tensor<4096xf32>) -> tensor<4096xf32>",
                 "%y = stablehlo.negate %x : tensor<4096xf32>\n exec.yield %y : tensor<4096xf32>");
  EXPECT_EQ(real.of(Access::Gathered), 0);
  EXPECT_LE(work.of(Access::Gathered), 4 * 4096); // as it is read
}

TEST(KernelWork, ExtremaOfFloatsAreSeveralInstructions) {
  cost::KernelWork work = workOfText("(%x: tensor<64x128xf32>) -> tensor<64xf32>", R"(
    %i = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %m = stablehlo.reduce(%x init: %i) applies stablehlo.maximum across dimensions = [1] : (tensor<64x128xf32>, tensor<f32>) -> tensor<64xf32>
    exec.yield %m : tensor<64xf32>)");
  EXPECT_EQ(work.of(Folding::Rows) + work.of(ElementClass::Arithmetic), 6 * 64 * 128);
  EXPECT_EQ(work.of(Folding::Halves), 2 * 64);
}

// Nothing of a large result is left in a cache for its reader.
TEST(KernelWork, LargeResultsGoPastTheCaches) {
  auto goesPast = [](const std::string &size) {
    std::string type = "tensor<" + size + "xf32>";
    cost::KernelWork work =
        workOfText("(%x: " + type + ") -> " + type,
                   "%s = stablehlo.add %x, %x : " + type + "\n exec.yield %s : " + type);
    return work.arrays.size() == 2 && !work.arrays[0].pastCaches && work.arrays[1].pastCaches;
  };
  EXPECT_TRUE(goesPast("4194304"));
  EXPECT_FALSE(goesPast("2097152"));
}

TEST(KernelWork, ProductsOfBf16HaveCopiesForTheProcessorsTiles) {
  cost::KernelWork work =
      workOfText("(%a: tensor<96x64xbf16>, %b: tensor<48x64xbf16>) -> tensor<96x48xf32>", R"(
    %p = stablehlo.dot_general %a, %b, contracting_dims = [1] x [1] : (tensor<96x64xbf16>, tensor<48x64xbf16>) -> tensor<96x48xf32>
    exec.yield %p : tensor<96x48xf32>)");
  ASSERT_EQ(work.products.size(), 1u);
  EXPECT_EQ(work.products[0].type, cost::ProductType::BF16);
  EXPECT_EQ(work.products[0].byTiles.a, cost::Product::None); // rows of whole units, as they lie
  EXPECT_EQ(work.products[0].byTiles.b, cost::Product::Turned);
  EXPECT_EQ(work.products[0].byTiles.timesB, 1);
}

// An LSTM's gradient: of few terms, and rows that fall into the same places of a cache. They are computed one
// after the other, so that what they are added to is no strip. (It was priced as one, at four times its time.)
TEST(KernelWork, ResultsOfFewTermsLieAsTheyAreComputed) {
  auto inStrips = [](const std::string &columns) {
    std::string result = "tensor<384x" + columns + "xf32>", b = "tensor<8x" + columns + "xf32>";
    cost::KernelWork work = workOfText(
        "(%a: tensor<8x384xf32>, %b: " + b + ", %w: " + result + ") -> " + result, R"(
    %p = stablehlo.dot_general %a, %b, contracting_dims = [0] x [0] : (tensor<8x384xf32>, )" +
                                                                                       b + ") -> " +
                                                                                       result + R"(
    %s = stablehlo.add %w, %p : )" + result + R"(
    exec.yield %s : )" + result);
    return work.arrays.size() == 4 && work.arrays[2].inStrips && work.arrays[3].inStrips;
  };
  EXPECT_FALSE(inStrips("1024"));
  EXPECT_TRUE(inStrips("1000"));
}

// Some rows past a large matrix: where vectors are short it is copied first.
TEST(KernelWork, WithShortVectorsFewRowsGoPastPanels) {
  auto product = [](const std::string &rows) {
    std::string a = "tensor<" + rows + "x1024xf32>", c = "tensor<" + rows + "x1024xf32>",
                b = "tensor<1024x1024xf32>";
    return workOfText("(%a: " + a + ", %b: " + b + ") -> " + c,
                      "%p = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (" + a +
                          ", " + b + ") -> " + c + "\n exec.yield %p : " + c)
        .products.front();
  };
  cost::Product some = product("16");
  EXPECT_EQ(some.b, cost::Product::None);
  EXPECT_EQ(some.strideOfB, 4096);
  ASSERT_TRUE(some.byShortVectors);
  EXPECT_EQ(some.byShortVectors->b, cost::Product::Plain);
  EXPECT_EQ(some.byShortVectors->timesB, 1);
  EXPECT_EQ(product("6").byShortVectors->b, cost::Product::None);
}

// Windows of images with channels first: the results' rows run by vectors, over elements two apart.
TEST(KernelWork, StridedWindowsGoByVectors) {
  cost::KernelWork work = workOfText("(%x: tensor<64x32x32xf32>) -> tensor<64x16x16xf32>", R"(
    %z = stablehlo.constant dense<0.0> : tensor<f32>
    %w = "stablehlo.reduce_window"(%x, %z) <{window_dimensions = array<i64: 1, 3, 3>, window_strides = array<i64: 1, 2, 2>, padding = dense<[[0, 0], [1, 0], [1, 0]]> : tensor<3x2xi64>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %s = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<64x32x32xf32>, tensor<f32>) -> tensor<64x16x16xf32>
    exec.yield %w : tensor<64x16x16xf32>)");
  EXPECT_EQ(work.of(Folding::Columns), 64 * 16 * 16 * 9);
  EXPECT_EQ(work.of(Access::Gathered), 64 * 16 * 16 * 9);
  EXPECT_EQ(work.of(ElementClass::OneByOne), 0);
}

// More than a few apart they are not loaded at once: each element is added by itself.
TEST(KernelWork, SumsThatNoVectorsRunAlongAreOfSingleElements) {
  cost::KernelWork work = workOfText("(%x: tensor<64x160xf32>) -> tensor<64x16xf32>", R"(
    %z = stablehlo.constant dense<0.0> : tensor<f32>
    %w = "stablehlo.reduce_window"(%x, %z) <{window_dimensions = array<i64: 1, 3>, window_strides = array<i64: 1, 10>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %s = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<64x160xf32>, tensor<f32>) -> tensor<64x16xf32>
    exec.yield %w : tensor<64x16xf32>)");
  EXPECT_EQ(work.of(ElementClass::OneByOne), 64 * 16 * 3);
}

// Each position of a window is compared by itself.
TEST(KernelWork, PlacesOfTheLargestAreLookedForOneByOne) {
  cost::KernelWork work =
      workOfText("(%x: tensor<4x16x16xf32>, %s: tensor<4x8x8xf32>) -> tensor<4x16x16xf32>", R"(
    %z = stablehlo.constant dense<0.0> : tensor<f32>
    %y = "stablehlo.select_and_scatter"(%x, %s, %z) <{padding = dense<[[0, 0], [1, 0], [1, 0]]> : tensor<3x2xi64>, window_dimensions = array<i64: 1, 3, 3>, window_strides = array<i64: 1, 2, 2>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %m = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %m : tensor<i1>
    }, {
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %t = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %t : tensor<f32>
    }) : (tensor<4x16x16xf32>, tensor<4x8x8xf32>, tensor<f32>) -> tensor<4x16x16xf32>
    exec.yield %y : tensor<4x16x16xf32>)");
  EXPECT_EQ(work.of(Access::Scattered), 4 * 8 * 8 * (9 + 1));
  EXPECT_EQ(work.of(Folding::Stepwise), 0);
}

// A sine is longer than log(1 + x), a logarithm shorter; of f64 those are three times as long as in f32.
TEST(KernelWork, FunctionsTakeWhatTheirInstructionsDo) {
  auto functionsIn = [](const std::string &op, const std::string &element) {
    std::string type = "tensor<64x" + element + ">";
    return workOfText("(%x: " + type + ") -> " + type, "    %y = stablehlo." + op + " %x : " +
                                                           type + "\n    exec.yield %y : " + type)
               .of(ElementClass::Function) /
           64;
  };
  EXPECT_EQ(functionsIn("log_plus_one", "f32"), 1);
  EXPECT_NEAR(functionsIn("sine", "f32"), 1.26, 0.01);
  EXPECT_NEAR(functionsIn("log", "f32"), 0.68, 0.01);
  EXPECT_EQ(functionsIn("log_plus_one", "f64"), 6);
  EXPECT_EQ(functionsIn("exponential", "f64"), 2);
}

// Channels first, rows of small images lie in short pieces.
cost::KernelWork workOfImages(const std::string &images, const std::string &channels,
                              const std::string &side) {
  std::string image = "tensor<" + images + "x" + channels + "x" + side + "x" + side + "xf32>";
  std::string filter = "tensor<" + channels + "x" + channels + "x3x3xf32>";
  return workOfText("(%x: " + image + ", %w: " + filter + ") -> " + image,
                    "    %y = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, "
                    "1]->[b, f, 0, 1], window = {stride = [1, 1], pad = [[1, 1], [1, 1]]} "
                    "{batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (" +
                        image + ", " + filter + ") -> " + image + "\n    exec.yield %y : " + image);
}

TEST(KernelWork, SmallImagesAreCopiedInPieces) {
  EXPECT_GT(workOfImages("4", "64", "4").of(Access::Pieces), 0);
  EXPECT_EQ(workOfImages("4", "64", "4").of(ElementClass::OneByOne), 0);
  EXPECT_EQ(workOfImages("4", "64", "16").of(Access::Pieces), 0);
}

// 128 rows of 2,304 terms are more than half of a core's cache: in blocks they are copied for 64 channels at
// a time, and not for 16. 64 rows of 1,152 are one panel as ever.
TEST(KernelWork, LargePanelsOfWindowsGoInBlocks) {
  EXPECT_EQ(workOfImages("8", "256", "4").products[0].timesA, 4);
  EXPECT_EQ(workOfImages("4", "128", "4").products[0].timesA, 3);
}

// As JAX writes the gradient of a 3x3 filter, channels last.
cost::KernelWork workOfFilter(const std::string &channels, const std::string &side) {
  std::string image = "tensor<8x" + side + "x" + side + "x" + channels + "xf32>";
  std::string filter = "tensor<3x3x" + channels + "x" + channels + "xf32>";
  return workOfText("(%x: " + image + ", %g: " + image + ") -> " + filter,
                    "    %y = stablehlo.convolution(%x, %g) dim_numbers = [f, 0, 1, b]x[i, 0, 1, "
                    "o]->[0, 1, b, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]]} "
                    "{batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (" +
                        image + ", " + image + ") -> " + filter +
                        "\n    exec.yield %y : " + filter);
}

// Rows of few channels, of the other operand, are near each other and could be read where they lie: but
// only panels of both go in blocks.
TEST(KernelWork, FewChannelsOfAFilterGoInBlocks) {
  for (const char *channels : {"16", "32", "48", "64"}) {
    cost::KernelWork work = workOfFilter(channels, "56");
    ASSERT_EQ(work.products.size(), 1u);
    EXPECT_EQ(work.products[0].b, cost::Product::Plain) << channels;
    EXPECT_EQ(work.products[0].timesA, 1) << channels;
    EXPECT_LE(work.products[0].timesB, 9) << channels;
  }
  EXPECT_EQ(workOfFilter("32", "7").products[0].b, cost::Product::None); // short sums
}

// Of 2x2 images each row is copied along three positions of the window at a time, for each line of it and
// each channel: five steps each, as the ends of blocks are looked for, and sixteen where the row begins. (Sixteen
// for each priced such convolutions at two and a half times what they take.)
TEST(KernelWork, EachShortRunOfACopyIsAPiece) {
  cost::KernelWork work = workOfImages("8", "512", "2");
  double rows = work.products[0].timesA * 32;
  EXPECT_DOUBLE_EQ(work.of(Access::Pieces), rows * (16 + 5 * 512 * 3));
}

// A filter of 3x3 has three elements along its inner loop, but what is made of its gradient goes by whole
// vectors of the product's rows, which all of it is.
TEST(KernelWork, WhatIsMadeOfAProductIsPaddedByItsTiles) {
  std::string image = "tensor<8x128x2x2xf32>", filter = "tensor<128x128x3x3xf32>";
  cost::KernelWork work = workOfText(
      "(%x: " + image + ", %g: " + image + ", %s: " + filter + ") -> " + filter,
      "    %y = stablehlo.convolution(%x, %g) dim_numbers = [f, b, 0, 1]x[i, o, 0, 1]->[f, b, 0, "
      "1], "
      "window = {stride = [1, 1], pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, "
      "feature_group_count = 1 : i64} : (" +
          image + ", " + image + ") -> " + filter +
          "\n    %z = stablehlo.divide %y, %s : " + filter + "\n    exec.yield %z : " + filter);
  EXPECT_LT(work.of(ElementClass::Division), 1.2 * 128 * 128 * 9); // by threes: 16 / 3 as many
  EXPECT_GE(work.of(ElementClass::Division), 128 * 128 * 9);
  EXPECT_TRUE(work.arrays[2].inStrips); // read by tiles, as they are made
}

// Attention of bf16 goes by pairs of k, but where their number is odd.
TEST(KernelWork, ProductsOfPairsAreNotWidened) {
  auto isWidened = [](const std::string &k) {
    std::string a = "tensor<96x" + k + "xbf16>", b = "tensor<48x" + k + "xbf16>";
    cost::KernelWork work = workOfText("(%a: " + a + ", %b: " + b + ") -> tensor<96x48xf32>",
                                       R"(
    %p = stablehlo.dot_general %a, %b, contracting_dims = [1] x [1] : ()" +
                                           a + ", " + b +
                                           R"() -> tensor<96x48xf32>
    exec.yield %p : tensor<96x48xf32>)");
    return work.products[0].isWidened;
  };
  EXPECT_FALSE(isWidened("64"));
  EXPECT_TRUE(isWidened("63"));
}

// Pairs that lie along k are turned by squares where they are in memory; what becomes one is read across.
TEST(KernelWork, PairsOfWhatIsNarrowedAreReadOneByOne) {
  auto copied = [](const std::string &type, const std::string &line) {
    return workOfText("(%a: tensor<96x64xbf16>, %w: " + type + ") -> tensor<96x48xf32>", line + R"(
    %p = stablehlo.dot_general %a, %b, contracting_dims = [1] x [1] : (tensor<96x64xbf16>, tensor<48x64xbf16>) -> tensor<96x48xf32>
    exec.yield %p : tensor<96x48xf32>)");
  };
  cost::KernelWork narrow = copied(
                       "tensor<64x48xbf16>",
                       "%b = stablehlo.transpose %w, dims = [1, 0] : (tensor<64x48xbf16>) -> "
                       "tensor<48x64xbf16>"),
                   turned = copied("tensor<2x48x64xbf16>",
                                   "%s = stablehlo.slice %w [1:2, 0:48, 0:64] : "
                                   "(tensor<2x48x64xbf16>) -> tensor<1x48x64xbf16>\n"
                                   "%b = stablehlo.reshape %s : (tensor<1x48x64xbf16>) -> "
                                   "tensor<48x64xbf16>"),
                   across = copied("tensor<48x64xf32>",
                                   "%b = stablehlo.convert %w : (tensor<48x64xf32>) -> "
                                   "tensor<48x64xbf16>");
  EXPECT_EQ(narrow.products[0].b, cost::Product::Plain);
  EXPECT_EQ(turned.products[0].b, cost::Product::Turned);
  EXPECT_EQ(turned.of(Access::Strided), 0);
  EXPECT_EQ(across.products[0].b, cost::Product::Computed);
  EXPECT_EQ(across.of(Access::Strided), 48 * 64);
}

TEST(KernelWork, AProductIsOneWithWhatIsCopiedForIt) {
  cost::KernelWork work =
      workOfText("(%a: tensor<96x64xf32>, %b: tensor<48x64xf32>) -> tensor<96x48xf32>", R"(
    %p = stablehlo.dot_general %a, %b, contracting_dims = [1] x [1] : (tensor<96x64xf32>, tensor<48x64xf32>) -> tensor<96x48xf32>
    exec.yield %p : tensor<96x48xf32>)");
  ASSERT_EQ(work.products.size(), 1u);
  const cost::Product &product = work.products[0];
  EXPECT_EQ(product.m * product.n * product.k * product.batch, 96 * 48 * 64);
  EXPECT_EQ(product.k, 64);
  EXPECT_EQ(product.type, cost::ProductType::F32);
  EXPECT_EQ(product.b, cost::Product::Turned);
  EXPECT_EQ(work.flops, 2 * 96 * 48 * 64);
  EXPECT_EQ(work.of(Folding::Chain), 0);
}

// Of queries that see keys up to so many before their own number; without, up to as many as the kernel is told.
cost::KernelWork workOfAttention(std::optional<int> ahead) {
  std::string told = ahead ? "" : ", %t: tensor<i32>";
  return workOfText("(%q: tensor<256x64xf32>, %k: tensor<256x64xf32>, %v: tensor<256x64xf32>" +
                        told + ") -> tensor<256x64xf32>",
                    (ahead ? "%h = stablehlo.constant dense<" + std::to_string(*ahead) + ">"
                           : "%h = stablehlo.broadcast_in_dim %t, dims = [] : (tensor<i32>) ->") +
                        (ahead ? " : " : " ") + R"(tensor<256x256xi32>
    %i = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %z = stablehlo.constant dense<0.0> : tensor<f32>
    %n = stablehlo.constant dense<0xFF800000> : tensor<256x256xf32>
    %p = stablehlo.dot_general %q, %k, contracting_dims = [1] x [1] : (tensor<256x64xf32>, tensor<256x64xf32>) -> tensor<256x256xf32>
    %r = stablehlo.iota dim = 0 : tensor<256x256xi32>
    %c = stablehlo.iota dim = 1 : tensor<256x256xi32>
    %f = stablehlo.add %c, %h : tensor<256x256xi32>
    %b = stablehlo.compare GE, %r, %f : (tensor<256x256xi32>, tensor<256x256xi32>) -> tensor<256x256xi1>
    %x = stablehlo.select %b, %p, %n : tensor<256x256xi1>, tensor<256x256xf32>
    %m = stablehlo.reduce(%x init: %i) applies stablehlo.maximum across dimensions = [1] : (tensor<256x256xf32>, tensor<f32>) -> tensor<256xf32>
    %0 = stablehlo.broadcast_in_dim %m, dims = [0] : (tensor<256xf32>) -> tensor<256x256xf32>
    %1 = stablehlo.subtract %x, %0 : tensor<256x256xf32>
    %e = stablehlo.exponential %1 : tensor<256x256xf32>
    %s = stablehlo.reduce(%e init: %z) applies stablehlo.add across dimensions = [1] : (tensor<256x256xf32>, tensor<f32>) -> tensor<256xf32>
    %2 = stablehlo.broadcast_in_dim %s, dims = [0] : (tensor<256xf32>) -> tensor<256x256xf32>
    %d = stablehlo.divide %e, %2 : tensor<256x256xf32>
    %o = stablehlo.dot_general %d, %v, contracting_dims = [1] x [0] : (tensor<256x256xf32>, tensor<256x64xf32>) -> tensor<256x64xf32>
    exec.yield %o : tensor<256x64xf32>)");
}

// Scores that no query of a tile sees are not computed, the others once: the largest and the sum read the same.
TEST(KernelWork, AttentionIsTwoProductsAndWhatIsBetween) {
  cost::KernelWork work = workOfAttention(0);
  // Of a triangle, by tiles of 8 queries: 32 keys at a time, and of the values each that a tile sees.
  constexpr double pairs = 256 * 256, scores = pairs * 0.5625, keys = pairs * (0.5 + 4. / 256);
  ASSERT_EQ(work.products.size(), 2u);
  EXPECT_DOUBLE_EQ(work.products[0].flops(), 2 * 64 * scores);
  EXPECT_DOUBLE_EQ(work.products[1].flops(), 2 * 64 * keys);
  EXPECT_DOUBLE_EQ(work.of(ElementClass::Exponential), scores);
  // What is computed beyond the triangle counts as time only.
  EXPECT_LT(work.flops, (4 * 64 + 8) * pairs * 0.51);
  // Queries, keys and values are copied, probabilities lie in the scratch.
  EXPECT_EQ(work.products[0].a, cost::Product::Plain);
  EXPECT_EQ(work.products[0].b, cost::Product::Turned);
  EXPECT_EQ(work.products[1].a, cost::Product::None);
  EXPECT_EQ(work.products[1].b, cost::Product::Plain);
  // Each row once, with four vectors of what is summed of it.
  EXPECT_DOUBLE_EQ(work.of(Folding::Attended), 256 * (1 + 4 * 0.09));
  EXPECT_EQ(work.of(Folding::Halves), 0);
  ASSERT_EQ(work.arrays.size(), 4u);
  for (const cost::Touched &array : work.arrays)
    EXPECT_EQ(array.bytes, 256 * 64 * 4);
}

// Of a ring's block it is known only at run time whether it is seen: half of them in the mean.
TEST(KernelWork, AttentionThatMayBeHiddenIsSoInTheMean) {
  EXPECT_EQ(workOfAttention(0).inMean, 1);
  EXPECT_EQ(workOfAttention(std::nullopt).inMean, 0.5);
}

// A block of keys behind all queries, as one of several that a program writes out.
TEST(KernelWork, AttentionOfKeysThatNobodySeesIsNumbers) {
  cost::KernelWork work = workOfAttention(256);
  ASSERT_EQ(work.products.size(), 2u);
  for (const cost::Product &product : work.products)
    EXPECT_TRUE(std::isfinite(product.flops()) && std::isfinite(product.timesA));
  EXPECT_TRUE(std::isfinite(work.flops));
  EXPECT_LT(work.of(ElementClass::Exponential), 256);
}

TEST(KernelWork, LookupsReadWhatTheyTake) {
  cost::KernelWork work =
      workOfText("(%t: tensor<1000x32xf32>, %i: tensor<8x1xi32>) -> tensor<8x32xf32>", R"(
    %g = "stablehlo.gather"(%t, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 32>}> : (tensor<1000x32xf32>, tensor<8x1xi32>) -> tensor<8x32xf32>
    exec.yield %g : tensor<8x32xf32>)");
  EXPECT_EQ(work.arrays[0].bytes, 8 * 32 * 4);
  EXPECT_EQ(work.of(Access::Gathered), 0); // whole rows
}

// Each update's place is found; numbers that lie side by side are added by vectors.
TEST(KernelWork, ScattersFindAPlaceForEachRow) {
  auto rowsOf = [](const std::string &table, const std::string &updates,
                   const std::string &window) {
    std::string types = "(" + table + ", tensor<64x1xi32>, " + updates + ")";
    cost::KernelWork work =
        workOfText("(%t: " + table + ", %i: tensor<64x1xi32>, %u: " + updates + ") -> " + table,
                   R"(
    %s = "stablehlo.scatter"(%t, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<)" +
                       window + R"(inserted_window_dims = [0],
      scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
    ^bb0(%l: tensor<f32>, %r: tensor<f32>):
      %a = stablehlo.add %l, %r : tensor<f32>
      stablehlo.return %a : tensor<f32>
    }) : )" + types + " -> " +
                       table + "\n    exec.yield %s : " + table);
    return work.of(Access::Scattered);
  };
  EXPECT_EQ(rowsOf("tensor<32xf32>", "tensor<64xf32>", ""), 64);
  EXPECT_EQ(rowsOf("tensor<32x4xf32>", "tensor<64x4xf32>", "update_window_dims = [1], "), 64 * 1.5);
  EXPECT_EQ(rowsOf("tensor<32x64xf32>", "tensor<64x64xf32>", "update_window_dims = [1], "), 64 * 9);
}

// The last dimension may be called -1.
TEST(KernelWork, SortsCountTheirPasses) {
  cost::KernelWork work = workOfText("(%x: tensor<4x16xf32>) -> tensor<4x16xf32>", R"(
    %s = "stablehlo.sort"(%x) <{dimension = -1 : i64, is_stable = true}> ({
    ^bb0(%l: tensor<f32>, %r: tensor<f32>):
      %c = stablehlo.compare LT, %l, %r : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    }) : (tensor<4x16xf32>) -> tensor<4x16xf32>
    exec.yield %s : tensor<4x16xf32>)");
  EXPECT_EQ(work.of(Access::Sorted), 64 * 5);
}

} // namespace
} // namespace tessera::codegen
