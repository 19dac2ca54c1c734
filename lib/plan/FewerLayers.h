// A program without most of its equal layers: what each layer adds is seen from two of them, at the price of
// a few layers.
//
//   a1 = f(x, v1)       a1 = f(x, v1)        five layers, and two of them left: the first, and the last
//   a2 = f(a1, v2)
//   ..
//   a5 = f(a4, v5)      a5 = f(a1, v5)
//   g5 = b(a5, a4, v5)  g5 = b(a5, a1, v5)
//   ..
//   g2 = b(g3, a1, v2)
//   g1 = b(g2, x, v1)   g1 = b(g5, x, v1)
//   n1 = u(v1, g1)      n1 = u(v1, g1)
//   n2 = u(v2, g2) ..   n5 = u(v5, g5)       of weights and results likewise
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace tessera::plan {

struct LineOp {
  int32_t kind; // one number for ops that differ in nothing but which values they read and make
  llvm::SmallVector<int32_t, 4> operands;
  llvm::SmallVector<int32_t, 1> results;
  // It makes one scalar of two, all of one type, as sums over layers do: where one of the two is left out,
  // the other one takes the place of what is made.
  bool joinsScalars = false;
};

// Ops in program order. The last one gives back what it reads, and has no results.
struct Line {
  int32_t arguments = 0;           // values before all others
  std::vector<int32_t> valueKinds; // of each value: what arguments of one kind have alike
  std::vector<LineOp> ops;
};

struct FewerLayers {
  size_t left = 0;         // layers
  std::vector<bool> keeps; // of each op
  std::vector<bool> takes; // of each argument
  std::vector<int32_t>
      instead; // of each value what its readers read: -1, nothing: it is not given back
};

struct LayersOf {
  size_t layers = 0;              // of the whole program
  std::vector<FewerLayers> fewer; // as many layers as were asked for, each
};

// With `left` layers of those in the middle, for each. None where no layers are alike, or not all that they
// consist of is found: what is left out is so many times what one layer has, op for op.
std::optional<LayersOf> withFewerLayers(const Line &line, llvm::ArrayRef<size_t> left);

} // namespace tessera::plan
