// How a Fourier transform of n points on p devices is seen as rows x columns, of which one after
// the other lies whole on a device (Bailey 1990, FFTs in external or hierarchical memory).
//
//   p = 8    4096 points:    8 x 512     what p * p divides, evenly
//            1000 points:    8 x 125     125 columns go as 16 to a device: 128 points, not 125
//            2025 points:  135 x 15      135 rows as 17, 15 columns as 2: 255 and 270, not 254
//             101 points:  none          a prime number has no rows
#pragma once

#include <cstdint>
#include <optional>

namespace tessera::sharding {

// The rows with which a device sends the fewest points: twice what it holds when rows are sharded,
// once what it holds when columns are, and what makes its shard of one of these before and after;
// the fewest such rows. None where `points` has no divisor but 1 and itself.
std::optional<int64_t> fourStepRows(int64_t points, int64_t shards);

} // namespace tessera::sharding
