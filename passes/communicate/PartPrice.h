// What products take that are computed in parts.
#pragma once

#include "lib/cost/RingProduct.h"
#include "passes/communicate/BesideCollective.h"
#include "passes/communicate/LiveBytes.h"
#include "passes/communicate/RowsOf.h"

namespace tessera::communicate {

// Products of fewer rows are far from the machine's rate.
constexpr int64_t kLeastRowsOfPart = 64;

// Adds the time of the products whose result's rows are computed in `parts` parts, `lanes` of them at a
// time, and as a whole.
void priceParts(cost::RingProduct &ring, const DeviceSeconds &device, const LiveBytes &live,
                const RowsOf &rows, double parts, double lanes = 1);

} // namespace tessera::communicate
