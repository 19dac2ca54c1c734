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
// and the one taken is the quickest of those that the memory rule admits, as simulated.
#pragma once

#include "lib/cost/ScheduleOptions.h"
#include "lib/cost/Timeline.h"
#include <optional>

namespace tessera::order {

using cost::Overlap;

struct Rule {
  Overlap overlap = Overlap::Auto;
  // Of a device, for what the tasks hold; none: what the best order without overlap takes, and more
  // only where each percent of it saves a percent of the time.
  std::optional<int64_t> mostBytes = std::nullopt;
  int window = 48; // tasks of the base order that others may go ahead of
};

struct Order {
  std::vector<cost::Step> steps;
  cost::Timeline timeline;
};

Order schedule(llvm::ArrayRef<cost::Task> tasks, llvm::ArrayRef<cost::Storage> storages,
               const Rule &rule = {});

} // namespace tessera::order
