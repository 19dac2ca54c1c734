// A reshard in which every dimension is seen as a number of several digits, each of which either
// lies on one part of an axis or is local: a row's number is (digit of x, digit of y, row of the
// tile). Collectives on digits have no order to respect, as those on dimensions have.
//
//   8x8 on x=2, y=2, from [{x,y}, {}] to [{}, {x}], both dimensions 2x2x2 in digits:
//     [x y .] [. . .]  all-to-all of x, from the first digit to the fourth
//     [. y .] [x . .]  all-gather of y
//     [. . .] [x . .]
// On dimensions, y must be gathered first, and twice as much goes through the all-to-all.
#pragma once

#include "lib/sharding/ReshardSearch.h"
#include <optional>

namespace tessera::sharding {

// With links that cost bytes only the bytes are those that the device which lacks most must
// receive, and at most once more the local array where a value changes both its places and the
// dimension that is split. None for partial values, and where the digits of a dimension are not
// those of both layouts (two shards to three).
std::optional<ReshardPlan> planByDigits(const Mesh &mesh, llvm::ArrayRef<int64_t> shape,
                                        int64_t elementBytes, const LocalLayout &from,
                                        const LocalLayout &to, const cost::Topology &topology);

} // namespace tessera::sharding
