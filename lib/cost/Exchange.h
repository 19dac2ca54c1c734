// What the cores of devices that share a memory do for a collective. Plain data.
#pragma once

#include "lib/cost/KernelTerms.h"
#include "lib/links/LinkTime.h"

namespace tessera::cost {

// Bytes that each device reads and writes for it, moved or combined; `bytes` as collectives count
// them (LinkTime.h).
Terms exchangeTerms(links::Pattern kind, double bytes, int64_t group);

// Of one device, which meets the others as well. Nothing where nobody has measured it: on machines
// whose links do the work.
double exchangeSeconds(const DeviceRates &rates, links::Pattern kind, double bytes, int64_t group);

} // namespace tessera::cost
