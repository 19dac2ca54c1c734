// What one operation on an element does, by the kinds of work that machines do at different speeds.
#pragma once

#include "lib/cost/KernelWork.h"
#include "passes/codegen/kernel/Graph.h"

namespace tessera::codegen {

// Adds what one node does when it is computed `times` times.
void countOperation(Node *node, double times, cost::KernelWork &work);
bool countsAsFlop(Node *node);

// Lanes of four bytes that an operation on one element takes.
inline double lanesOf(ElementKind kind) {
  if (isNarrowFloat(kind) || kind == ElementKind::I1)
    return 1;
  return double(byteSize(kind)) / 4;
}

// Floats of 16 bits are computed in f32: widened by two operations where they are loaded, narrowed
// where they are stored, and both after each operation that rounds (Arithmetic.cpp).
inline bool isHalfFloat(ElementKind kind) { return isNarrowFloat(kind) && !isTinyFloat(kind); }
constexpr double kWiden = 2;

// NaN counts, and -0 is less than 0: of floats these are several instructions.
constexpr double kExtremum = 6;
// And of a number and its place as the best ones yet.
constexpr double kBest = 6;

inline bool isExtremum(Op op, ElementKind kind) {
  return isFloat(kind) && (op == Op::Max || op == Op::Min);
}

} // namespace tessera::codegen
