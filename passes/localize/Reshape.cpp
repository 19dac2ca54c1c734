// Reshape of local parts. Both sides are cut into groups of dimensions with equal numbers of
// elements; in each the elements of a device must come in the same order before and after.
//
//   [12] {"x"} -> [4, 3] {"x"}, x = 3           tile 4 would cut rows of 3: rows move so that the
//                                               tile is 6, then 6 -> 2x3
//   [2, 12] {"x"}, {"y"} -> [24] {"x", "y"}     even: the same elements, 1x3 -> 3
//
// What fits neither way is gathered first, and cut again afterwards.
#include "passes/localize/Handlers.h"
#include "passes/localize/Rows.h"

#include "lib/sharding/AxisAtoms.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir;

namespace tessera::localize {
namespace {

struct Group {
  int64_t fromBegin, fromEnd, toBegin, toEnd;
};

// Minimal runs of dimensions of equal product; trailing ones join the last.
SmallVector<Group> groupsOf(ArrayRef<int64_t> from, ArrayRef<int64_t> to) {
  SmallVector<Group> groups;
  int64_t i = 0, j = 0, n = from.size(), m = to.size();
  while (i < n || j < m) {
    Group group{i, i, j, j};
    int64_t a = 1, b = 1;
    do {
      if (i < n && (a <= b || j == m))
        a *= from[i++];
      else if (j < m)
        b *= to[j++];
      else
        break;
    } while (a != b || (a == 1 && (i < n || j < m)));
    while (i < n && from[i] == 1)
      ++i;
    while (j < m && to[j] == 1)
      ++j;
    group.fromEnd = i, group.toEnd = j;
    groups.push_back(group);
  }
  return groups;
}

// One side of a group: the axes that split it, each with the number of elements from one of its
// coordinates to the next.
struct Split {
  uint8_t atom;
  int64_t stride;
  bool operator==(const Split &) const = default;
};
struct Side {
  SmallVector<Split> splits;
  bool even = true;
  int64_t sharded = 0; // dimensions that are
  int64_t first = -1;  // the first sharded dimension
  bool leading = true; // only dimensions of size 1 before it
  int64_t inner = 1;   // elements of one row of it
};

Side sideOf(ArrayRef<int64_t> shape, ArrayRef<DimLayout> dims, int64_t begin, int64_t end,
            const sharding::AxisAtoms &atoms) {
  Side side;
  int64_t elements = 1;
  for (int64_t d = end; d-- > begin;) {
    int64_t stride = elements * dims[d].tile;
    auto cut = atoms.cut(dims[d].axes); // minor to major
    for (uint8_t atom : llvm::reverse(cut)) {
      side.splits.push_back({atom, stride});
      stride *= atoms.size(atom);
    }
    if (isSharded(dims[d])) {
      side.even &= !isUneven(dims[d], shape[d]);
      ++side.sharded;
      side.first = d;
      side.inner = elements;
    }
    elements *= shape[d];
  }
  for (int64_t d = begin; d < side.first; ++d)
    side.leading &= shape[d] == 1;
  return side;
}

SmallVector<Split> sorted(SmallVector<Split> splits) {
  llvm::sort(splits, [](const Split &a, const Split &b) { return a.stride < b.stride; });
  return splits;
}

// Sets the tiles of both sides so that a local reshape is right; false when none does.
bool agree(ArrayRef<int64_t> fromShape, MutableArrayRef<DimLayout> from, ArrayRef<int64_t> toShape,
           MutableArrayRef<DimLayout> to, const Group &group, const sharding::AxisAtoms &atoms) {
  Side a = sideOf(fromShape, from, group.fromBegin, group.fromEnd, atoms);
  Side b = sideOf(toShape, to, group.toBegin, group.toEnd, atoms);
  if (a.sharded == 0 && b.sharded == 0)
    return true;
  if (a.even && b.even && sorted(a.splits) == sorted(b.splits))
    return true;
  if (a.sharded != 1 || b.sharded != 1 || !a.leading || !b.leading ||
      from[a.first].axes != to[b.first].axes)
    return false;
  int64_t unit = std::lcm(a.inner, b.inner), shards = sharding::shardCount(from[a.first].axes);
  int64_t tile = from[a.first].tile * a.inner; // elements a device holds
  if (tile % unit != 0) {
    int64_t elements = fromShape[a.first] * a.inner;
    tile = llvm::divideCeil(llvm::divideCeil(elements, shards), unit) * unit;
  }
  from[a.first].tile = tile / a.inner;
  to[b.first].tile = tile / b.inner;
  return true;
}

} // namespace

LogicalResult localizeReshape(Localizer &l, Operation *op) {
  Value operand = op->getOperand(0), result = op->getResult(0);
  ArrayRef<int64_t> fromShape = shapeOf(operand), toShape = shapeOf(result);
  LocalLayout want = l.local(operand).layout, layout = l.annotated(result);
  keepParts(want, layout);
  SmallVector<sharding::AxisRef> refs;
  for (const LocalLayout *each : {&want, &layout})
    for (const DimLayout &dim : each->dims)
      refs.append(dim.axes.begin(), dim.axes.end());
  for (auto [dim, size] :
       llvm::zip_equal(want.dims, fromShape)) // a single row that only the first shard has
    if (size == 1 && isSharded(dim))
      dim = wholeDim(1);
  for (auto [dim, size] : llvm::zip_equal(layout.dims, toShape))
    if (size == 1 && isSharded(dim))
      dim = wholeDim(1);
  sharding::AxisAtoms atoms(l.getMesh(), refs, /*primes=*/false);
  for (const Group &group : groupsOf(fromShape, toShape)) {
    if (atoms.valid() && agree(fromShape, want.dims, toShape, layout.dims, group, atoms))
      continue;
    for (int64_t d = group.fromBegin; d < group.fromEnd; ++d)
      want.dims[d] = wholeDim(fromShape[d]);
    for (int64_t d = group.toBegin; d < group.toEnd; ++d)
      layout.dims[d] = wholeDim(toShape[d]);
  }
  Operation *made = l.copy(op, l.get(operand, want), l.localType(result, layout));
  l.bind(result, made->getResult(0), layout);
  return success();
}

} // namespace tessera::localize
