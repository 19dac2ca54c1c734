// From any layout to any other: which part of its array each device sends to whom, in rounds in
// which a device sends at most one part and receives at most one.
//
//   6 rows on x=2 and y=3, from {x} to {y}: rows 012 345 to 01 23 45
//     kept     (0,0): 01   (0,1): 2   (1,1): 3   (1,2): 45
//     round 1  (0,1) gets 3 from (1,1), (1,1) gets 2 from (0,1), (1,0) gets 01, (0,2) gets 45
#pragma once

#include "lib/sharding/Sharding.h"

namespace tessera::sharding {

// A dimension as devices want it: tiles along `axes`, each cut into parts of `part` rows along
// `within`. A part past the end of a tile is empty, the last may be shorter.
struct WantedDim {
  AxisRefs axes;
  int64_t tile;
  AxisRefs within = {};
  int64_t part = tile;
};

struct ExchangeRound {
  llvm::SmallVector<int64_t> shape; // of what is sent
  llvm::SmallVector<int64_t>
      pairs; // source rank, target rank, ..; none in the round of what is kept
  // By dimension and rank: where the part that is sent begins in the source's array, where it
  // begins in the target's, and how many of its rows the target wants; 0 where none.
  std::vector<std::vector<int64_t>> from, to, rows;
};

struct ShardExchange {
  AxisRefs axes;                    // the ranks run along these
  llvm::SmallVector<int64_t> shape; // of what each device wants
  std::vector<ExchangeRound> rounds;
};

// None for more than 256 ranks, or more than 64 rounds. A round takes as long as its largest part:
// with `alike`, parts are cut until they are about as large as the smallest, in more rounds of
// less.
std::optional<ShardExchange> planShardExchange(const Mesh &mesh, llvm::ArrayRef<int64_t> shape,
                                               llvm::ArrayRef<DimLayout> held,
                                               llvm::ArrayRef<WantedDim> wanted,
                                               bool alike = false);

} // namespace tessera::sharding
