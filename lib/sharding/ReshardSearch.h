// From one local layout to another at least cost: the sequence of collectives is found by search.
//
//   f32[64,64] on x=2, y=4
//     from [{x,y}, {}]          to [{x}, {y}]         all-to-all y from dim 0 to dim 1
//     from [{x}, {}]            to [{x,y}, {}]        slice dim 0 by y (nothing moves)
//     from [{}, {}] partial x,y to [{x}, {}]          reduce-scatter x to dim 0, all-reduce y
//   f32[10] on x=2, y=2
//     from [{x}] tile 5         to [{x,y}] tile 3     retile to 6, slice by y
#pragma once

#include "lib/cost/Topology.h"
#include "lib/sharding/ShardExchange.h"
#include <memory>
#include <string>
#include <unordered_map>

namespace tessera::sharding {

enum class ReshardKind {
  AllGather,     // `dim` loses `axes`, a suffix of its axes; its tile is multiplied by their shards
  Slice,         // `dim` gains `axes` as suffix, unused so far; its tile is divided. Nothing moves
  AllToAll,      // `fromDim` loses `axes`, a suffix of its axes, and `dim` gains them as suffix
  Permute,       // same shards and tiles in every dimension, by other axes: whole local arrays move
                 // between devices
  AllReduce,     // no longer partial over `axes`
  ReduceScatter, // no longer partial over `axes`; `dim` gains them as suffix
  Broadcast,     // `dim` loses all its axes; its first shard has every row
  Retile, // `dim` keeps its axes and changes its tile: rows move between neighbours along the
          // dimension; local (pad or slice) when the dimension is not sharded
  View,   // the local array is reshaped to `digits`, transposed by `order`, and reshaped to the
          // tiles of `after`: the same tensor with other dimensions, whose global sizes are `shape`
  Exchange, // parts of local arrays move as `exchange` says. Where there is a `shape`, the result
            // is seen with those dimensions
};

// Where an unsharded dimension is split (Slice, AllToAll, ReduceScatter) and its tile is not the
// shards times the new tile, it is first padded to that (its tile is never larger). A sharded one
// always divides.
struct ReshardStep {
  ReshardKind kind;
  int32_t dim = -1;
  int32_t fromDim = -1; // of AllToAll
  AxisRefs axes;        // of Permute: all axes along which values move
  LocalLayout after;
  llvm::SmallVector<int64_t> digits, order; // of View
  llvm::SmallVector<int64_t> shape;         // of View and Exchange
  std::shared_ptr<const ShardExchange> exchange;
};

struct ReshardPlan {
  std::vector<ReshardStep> steps;
  double seconds = 0;
  double wireBytes = 0; // sent by a device, as cost::wireBytes counts them
};

// `to.partial` must be among `from.partial`: a value does not become partial by resharding.
ReshardPlan planReshard(const Mesh &mesh, llvm::ArrayRef<int64_t> globalShape, int64_t elementBytes,
                        const LocalLayout &from, const LocalLayout &to,
                        const cost::Topology &topology);

// For a Permute step: pairs (source rank, target rank) along `axes`, with both ranks major to
// minor. A rank that already holds what it needs is paired with itself.
llvm::SmallVector<std::pair<int64_t, int64_t>> permutePairs(const Mesh &mesh,
                                                            const LocalLayout &from,
                                                            const LocalLayout &to,
                                                            llvm::ArrayRef<AxisRef> axes);

// Of a Retile step over `shards` devices along the dimension: for each distance d (source index -
// target index) the most rows that any device needs from there.
struct RetileShift {
  int64_t distance;
  int64_t rows;
};
llvm::SmallVector<RetileShift> retileShifts(int64_t size, int64_t shards, int64_t fromTile,
                                            int64_t toTile);

// Plans that were asked for before are not searched again.
class ReshardPlanner {
public:
  ReshardPlanner(const Mesh &mesh, const cost::Topology &topology)
      : mesh(mesh), topology(topology) {}
  const ReshardPlan &plan(llvm::ArrayRef<int64_t> globalShape, int64_t elementBytes,
                          const LocalLayout &from, const LocalLayout &to);
  const Mesh &getMesh() const { return mesh; }
  const cost::Topology &getTopology() const { return topology; }

private:
  const Mesh &mesh;
  const cost::Topology &topology;
  std::unordered_map<std::string, ReshardPlan> plans;
};

} // namespace tessera::sharding
