// Whether a product and the collective at its operand or result are quicker as a ring: as many steps
// as there are shards, in each of which one shard is multiplied while the next travels. Plain data.
//
//   all-gather, then product     gggggggg PPPPPPPP        seconds 16
//   the same as a ring of four   sssssssss                seconds 10 and a bit
//                                PP PP PP PP
//
// A product and its reduce-scatter in parts have a collective behind the last step, as a whole has:
//
//   product, then reduce-scatter PPPPPPPP ssssssss        seconds 16
//   the same in four parts       PP PP PP PP              seconds 10
//                                   ss ss ss ss
#pragma once

#include <cstdint>

namespace tessera::cost {

struct RingProduct {
  int64_t shards;
  double product;      // seconds of the product as a whole, or of all that share the operand
  double collective;   // of the all-gather or reduce-scatter
  double hideable = 0; // of computation that the collective can run beside, whatever is done here
  double last = 0;     // of a collective behind the last step, which can run beside the same
  double part;         // of the products of one step
  double shift;        // until a shard is at the next device
  double between = 0;  // that a step computes while nothing travels
  double around = 0;   // before the first step and after the last
  double wholeBytes = 0, ringBytes = 0; // that are live, operands and results included
  // Of the block around: its seconds, and bytes where most are live; how many fewer are live here.
  double blockSeconds = 0, peakBytes = 0, room = 0;
};

// One after the other, but for what else hides.
double wholeSeconds(const RingProduct &ring);
// The first step's shard is there, so one step fewer waits than computes.
double ringSeconds(const RingProduct &ring);
// No more is saved than is hidden: what else differs is how exact the prices of products and of the
// cores' own part are, and where cores do all that is exchanged nothing is hidden.
// Where memory counts, each percent that the block takes more has to save a percent of its time; a
// part of the product's has to be saved anyway, as neither is exact.
bool paysAsRing(const RingProduct &ring, bool memoryCounts);
// Whether it pays with anything hideable at all. With more of that less is saved, until no more is
// than travels beside the products; from there on as much is, of less time.
bool mayPayAsRing(const RingProduct &ring, bool memoryCounts);

} // namespace tessera::cost
