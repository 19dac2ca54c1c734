// What the cores of devices that share a memory do for a collective. Plain data.
//
//   8 devices in turns on two cores, an all-gather of few bytes over all of them
//   core 0  0 1 2 3 -
//   core 1  4 5 6 7 x     the device that comes last carries it out; the other core has nothing to do
//
// Over groups of two devices four are carried out, and each core has two of them.
#pragma once

#include "lib/cost/KernelTerms.h"
#include "lib/links/LinkTime.h"

namespace tessera::cost {

struct Topology;

// A device's part of it, what it reads and writes, moved or combined: what it would do if all cores
// had their part, as often as it keeps them from all else. What all devices read comes to each core
// once.
struct Exchange {
  Terms terms;
  double meetings = 0;
};

// `bytes` as collectives count them (LinkTime.h). `devices` take turns at `cores`, fewer or as many
// as they are.
Exchange exchangeOf(links::Pattern kind, double bytes, int64_t group, int64_t devices,
                    int64_t cores);
Exchange exchangeOf(const Topology &topology, int64_t devices, links::Pattern kind, double bytes,
                    int64_t group);

// Of one device, which meets the others as well. Nothing where nobody has measured it: on machines
// whose links do the work.
double exchangeSeconds(const DeviceRates &rates, const Exchange &exchange);

} // namespace tessera::cost
