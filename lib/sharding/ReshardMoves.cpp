#include "lib/sharding/ReshardMoves.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

namespace tessera::sharding {

uint64_t ReshardMoves::used(const ReshardState &s) const {
  uint64_t mask = s.partial;
  for (const AtomList &dim : s.dims)
    for (uint8_t atom : dim)
      mask |= uint64_t(1) << atom;
  return mask;
}

int64_t ReshardMoves::neededTile(int32_t dim, int64_t shards) const {
  int64_t wanted = atoms.shards(goal.dims[dim]);
  if (wanted % shards == 0)
    return goal.tiles[dim] * (wanted / shards);
  if (shards % wanted == 0 && goal.tiles[dim] % (shards / wanted) == 0)
    return goal.tiles[dim] / (shards / wanted);
  return 0;
}

// Appends `by` to the axes of `dim` and divides its tile. An unsharded dimension may be padded to
// fit.
bool ReshardMoves::split(ReshardState &s, int32_t dim, llvm::ArrayRef<uint8_t> by) const {
  int64_t k = atoms.shards(by);
  int64_t &tile = s.tiles[dim];
  if (s.dims[dim].empty()) {
    int64_t needed = neededTile(dim, k);
    tile = needed && needed * k >= tile ? needed : llvm::divideCeil(tile, k);
  } else {
    if (tile % k != 0)
      return false;
    tile /= k;
  }
  s.dims[dim].append(by.begin(), by.end());
  return true;
}

void ReshardMoves::reductions(const ReshardState &s) {
  uint64_t due = s.partial & ~goal.partial;
  if (!due)
    return;
  AtomList all, elsewhere;
  for (uint8_t atom = 0; atom < atoms.count(); ++atom)
    if (due >> atom & 1) {
      all.push_back(atom);
      if (llvm::none_of(goal.dims,
                        [&](const AtomList &dim) { return llvm::is_contained(dim, atom); }))
        elsewhere.push_back(atom);
    }
  auto without = [&](llvm::ArrayRef<uint8_t> gone) {
    ReshardState next = s;
    for (uint8_t atom : gone)
      next.partial &= ~(uint64_t(1) << atom);
    return next;
  };
  add(without(all), {ReshardKind::AllReduce, -1, -1, all});
  if (!elsewhere.empty() && elsewhere.size() < all.size())
    add(without(elsewhere), {ReshardKind::AllReduce, -1, -1, elsewhere});
  auto scatter = [&](int32_t d, const AtomList &by) {
    ReshardState next = without(by);
    if (split(next, d, by))
      add(next, {ReshardKind::ReduceScatter, d, -1, by});
  };
  for (int32_t d = 0; d < int32_t(s.dims.size()); ++d) {
    AtomList run;
    if (prefixOfGoal(s, d))
      for (size_t i = s.dims[d].size(); i < goal.dims[d].size() && (due >> goal.dims[d][i] & 1);
           ++i) {
        run.push_back(goal.dims[d][i]);
        scatter(d, run);
      }
    for (uint8_t atom : all)
      if (run.empty() || run.front() != atom)
        scatter(d, {atom});
  }
}

void ReshardMoves::gathers(const ReshardState &s) {
  for (int32_t d = 0; d < int32_t(s.dims.size()); ++d) {
    if (prefixOfGoal(s, d) && neededTile(d, atoms.shards(s.dims[d])) == s.tiles[d])
      continue;
    if (!s.dims[d].empty() && s.tiles[d] >= shape[d]) {
      ReshardState next = s;
      next.dims[d].clear();
      add(next, {ReshardKind::Broadcast, d, -1, s.dims[d]});
    }
    for (size_t keep = s.dims[d].size(); keep-- > 0;) {
      ReshardState next = s;
      AtomList gone(s.dims[d].begin() + keep, s.dims[d].end());
      next.dims[d].truncate(keep);
      next.tiles[d] *= atoms.shards(gone);
      add(next, {ReshardKind::AllGather, d, -1, gone});
    }
  }
}

void ReshardMoves::slices(const ReshardState &s) {
  uint64_t busy = used(s);
  auto slice = [&](int32_t d, const AtomList &by) {
    ReshardState next = s;
    if (split(next, d, by))
      add(next, {ReshardKind::Slice, d, -1, by});
  };
  for (int32_t d = 0; d < int32_t(s.dims.size()); ++d) {
    AtomList run;
    if (prefixOfGoal(s, d))
      for (size_t i = s.dims[d].size(); i < goal.dims[d].size() && !(busy >> goal.dims[d][i] & 1);
           ++i) {
        run.push_back(goal.dims[d][i]);
        slice(d, run);
      }
    for (uint8_t atom : goal.dims[d])
      if (!(busy >> atom & 1) && (run.empty() || run.front() != atom))
        slice(d, {atom});
  }
}

void ReshardMoves::allToAlls(const ReshardState &s) {
  for (int32_t from = 0; from < int32_t(s.dims.size()); ++from) {
    if (prefixOfGoal(s, from) && neededTile(from, atoms.shards(s.dims[from])) == s.tiles[from])
      continue;
    for (size_t keep = s.dims[from].size(); keep-- > 0;) {
      AtomList moved(s.dims[from].begin() + keep, s.dims[from].end());
      int64_t k = atoms.shards(moved);
      for (int32_t to = 0; to < int32_t(s.dims.size()); ++to) {
        bool wanted = atoms.shards(goal.dims[to]) % (atoms.shards(s.dims[to]) * k) == 0 ||
                      llvm::all_of(moved, [&](uint8_t atom) {
                        return llvm::is_contained(goal.dims[to], atom);
                      });
        if (to == from || !wanted)
          continue;
        ReshardState next = s;
        next.dims[from].truncate(keep);
        next.tiles[from] *= k;
        if (split(next, to, moved))
          add(next, {ReshardKind::AllToAll, to, from, moved});
      }
    }
  }
}

// Two kinds: atoms replaced by the goal's of equal size at the same place; and, in one dimension,
// the goal's atoms put first so that the others can be gathered.
void ReshardMoves::permutes(const ReshardState &s) {
  auto permute = [&](const ReshardState &next) {
    uint64_t along = 0;
    for (size_t d = 0; d < s.dims.size(); ++d)
      if (next.dims[d] != s.dims[d])
        for (llvm::ArrayRef<uint8_t> side : {s.dims[d].all(), next.dims[d].all()})
          for (uint8_t atom : side)
            along |= uint64_t(1) << atom;
    AtomList group;
    for (uint8_t atom = 0; atom < atoms.count(); ++atom)
      if (along >> atom & 1)
        group.push_back(atom);
    if (!group.empty())
      add(next, {ReshardKind::Permute, -1, -1, group});
  };

  ReshardState next = s;
  uint64_t taken = s.partial;
  llvm::SmallVector<llvm::SmallVector<bool, 4>, 4> set(s.dims.size());
  for (size_t d = 0; d < s.dims.size(); ++d) {
    set[d].assign(s.dims[d].size(), false);
    for (size_t i = 0; i < s.dims[d].size() && i < goal.dims[d].size(); ++i) {
      uint8_t want = goal.dims[d][i];
      if (atoms.size(want) != atoms.size(s.dims[d][i]))
        break;
      if (taken >> want & 1)
        continue;
      next.dims[d][i] = want;
      set[d][i] = true;
      taken |= uint64_t(1) << want;
    }
  }
  bool fits = true;
  for (int pass = 0; pass < 2; ++pass) // first those that can stay, then the displaced
    for (size_t d = 0; d < s.dims.size(); ++d)
      for (size_t i = 0; i < s.dims[d].size(); ++i) {
        if (set[d][i])
          continue;
        uint8_t own = s.dims[d][i];
        if (pass == 0 && !(taken >> own & 1)) {
          taken |= uint64_t(1) << own;
          set[d][i] = true;
        } else if (pass == 1) {
          uint8_t other = 0;
          while (other < atoms.count() &&
                 ((taken >> other & 1) || atoms.size(other) != atoms.size(own)))
            ++other;
          if (other == atoms.count()) {
            fits = false;
          } else {
            next.dims[d][i] = other;
            taken |= uint64_t(1) << other;
          }
        }
      }
  if (fits)
    permute(next);

  for (size_t d = 0; d < s.dims.size(); ++d) {
    if (s.dims[d].size() < 2)
      continue;
    ReshardState first = s;
    AtomList &order = first.dims[d];
    order.clear();
    for (uint8_t atom : goal.dims[d])
      if (llvm::is_contained(s.dims[d], atom))
        order.push_back(atom);
    for (uint8_t atom : s.dims[d])
      if (!llvm::is_contained(order, atom))
        order.push_back(atom);
    permute(first);
  }
}

void ReshardMoves::retiles(const ReshardState &s) {
  for (int32_t d = 0; d < int32_t(s.dims.size()); ++d) {
    int64_t needed = neededTile(d, atoms.shards(s.dims[d]));
    auto retile = [&](int64_t tile) {
      if (!tile || tile == s.tiles[d] || tile * atoms.shards(s.dims[d]) < shape[d])
        return;
      ReshardState next = s;
      next.tiles[d] = tile;
      add(next, {ReshardKind::Retile, d, -1, {}});
    };
    retile(needed);
    // Where most shards hold padding only, less is moved to the first and sent from there.
    if (s.dims[d].empty() || 2 * shape[d] <= s.tiles[d] * atoms.shards(s.dims[d]))
      retile(shape[d]);
  }
}

void ReshardMoves::from(const ReshardState &s, AddMove then) {
  add = then;
  slices(s);
  reductions(s);
  gathers(s);
  allToAlls(s);
  permutes(s);
  retiles(s);
}

ReshardState toState(const LocalLayout &layout, const AxisAtoms &atoms) {
  ReshardState s;
  for (const DimLayout &dim : layout.dims) {
    s.dims.emplace_back(atoms.cut(dim.axes));
    s.tiles.push_back(dim.tile);
  }
  for (uint8_t atom : atoms.cut(layout.partial))
    s.partial |= uint64_t(1) << atom;
  return s;
}

LocalLayout toLayout(const ReshardState &s, const AxisAtoms &atoms, ReductionKind reduction) {
  LocalLayout layout;
  layout.reduction = reduction;
  for (auto [axes, tile] : llvm::zip_equal(s.dims, s.tiles))
    layout.dims.push_back({atoms.refs(axes), tile});
  Atoms partial;
  for (uint8_t atom = 0; atom < atoms.count(); ++atom)
    if (s.partial >> atom & 1)
      partial.push_back(atom);
  layout.partial = atoms.refs(partial);
  return layout;
}

llvm::SmallVector<AxisRef> allRefs(const LocalLayout &a, const LocalLayout &b) {
  llvm::SmallVector<AxisRef> refs;
  for (const LocalLayout *layout : {&a, &b}) {
    for (const DimLayout &dim : layout->dims)
      refs.append(dim.axes.begin(), dim.axes.end());
    refs.append(layout->partial.begin(), layout->partial.end());
  }
  return refs;
}

} // namespace tessera::sharding
