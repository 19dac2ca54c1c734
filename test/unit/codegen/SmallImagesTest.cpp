// Convolutions whose windows lie mostly in padding, and their gradients, in both orders of channels:
// against sums in f64 of the terms that meet the image.
#include "test/unit/codegen/KernelRun.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include <array>
#include <gtest/gtest.h>

namespace tessera::test {
namespace {

using Sizes = llvm::SmallVector<int64_t, 4>;

// An array whose dimensions have names, one letter each; 0 and 1 are spatial.
struct Named {
  std::string order;
  std::array<int64_t, 4> sizes; // of the order's letters

  int64_t size(char letter) const { return sizes[order.find(letter)]; }
  int64_t elements() const { return sizes[0] * sizes[1] * sizes[2] * sizes[3]; }
  int64_t place(const std::string &letters, std::array<int64_t, 4> at) const {
    int64_t place = 0;
    for (size_t d = 0; d < 4; ++d)
      place = place * sizes[d] + at[letters.find(order[d])];
    return place;
  }
  std::string type() const {
    std::string text = "tensor<";
    for (int64_t size : sizes)
      text += std::to_string(size) + "x";
    return text + "f32>";
  }
  std::string dims() const {
    std::string text = "[";
    for (char letter : order)
      text += (text.size() > 1 ? ", " : "") + std::string(1, letter);
    return text + "]";
  }
};

struct Convolution {
  std::string name;
  Named image, window;
  std::string result; // the order of its dimensions
  std::array<int64_t, 2> stride{1, 1}, low{1, 1}, high{1, 1}, between{1, 1}, apart{1, 1};
  int64_t groups = 1, batchGroups = 1;
  bool isReversed = false;
};

std::string pair(std::array<int64_t, 2> both) {
  return "[" + std::to_string(both[0]) + ", " + std::to_string(both[1]) + "]";
}

Named resultOf(const Convolution &c) {
  Named result{c.result, {}};
  for (size_t d = 0; d < 4; ++d) {
    char letter = c.result[d];
    if (letter == 'b')
      result.sizes[d] = c.image.size('b') / c.batchGroups;
    else if (letter == 'f')
      result.sizes[d] = c.window.size('o');
    else {
      size_t s = letter - '0';
      int64_t whole = (c.image.size(letter) - 1) * c.between[s] + 1 + c.low[s] + c.high[s];
      int64_t covered = (c.window.size(letter) - 1) * c.apart[s] + 1;
      result.sizes[d] = (whole - covered) / c.stride[s] + 1;
    }
  }
  return result;
}

// With a multiplication after it, over the first operand's buffer where `isShared`.
void check(const Convolution &c) {
  SCOPED_TRACE(c.name);
  Named result = resultOf(c);
  Floats x = numbers(c.image.elements()), w = numbers(c.window.elements(), 2),
         z = numbers(result.elements(), 3);
  std::string types = "(" + c.image.type() + ", " + c.window.type() + ") -> " + result.type();
  std::string convolution =
      "%r = stablehlo.convolution(%x, %w) dim_numbers = " + c.image.dims() + "x" + c.window.dims() +
      "->" + result.dims() + ", window = {stride = " + pair(c.stride) + ", pad = [" +
      pair({c.low[0], c.high[0]}) + ", " + pair({c.low[1], c.high[1]}) +
      "], lhs_dilate = " + pair(c.between) + ", rhs_dilate = " + pair(c.apart) +
      (c.isReversed ? ", reverse = [true, true]" : "") +
      "} {batch_group_count = " + std::to_string(c.batchGroups) +
      " : i64, feature_group_count = " + std::to_string(c.groups) + " : i64} : " + types + "\n";
  auto alone =
      runKernel("(%x: " + c.image.type() + ", %w: " + c.window.type() + ") -> " + result.type(),
                convolution + "exec.yield %r : " + result.type(), {x, w});
  auto onto = runKernel("(%x: " + c.image.type() + ", %w: " + c.window.type() +
                            ", %z: " + result.type() + ") -> " + result.type(),
                        convolution + "%s = stablehlo.add %r, %z : " + result.type() +
                            "\nexec.yield %s : " + result.type(),
                        {x, w, z}, {2});
  int64_t features = c.window.size('o'), inputs = c.window.size('i'),
          batch = c.image.size('b') / c.batchGroups;
  for (int64_t b = 0; b < batch; ++b)
    for (int64_t o = 0; o < features; ++o)
      for (int64_t h = 0; h < result.size('0'); ++h)
        for (int64_t v = 0; v < result.size('1'); ++v) {
          double sum = 0;
          for (int64_t p = 0; p < c.window.size('0'); ++p)
            for (int64_t q = 0; q < c.window.size('1'); ++q) {
              int64_t y = h * c.stride[0] + p * c.apart[0] - c.low[0],
                      u = v * c.stride[1] + q * c.apart[1] - c.low[1];
              if (y < 0 || u < 0 || y % c.between[0] || u % c.between[1] ||
                  y / c.between[0] >= c.image.size('0') || u / c.between[1] >= c.image.size('1'))
                continue;
              for (int64_t i = 0; i < inputs; ++i) {
                int64_t f = i + o / (features / c.groups) * inputs;
                int64_t n = b + o / (features / c.batchGroups) * batch;
                sum +=
                    double(x[c.image.place("bf01", {n, f, y / c.between[0], u / c.between[1]})]) *
                    w[c.window.place("io01", {i, o, c.isReversed ? c.window.size('0') - 1 - p : p,
                                              c.isReversed ? c.window.size('1') - 1 - q : q})];
              }
            }
          int64_t place = result.place("bf01", {b, o, h, v});
          ASSERT_NEAR(alone[0][place], sum, 3e-4) << b << ", " << o << ", " << h << ", " << v;
          ASSERT_NEAR(onto[0][place], sum + z[place], 3e-4)
              << b << ", " << o << ", " << h << ", " << v;
        }
}

// What a 3x3 convolution with padding reads and writes, and both its gradients, as frameworks write
// them; `size` of the image.
void checkAll(int64_t batch, int64_t inputs, int64_t outputs, std::array<int64_t, 2> size) {
  auto [h, w] = size;
  std::string name = std::to_string(batch) + "x" + std::to_string(inputs) + "x" +
                     std::to_string(outputs) + " of " + pair(size);
  // Channels last, as JAX has it.
  check({name + " forward, last",
         {"b01f", {batch, h, w, inputs}},
         {"01io", {3, 3, inputs, outputs}},
         "b01f"});
  check({name + " image, last",
         {"b01f", {batch, h, w, outputs}},
         {"01oi", {3, 3, inputs, outputs}},
         "b01f"});
  check({name + " filter, last",
         {"f01b", {batch, h, w, inputs}},
         {"i01o", {batch, h, w, outputs}},
         "01bf"});
  // Channels first, as PyTorch has it.
  check({name + " forward, first",
         {"bf01", {batch, inputs, h, w}},
         {"oi01", {outputs, inputs, 3, 3}},
         "bf01"});
  check({name + " image, first",
         {"bf01", {batch, outputs, h, w}},
         {"io01", {outputs, inputs, 3, 3}},
         "bf01"});
  check({name + " image, first, reversed",
         {"bf01", {batch, outputs, h, w}},
         {"io01", {outputs, inputs, 3, 3}},
         "bf01",
         {1, 1},
         {1, 1},
         {1, 1},
         {1, 1},
         {1, 1},
         1,
         1,
         true});
  check({name + " filter, first",
         {"fb01", {batch, inputs, h, w}},
         {"io01", {batch, outputs, h, w}},
         "fb01"});
}

TEST(SmallImages, OfOnePixel) {
  checkAll(1, 20, 33, {1, 1});
  checkAll(8, 20, 33, {1, 1});
}

TEST(SmallImages, OfFewPixels) {
  checkAll(1, 37, 40, {2, 2});
  checkAll(5, 24, 33, {2, 2});
  checkAll(3, 20, 17, {1, 3});
  checkAll(2, 18, 35, {4, 4});
}

// Sums of several blocks of 128 terms, some of which are left out.
TEST(SmallImages, OfManyImages) {
  checkAll(70, 20, 40, {2, 2});
  checkAll(33, 17, 20, {4, 3});
  checkAll(200, 16, 32, {1, 1});
}

TEST(SmallImages, InParts) {
  checkAll(20, 128, 96, {1, 2});
  checkAll(80, 64, 64, {2, 2});
}

TEST(SmallImages, WindowsThatReachFar) {
  // 5x5 and 7x7 windows of 2x2 images; of some results no position meets the image.
  check(
      {"wide", {"b01f", {4, 2, 2, 20}}, {"01io", {5, 5, 20, 32}}, "b01f", {1, 1}, {4, 4}, {4, 4}});
  check({.name = "wide, first",
         .image = {"bf01", {4, 20, 2, 2}},
         .window = {"oi01", {32, 20, 7, 7}},
         .result = "bf01",
         .low = {6, 6},
         .high = {6, 6}});
  // Negative padding.
  check({.name = "cropped",
         .image = {"b01f", {9, 3, 4, 20}},
         .window = {"01io", {2, 2, 20, 32}},
         .result = "b01f",
         .low = {-1, 1},
         .high = {2, -1}});
}

TEST(SmallImages, StridedAndDilated) {
  for (std::array<int64_t, 2> size : {std::array<int64_t, 2>{3, 4}, {2, 1}}) {
    auto [h, w] = size;
    check({.name = "strided",
           .image = {"b01f", {70, h, w, 20}},
           .window = {"01io", {3, 3, 20, 32}},
           .result = "b01f",
           .stride = {2, 2}});
    check({.name = "strided, first",
           .image = {"bf01", {70, 20, h, w}},
           .window = {"oi01", {32, 20, 3, 3}},
           .result = "bf01",
           .stride = {2, 2}});
    check({.name = "dilated",
           .image = {"b01f", {70, h, w, 20}},
           .window = {"01io", {3, 3, 20, 32}},
           .result = "b01f",
           .low = {2, 2},
           .high = {2, 2},
           .apart = {2, 2}});
    check({.name = "dilated, first",
           .image = {"bf01", {70, 20, h, w}},
           .window = {"oi01", {32, 20, 3, 3}},
           .result = "bf01",
           .low = {2, 2},
           .high = {2, 2},
           .apart = {2, 2}});
    check({.name = "of a strided one's image",
           .image = {"b01f", {9, h, w, 20}},
           .window = {"01oi", {3, 3, 32, 20}},
           .result = "b01f",
           .high = {2, 2},
           .between = {2, 2}});
    check({.name = "of a strided one's image, first",
           .image = {"bf01", {9, 20, h, w}},
           .window = {"io01", {20, 32, 3, 3}},
           .result = "bf01",
           .high = {2, 2},
           .between = {2, 2}});
    check({.name = "of a strided one's filter, first",
           .image = {"fb01", {9, 20, 2 * h, 2 * w}},
           .window = {"io01", {9, 32, h, w}},
           .result = "fb01",
           .high = {0, 0},
           .apart = {2, 2}});
  }
}

TEST(SmallImages, Grouped) {
  check({.name = "grouped",
         .image = {"b01f", {70, 2, 2, 24}},
         .window = {"01io", {3, 3, 6, 32}},
         .result = "b01f",
         .groups = 4});
  check({.name = "grouped, first",
         .image = {"bf01", {70, 24, 2, 2}},
         .window = {"oi01", {64, 6, 3, 3}},
         .result = "bf01",
         .groups = 4});
  check({.name = "depthwise",
         .image = {"b01f", {3, 2, 1, 24}},
         .window = {"01io", {3, 3, 1, 24}},
         .result = "b01f",
         .groups = 24});
  check({.name = "depthwise, first",
         .image = {"bf01", {3, 24, 2, 1}},
         .window = {"oi01", {24, 1, 3, 3}},
         .result = "bf01",
         .groups = 24});
  check({.name = "of grouped filters",
         .image = {"f01b", {5, 2, 2, 24}},
         .window = {"i01o", {5, 2, 2, 32}},
         .result = "01bf",
         .batchGroups = 4});
  check({.name = "of grouped filters, first",
         .image = {"fb01", {5, 24, 2, 2}},
         .window = {"io01", {5, 64, 2, 2}},
         .result = "fb01",
         .batchGroups = 4});
}

// The gradient of depthwise filters: sums of the window's positions are held at a time.
TEST(SmallImages, DepthwiseFilters) {
  for (std::array<int64_t, 2> size : {std::array<int64_t, 2>{9, 7}, {1, 1}, {2, 3}}) {
    auto [h, w] = size;
    // As JAX writes it: groups of the batch dimension, which are the channels.
    check({.name = "depthwise filters",
           .image = {"f01b", {70, h, w, 37}},
           .window = {"i01o", {70, h, w, 37}},
           .result = "01bf",
           .batchGroups = 37});
    check({.name = "strided depthwise filters",
           .image = {"f01b", {70, 2 * h, 2 * w, 16}},
           .window = {"i01o", {70, h, w, 16}},
           .result = "01bf",
           .high = {0, 0},
           .apart = {2, 2},
           .batchGroups = 16});
    check({.name = "two filters of a channel",
           .image = {"f01b", {70, h, w, 5}},
           .window = {"i01o", {70, h, w, 10}},
           .result = "01bf",
           .batchGroups = 5});
    check({.name = "depthwise filters, first",
           .image = {"fb01", {70, 20, h, w}},
           .window = {"io01", {70, 20, h, w}},
           .result = "fb01",
           .batchGroups = 20});
  }
}

// Panels of all of k and blocks of it whose ends are given don't go together.
TEST(SmallImages, ManyFeatures) {
  check({.name = "image of strided ones",
         .image = {"b01f", {6, 4, 4, 1100}},
         .window = {"01oi", {3, 3, 40, 1100}},
         .result = "b01f",
         .high = {2, 2},
         .between = {2, 2}});
}

} // namespace
} // namespace tessera::test
