// The order of a block's tasks, decided on plain data.
//
//   base order      a  G  g  b  c        G: collective on a, g reads it; b, c need neither
//   schedule        a  start G  b  c  wait G  g
//
// Several orders are tried, each by taking one task after another from those that can run:
//
//   the base order         each collective waited for where it starts: no overlap, and the memory
//                          that the program's author had in mind
//   by memory              what frees most goes first
//   overlapped             a collective starts as soon as its operand is there; whoever reads its
//                          result is put off while something else can run: the next of the base
//                          order, or what the longest path hangs on; with and without a bound on
//                          the memory
//
//   mirrored               the quickest of those made again from its end to its beginning: a
//                          collective starts just in time, then as early as memory has room for it
//                          (Valls, Ballestin & Quintanilla 2005, Justification and RCPSP)
//
//   lower                  where none fits into the memory: LowerPeak.h
//
// and the one taken is the quickest of those that the memory rule admits, as simulated.
#pragma once

#include "lib/cost/ScheduleOptions.h"
#include "passes/order/CarriedArrays.h"
#include <optional>

namespace tessera::order {

using cost::Overlap;

// What is asked of the order of one block, in a program that takes time and memory elsewhere, too.
struct Rule {
  Overlap overlap = Overlap::Auto;
  // Of a device, for what the tasks hold; none: no bound.
  std::optional<int64_t> mostBytes = std::nullopt;
  // What the tasks may hold for nothing; none: what the best order without overlap takes. With Auto,
  // each percent of the program's memory above it has to save a percent of the program's time.
  std::optional<int64_t> usualBytes = std::nullopt;
  double times = 1, otherSeconds = 0; // how often the block runs, and what the program takes beside
  int64_t otherBytes = 0;             // what the program holds beyond the usual bytes
  int window = 48;                    // tasks of the base order that others may go ahead of
};

struct Order {
  std::vector<cost::Step> steps;
  cost::Timeline timeline;
};

Order schedule(llvm::ArrayRef<cost::Task> tasks, llvm::ArrayRef<cost::Storage> storages,
               const Rule &rule = {}, llvm::ArrayRef<Carry> carries = {});

// The base order with each collective started as early as it can be, and waited for as late.
std::vector<cost::Step> overlapped(llvm::ArrayRef<cost::Task> tasks,
                                   llvm::ArrayRef<cost::Storage> storages, const Rule &rule = {});

// Whether the rule has the block rather run like `a` than like `b`; `usual`: the bytes that cost
// nothing where the rule names none.
bool isBetter(const Rule &rule, const cost::Timeline &a, const cost::Timeline &b, int64_t usual);

} // namespace tessera::order
