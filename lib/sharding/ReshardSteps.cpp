// What single steps of a plan move: the pairs of a permute, the shifts of a retile.
#include "lib/sharding/ReshardMoves.h"

#include "llvm/ADT/STLExtras.h"
#include <map>

namespace tessera::sharding {

llvm::SmallVector<RetileShift> retileShifts(int64_t size, int64_t shards, int64_t fromTile,
                                            int64_t toTile) {
  std::map<int64_t, int64_t> rows;
  for (int64_t i = 0; i < shards; ++i) {
    int64_t begin = i * toTile, end = std::min(size, begin + toTile);
    for (int64_t at = begin; at < end;) {
      int64_t source = at / fromTile;
      int64_t upto = std::min(end, (source + 1) * fromTile);
      rows[source - i] = std::max(rows[source - i], upto - at);
      at = upto;
    }
  }
  llvm::SmallVector<RetileShift> shifts;
  for (auto [distance, count] : rows)
    shifts.push_back({distance, count});
  return shifts;
}

llvm::SmallVector<std::pair<int64_t, int64_t>> permutePairs(const Mesh &mesh,
                                                            const LocalLayout &from,
                                                            const LocalLayout &to,
                                                            llvm::ArrayRef<AxisRef> axes) {
  llvm::SmallVector<AxisRef> refs = allRefs(from, to);
  refs.append(axes.begin(), axes.end());
  AxisAtoms atoms(mesh, refs, /*primes=*/false);
  Atoms group = atoms.cut(axes);
  int64_t ranks = atoms.shards(group);
  llvm::SmallVector<int64_t> coordinate(atoms.count(), 0);
  auto blockOf = [&](const LocalLayout &layout) {
    llvm::SmallVector<int64_t, 4> block;
    for (const DimLayout &dim : layout.dims) {
      int64_t index = 0;
      for (uint8_t atom : atoms.cut(dim.axes))
        index = index * atoms.size(atom) + coordinate[atom];
      block.push_back(index);
    }
    return std::vector<int64_t>(block.begin(), block.end());
  };
  std::vector<std::vector<int64_t>> held(ranks), needed(ranks);
  std::map<std::vector<int64_t>, llvm::SmallVector<int64_t, 2>> holders;
  for (int64_t rank = 0; rank < ranks; ++rank) {
    int64_t rest = rank;
    for (uint8_t atom : llvm::reverse(group)) {
      coordinate[atom] = rest % atoms.size(atom);
      rest /= atoms.size(atom);
    }
    held[rank] = blockOf(from);
    needed[rank] = blockOf(to);
    if (held[rank] != needed[rank])
      holders[held[rank]].push_back(rank);
  }
  llvm::SmallVector<std::pair<int64_t, int64_t>> pairs;
  for (int64_t rank = 0; rank < ranks; ++rank) {
    if (held[rank] == needed[rank]) {
      pairs.push_back({rank, rank});
      continue;
    }
    auto &sources = holders[needed[rank]];
    assert(!sources.empty() && "as many devices hold a block as need it");
    pairs.push_back({sources.pop_back_val(), rank});
  }
  return pairs;
}

} // namespace tessera::sharding
