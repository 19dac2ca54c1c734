// A contraction as prices see it: its sizes, and how code generation for CPUs copies its operands
// before it multiplies them (cpu/ContractionPlan.cpp).
#pragma once

#include "lib/cost/KernelWork.h"
#include "passes/codegen/kernel/ContractionLoops.h"

namespace tessera::codegen {

// A node, or what it widens to the type of the sums.
Node *unwidened(Node *node);

// Whether its terms go by pairs of k where the processor multiplies pairs: of bf16, and of integers of
// 16 bits and less.
bool suitsPairs(const Graph &graph, const ContractionLoops &loops);

cost::Product productOf(const Graph &graph, const ContractionLoops &loops);
// Cells that it is divided into.
double cellsOf(const Graph &graph, const ContractionLoops &loops, const cost::Product &product);
// Of the whole, what one of them has that no edge cuts short.
double wholeCellOf(const Graph &graph, const ContractionLoops &loops, const cost::Product &product);
// Elements that the copies read one by one.
double readApart(const Graph &graph, const ContractionLoops &loops, const cost::Product &product);

// What copies of a take that go along short loops, in steps of one element.
double copiesInPieces(const Graph &graph, const ContractionLoops &loops,
                      const cost::Product &product);

} // namespace tessera::codegen
