// Halo exchange as plain data: which rows of a sharded dimension must come from which shard.
#pragma once

#include <cstdint>
#include <vector>

namespace tessera::sharding {

// Shard i along a dimension holds rows [i * tile + origin, (i + 1) * tile + origin), as far as they
// exist; origin <= 0.
struct HeldRows {
  int64_t size, shards, tile, origin = 0;
};
// Shard i wants rows [i * step + offset, i * step + offset + length); those that do not exist may
// be anything.
struct WantedRows {
  int64_t step, offset, length;
};
// Rows [begin, end) of the tile that is `distance` shards further come to me.
struct RowPiece {
  int64_t distance, begin, end;
  bool operator==(const RowPiece &) const = default;
};
// The pieces, by distance; they lie in the window [begin, end) of rows relative to my own tile, of
// which shard i needs `length` rows from start + i * drift on.
struct RowExchange {
  std::vector<RowPiece> pieces;
  int64_t begin = 0, end = 0, drift = 0, start = 0;
  int64_t rowsSent() const; // by a device
};

// Held: 8 rows on 4 shards, tile 2. Wanted: a halo of one row on both sides, step 2, offset -1,
// length 4.
//   pieces  {-1, 1, 2} {0, 0, 2} {1, 0, 1}     window [-1, 3), drift 0
RowExchange planExchange(const HeldRows &held, const WantedRows &wanted);

} // namespace tessera::sharding
