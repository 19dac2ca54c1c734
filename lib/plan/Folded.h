// A program with its equal layers folded into one, for which a plan is sought in their place.
//
//   a1 = x . v1   h1 = relu(a1)   b1 = h1 . w1        a = x . v   h = relu(a)   x = h . w
//   a2 = b1 . v2  h2 = relu(a2)   b2 = h2 . w2        three times as often; `x` stands for x, b1, b2
//   a3 = b2 . v3  h3 = relu(a3)   b3 = h3 . w3        and b3, `v` for v1, v2, v3, ..
//
// What the folded program takes is what the whole one takes where equal values lie alike.
#pragma once

#include "lib/plan/Program.h"

namespace tessera::plan {

struct Folded {
  Program program;
  std::vector<int32_t> valueOf; // of each value of the whole program, what stands for it

  Assignment unfolded(const Assignment &folded) const;
};

constexpr size_t kMostUnfolded = 2000; // ops

// Small programs, and those without equal layers, stay as they are.
Folded foldedProgram(const Program &whole);

// Runs of equal numbers a distance apart: numbers[i] == numbers[i - distance] for `begin + distance`
// <= i < end. Whole rounds at least, none in another, the longest first.
struct Repeat {
  size_t begin, end, distance;
};
// `least`: the distance; what repeats sooner is seen as so many rounds in one.
std::vector<Repeat> repeatsIn(llvm::ArrayRef<int32_t> numbers, size_t least);

} // namespace tessera::plan
