// Elements of which some lie across the results (kernel/TurnedLoads.h), as transposes leave them: blocks
// of 32 x 32 points, or more of them (TurnedTile.h), go through shared memory.
//
//   out[c, r] = in[r, c] + 1        tile[r][c] = in[r, c]        threads side by side along c
//                                   barrier
//                                   out[c, r] = tile[r][c] + 1   threads side by side along r
//
// So do sums of what lies across them, each of which a thread adds up before it is turned:
//
//   out[c, r] = sum over n of in[n, r, c]
//
// Results of which several are the same (keys of heads in groups) are one block's, and so are planes that share what
// they are made of.
//
// A line of the tile has an odd number of words, one more than it needs, so that a column lies in as many
// banks as a row. Where lines are short, and those of the next loop follow them in memory, both loops are one
// line of the block (a filter's places and channels: out[o, i, hw] = in[hw, i, o]). Threads begin where a
// sector of memory does, before the line where that begins within one; of lines of fewer elements than a warp
// has threads they go over line ends, as memory does.
#include "passes/codegen/gpu/Items.h"
#include "passes/codegen/gpu/NestRoots.h"
#include "passes/codegen/gpu/TurnedTile.h"
#include "passes/codegen/gpu/TurnedValues.h"

#include "llvm/ADT/STLExtras.h"

namespace tessera::codegen::gpu {

namespace {

// Loops that the points of a line follow: one, or two, the outer one first.
using LineLoops = llvm::SmallVector<LoopGroup, 2>;

// Whether each line along `inner` begins a sector.
bool beginsSectors(Index index, llvm::ArrayRef<LoopGroup> groups, const LineLoops &inner,
                   int64_t bytes) {
  int64_t elements = std::max<int64_t>(kSectorBytes / bytes, 1);
  return index->nodes.empty() && index->constant % elements == 0 &&
         llvm::all_of(groups,
                      [&](const LoopGroup &group) {
                        std::optional<int64_t> stride = strideOf(index, group);
                        return llvm::is_contained(inner, group) ||
                               (stride && *stride % elements == 0);
                      }) &&
         llvm::all_of(index->dims, [&](auto &term) {
           auto isLoop = [&](const LoopGroup &group) {
             return llvm::is_contained(group, term.first);
           };
           return llvm::any_of(groups, isLoop) || term.second % elements == 0;
         });
}

class TurnedBlocks {
public:
  TurnedBlocks(EntryFunction &function, const NestGraph &nest, TurnedValues turned,
               llvm::ArrayRef<LoopGroup> groups)
      : function(function), nest(nest), graph(nest.g->graph), turned(std::move(turned)),
        along{groups[this->turned.along]}, across{groups.back()}, e(function.emitter(graph)),
        b(e.b) {
    e.live = Graph::reachable(nest.rootNodes());
    for (auto [i, group] : llvm::enumerate(groups.drop_back()))
      if (i != this->turned.along)
        outer.push_back(group);
    // There may be one loop for both: it is the shorter line's.
    bool alongIsShorter = extentOf(along) < extentOf(across);
    for (bool isAlong : {alongIsShorter, !alongIsShorter}) {
      for (Node *load : loads())
        if (isAlong)
          lengthen(along, load->index, load->kind);
      for (const Root &root : nest.roots)
        if (!isAlong)
          lengthen(across, root.offset, root.kind);
    }
    plane.along = extentOf(along), plane.across = extentOf(across);
    plane.alongBytes = plane.acrossBytes = kSectorBytes;
    auto add = [&](Index index, ElementKind kind, const LineLoops &inner, int64_t &narrowest) {
      narrowest = std::min(narrowest, byteSize(kind));
      plane.beginSectors &= beginsSectors(index, groups, inner, byteSize(kind));
    };
    for (Node *load : loads())
      add(load->index, load->kind, along, plane.alongBytes);
    for (const Root &root : nest.roots)
      add(root.offset, root.kind, across, plane.acrossBytes);
    tile = turnedTile(plane);
    takePlanes();
  }

  // False: there is no room.
  bool findSpace() {
    int64_t bytes = 0;
    for (const TurnedValue &turned : turned.values)
      bytes += bytesOf(turned.value);
    if (bytes <= function.sharedLeft()) {
      for (const TurnedValue &turned : turned.values)
        tiles.push_back(function.takeShared(
            llvm::ArrayType::get(b.getInt8Ty(), bytesOf(turned.value)), "_turned"));
      return true;
    }
    if (bytes > function.sharedOfLaunchLeft())
      return false;
    Value space = function.takeSharedOfLaunch(bytes);
    llvm::IRBuilder<> atEnd(function.end);
    for (const TurnedValue &turned : turned.values) {
      tiles.push_back(space);
      space = atEnd.CreateConstGEP1_64(b.getInt8Ty(), space, bytesOf(turned.value));
    }
    return true;
  }

  void emit() {
    function.addBlocks(blocks(), [&](Value number, llvm::Instruction *before) {
      e.openBody(before);
      emitBlock(number);
    });
  }

private:
  int64_t extentOf(const LoopGroup &group) const { return itemsOf(graph, group, 1); }
  int64_t extentOf(const LineLoops &loops) const {
    int64_t extent = 1;
    for (const LoopGroup &group : loops)
      extent *= extentOf(group);
    return extent;
  }
  int64_t blocksOf(const LineLoops &loops, int64_t side) const {
    return llvm::divideCeil(extentOf(loops), side);
  }
  // By the loop whose lines follow each other, where they are short, or end within a sector.
  void lengthen(LineLoops &line, Index index, ElementKind kind) {
    int64_t extent = extentOf(line);
    if (line.size() > 1 || (extent >= kWarp && extent * byteSize(kind) % kSectorBytes == 0))
      return;
    auto next = llvm::find_if(
        outer, [&](const LoopGroup &group) { return strideOf(index, group) == extent; });
    if (next == outer.end())
      return;
    line.insert(line.begin(), *next);
    outer.erase(next);
  }
  llvm::SmallVector<Node *> loads() const {
    llvm::SmallVector<Node *> all;
    for (const TurnedValue &of : turned.values)
      all.append(of.loads.begin(), of.loads.end());
    return all;
  }
  int64_t bytesOfPlane(const Node *value) const {
    int64_t bytes = byteSize(value->kind);
    return llvm::alignTo(tile.elements(bytes) * bytes, kAccessBytes);
  }
  int64_t bytesOf(const Node *value) const {
    return itemsOf(graph, planes, 1) * bytesOfPlane(value);
  }
  int64_t blocks() const {
    return itemsOf(graph, outer, 1) * blocksOf(along, tile.along) * blocksOf(across, tile.across);
  }
  // Loops that a block has all of, as blocks of their own would read the same: what is turned does not depend on them, and
  // is stored several times, or some of what it is made of does not.
  void takePlanes() {
    constexpr int64_t kMost = 8, kBusy = 2 * 132; // blocks of a larger GPU
    llvm::SmallVector<Node *> values, read;
    for (const TurnedValue &of : turned.values)
      values.push_back(of.value);
    llvm::copy_if(Graph::reachable(values), std::back_inserter(read),
                  [](Node *node) { return node->op == Op::Load; });
    auto changes = [](const LoopGroup &group) {
      return [set = setOf(group)](Node *load) { return bool(load->deps & set); };
    };
    int64_t count = 1;
    auto take = [&](llvm::SmallVector<LoopGroup> &into,
                    llvm::function_ref<bool(const LoopGroup &)> suits) {
      for (const LoopGroup &group : llvm::SmallVector<LoopGroup>(outer))
        if (int64_t extent = extentOf(group); count * extent <= kMost && suits(group)) {
          into.push_back(group);
          outer.erase(llvm::find(outer, group));
          count *= extent;
        }
    };
    take(copies, [&](const LoopGroup &group) { return llvm::none_of(values, changes(group)); });
    bool isNarrow = tile.flat == TurnedTile::Along;
    if (plane.beginSectors &&
        (isNarrow || (tile.flat == TurnedTile::None && blocks() >= kMost * kBusy)))
      take(planes, [&](const LoopGroup &group) { return !llvm::all_of(read, changes(group)); });
    if (count == 1 || !isNarrow || !plane.beginSectors)
      return;
    // Lines are shorter, so that there are not fewer blocks.
    int64_t least = kSectorBytes / std::min(plane.alongBytes, plane.acrossBytes);
    while (tile.across > least && (tile.across >= 2 * plane.across || blocks() < kBusy))
      tile.across /= 2;
  }
  void emitBlock(Value number) {
    int64_t inLine = blocksOf(across, tile.across), lines = blocksOf(along, tile.along);
    Value acrossFirst = b.CreateNSWMul(b.CreateURem(number, e.i64(inLine)), e.i64(tile.across));
    number = b.CreateUDiv(number, e.i64(inLine));
    Value alongFirst = b.CreateNSWMul(b.CreateURem(number, e.i64(lines)), e.i64(tile.along));
    openItem(e, outer, b.CreateUDiv(number, e.i64(lines)), 1);
    Lines read{across, acrossFirst, tile.across}, written{along, alongFirst, tile.along};
    Node *first = turned.values[0].loads[0];
    overItems(planes, [&](Value number) {
      overPoints(read, written, firstTerm(first->index), first->kind, [&](Value line, Value at) {
        for (auto [turned, tile] : llvm::zip(turned.values, tiles)) {
          Value value = e.toMemory(turned.value->kind, e.emit(turned.value));
          b.CreateAlignedStore(value, placeOf(turned.value, tile, number, line, at),
                               llvm::Align(byteSize(turned.value->kind)));
        }
      });
    });
    barrier(b);
    const Root &root = nest.roots[0];
    overItems(planes, [&](Value number) {
      overItems(copies, [&](Value) {
        overPoints(written, read, root.offset, root.kind, [&](Value line, Value at) {
          for (auto [turned, tile] : llvm::zip(turned.values, tiles)) {
            Node *value = turned.value;
            Value stored = b.CreateAlignedLoad(memoryType(value->kind, b.getContext()),
                                               placeOf(value, tile, number, at, line),
                                               llvm::Align(byteSize(value->kind)));
            e.levels.back().values[value] = e.fromMemory(value->kind, stored);
          }
          emitRoots(function, nest, e, /*ofRows=*/false);
        });
      });
    });
    closeItem(e);
  }

  // `body` for each of their items, one after the other.
  void overItems(llvm::ArrayRef<LoopGroup> groups, llvm::function_ref<void(Value number)> body) {
    if (groups.empty())
      return body(nullptr);
    Value number = e.openLoop(e.i64(0), e.i64(itemsOf(graph, groups, 1)), 1, /*mayBeEmpty=*/false);
    openItem(e, groups, number, 1);
    body(number);
    closeItem(e);
    e.closeLoop();
  }

  // Where the first term of a sum is: the other loops are those of the nest.
  Index firstTerm(Index index) {
    DimSet ofNest = setOf(nest.dims);
    for (auto [dim, factor] : llvm::SmallVector<std::pair<unsigned, int64_t>, 4>(index->dims))
      if (!(DimSet(1) << dim & ofNest))
        index = graph.add(index, graph.multiply(graph.dim(dim), -factor));
    return index;
  }

  // Of the loops of a line the points [first, first + side) of the block.
  struct Lines {
    const LineLoops &loops;
    Value first;
    int64_t side;
  };

  void bind(const Lines &lines, Value point) {
    for (const LoopGroup &group : llvm::reverse(lines.loops)) {
      bool isLast = &group == lines.loops.begin();
      Value extent = e.i64(extentOf(group)), at = isLast ? point : b.CreateURem(point, extent);
      at = b.CreateNSWAdd(at, e.i64(boundsOf(graph, group).first));
      e.bindLevel(group.back(), setOf(group), at, 1, nullptr);
      if (!isLast)
        point = b.CreateUDiv(point, extent);
    }
  }
  Value exists(const Lines &lines, Value point) {
    return b.CreateICmpSLT(point, e.i64(extentOf(lines.loops)));
  }

  // `body` at the points of the block: threads side by side along `inner`, from where a sector of what is at
  // `index` begins.
  void overPoints(const Lines &outer, const Lines &inner, Index index, ElementKind kind,
                  llvm::function_ref<void(Value line, Value at)> body) {
    if (tile.flat == (&inner.loops == &along ? TurnedTile::Along : TurnedTile::Across))
      return overFlatPoints(outer, inner, body);
    Value lane = b.CreateAnd(function.thread, e.i64(kWarp - 1));
    Value line =
        e.openLoop(b.CreateLShr(function.thread, llvm::Log2_64(kWarp)), e.i64(outer.side),
                   function.launch.threads / kWarp, /*mayBeEmpty=*/tile.flat != TurnedTile::None);
    Value outerAt = b.CreateNSWAdd(outer.first, line);
    e.openIf(exists(outer, outerAt));
    Value shift = plane.beginSectors ? e.i64(0) : shiftOf(outer, outerAt, inner, index, kind);
    Value at = e.openLoop(b.CreateNSWSub(lane, shift), e.i64(inner.side), kWarp,
                          /*mayBeEmpty=*/!plane.beginSectors || inner.side < kWarp);
    Value innerAt = b.CreateNSWAdd(inner.first, at), isThere = exists(inner, innerAt);
    if (!plane.beginSectors)
      isThere = b.CreateAnd(isThere, b.CreateICmpSGE(at, e.i64(0)));
    atPoint(outer, outerAt, inner, innerAt, isThere, [&] { body(line, at); });
    e.closeLoop();
    e.closeLoop();
    e.closeLoop();
  }
  // Elements that the line's part has before it in its first sector.
  Value shiftOf(const Lines &outer, Value outerAt, const Lines &inner, Index index,
                ElementKind kind) {
    e.openBlock();
    bind(outer, outerAt);
    bind(inner, inner.first);
    Value begin = e.emitIndex(index);
    e.closeBlock();
    return b.CreateAnd(begin, e.i64(std::max<int64_t>(kSectorBytes / byteSize(kind), 1) - 1));
  }
  void overFlatPoints(const Lines &outer, const Lines &inner,
                      llvm::function_ref<void(Value line, Value at)> body) {
    Value point = e.openLoop(function.thread, e.i64(outer.side * inner.side),
                             function.launch.threads, /*mayBeEmpty=*/true);
    Value small = b.CreateTrunc(point, b.getInt32Ty()), side = b.getInt32(inner.side);
    Value line = b.CreateZExt(b.CreateUDiv(small, side), b.getInt64Ty());
    Value at = b.CreateZExt(b.CreateURem(small, side), b.getInt64Ty());
    Value outerAt = b.CreateNSWAdd(outer.first, line), innerAt = b.CreateNSWAdd(inner.first, at);
    atPoint(outer, outerAt, inner, innerAt, exists(outer, outerAt), [&] { body(line, at); });
    e.closeLoop();
  }
  void atPoint(const Lines &outer, Value outerAt, const Lines &inner, Value innerAt, Value isThere,
               llvm::function_ref<void()> body) {
    e.openIf(isThere);
    e.openBlock();
    bind(outer, outerAt);
    bind(inner, innerAt);
    body();
    e.closeBlock();
    e.closeLoop();
  }

  // Of the point on that line of the tile, of the plane of that number: a line has what follows each other in memory.
  Value placeOf(const Node *value, Value space, Value number, Value line, Value at) {
    if (number)
      space = b.CreateGEP(b.getInt8Ty(), space, b.CreateNSWMul(number, e.i64(bytesOfPlane(value))));
    int64_t bytes = byteSize(value->kind), pitch = tile.pitch(bytes);
    if (tile.flat == TurnedTile::Across)
      std::swap(line, at);
    if (TurnedTile::Gaps gaps = tile.gaps(bytes); gaps.together) {
      Value within = b.CreateAnd(line, e.i64(gaps.all - 1)), whole = b.CreateAnd(line, -gaps.all);
      at = b.CreateNSWAdd(at, b.CreateLShr(within, llvm::Log2_64(gaps.together)));
      at = b.CreateNSWAdd(at, whole);
    }
    Value place = b.CreateNSWAdd(b.CreateNSWMul(line, e.i64(pitch)), at);
    return e.element(space, value->kind, place);
  }

  EntryFunction &function;
  const NestGraph &nest;
  Graph &graph;
  TurnedValues turned;
  LineLoops along, across;
  TurnedPlane plane;
  TurnedTile tile;
  llvm::SmallVector<LoopGroup> outer;  // of blocks
  llvm::SmallVector<LoopGroup> planes; // of tiles that a block has
  llvm::SmallVector<LoopGroup> copies; // of results of one tile
  Emitter e;
  llvm::IRBuilder<> &b;
  llvm::SmallVector<Value> tiles;
};

} // namespace

bool emitTurned(EntryFunction &function, const NestGraph &nest) {
  std::vector<Node *> live = Graph::reachable(nest.rootNodes());
  auto groups = collapseLoops(nest.g->graph, nest.dims, live, nest.stores());
  std::optional<TurnedValues> turned = turnedValues(nest, groups, live);
  if (!turned || llvm::any_of(nest.roots, [](const Root &root) { return root.value.im; }))
    return false;
  TurnedBlocks blocks(function, nest, std::move(*turned), groups);
  if (!blocks.findSpace())
    return false;
  blocks.emit();
  return true;
}

} // namespace tessera::codegen::gpu
