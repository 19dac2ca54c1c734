// Pieces of a nest, as concatenations and paddings leave them, of which a block has several: what they both read, and
// sectors that they share, are its own then.
//
//   rows     of rows of short pieces a block has some, with all of their pieces, one after the other
//   points   points of all pieces come to blocks in one order, and each is computed as its piece has it:
//              out[0, j] = f(x[j]), out[1, j] = g(x[j])     a block has both of some j
//              out[0] = x[0], out[i] = x[i] + x[i - 1]      the first point comes with those after it
#include "passes/codegen/gpu/Items.h"
#include "passes/codegen/gpu/NestRoots.h"
#include "passes/codegen/gpu/TurnedValues.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

#include <algorithm>

namespace tessera::codegen::gpu {

namespace {

// A nest that is built over a piece.
struct Piece {
  NestGraph nest;
  Box box;
  std::vector<Node *> live;

  llvm::SmallVector<LoopGroup> groupsOf(llvm::ArrayRef<unsigned> loops) const {
    return collapseLoops(nest.g->graph, loops, live, nest.stores());
  }
};

// Rows of all pieces: points of the first loops.
struct Rows {
  unsigned outer = 0;    // loops
  int64_t together = 0;  // of a block
  BlockOrder order = {}; // none: the loops are not the same ones for all pieces
};

// Points of all pieces, by loops that each of them can run.
struct Points {
  llvm::SmallVector<LoopGroup> groups;
  int64_t lanes = 1;
  BlockOrder order;
};

} // namespace

// Whether each element is a thread's work alone, read where it is written.
static bool isOfElements(const Piece &piece) {
  constexpr int64_t mostTerms = 15; // that no block adds up together (NestKernel.cpp)
  const Graph &graph = piece.nest.g->graph;
  auto isOfThread = [&](Node *node) {
    return node->op != Op::Reduced || pointsOf(graph, node->reduction->dims) <= mostTerms;
  };
  return !piece.nest.takesRows() && llvm::all_of(piece.live, isOfThread) &&
         !turnedValues(piece.nest, piece.groupsOf(piece.nest.dims), piece.live);
}

static std::optional<std::vector<Piece>> piecesOf(const NestGraph &nest,
                                                  llvm::ArrayRef<Box> boxes) {
  std::vector<Piece> pieces;
  for (const Box &box : boxes) {
    Piece &piece = pieces.emplace_back(Piece{nest, box, {}});
    if (!piece.nest.rebuild(box))
      return std::nullopt;
    piece.live = Graph::reachable(piece.nest.rootNodes());
    if (!isOfElements(piece))
      return std::nullopt;
  }
  return pieces;
}

// Of the loops around all cuts.
static std::optional<Rows> rowsOf(llvm::ArrayRef<Piece> pieces, int64_t threads) {
  Rows rows;
  llvm::ArrayRef<unsigned> loops = pieces[0].nest.dims;
  auto isWhole = [&](const Piece &piece) {
    return piece.box[rows.outer] == pieces[0].box[rows.outer];
  };
  while (rows.outer < loops.size() && llvm::all_of(pieces, isWhole))
    ++rows.outer;
  if (rows.outer == 0)
    return std::nullopt;
  auto outer = loops.take_front(rows.outer);
  auto first = pieces[0].groupsOf(outer);
  std::vector<int64_t> items;
  std::vector<BlockAccess> accesses;
  bool areSame = true;
  for (const Piece &piece : pieces) {
    const Graph &graph = piece.nest.g->graph;
    auto groups = piece.groupsOf(loops.drop_front(rows.outer)), own = piece.groupsOf(outer);
    items.push_back(itemsOf(graph, groups, lanesOfRow(piece.nest, groups, piece.live)));
    areSame &= own == first;
    llvm::append_range(accesses, accessesOf(piece.nest, piece.live, own, 1));
  }
  const Graph &graph = pieces[0].nest.g->graph;
  rows.together = rowsWithPieces(pointsOf(graph, outer), items, threads);
  if (rows.together && areSame)
    rows.order = blockOrder(itemsOfEach(graph, first, 1), accesses, rows.together);
  return rows.together ? std::optional(rows) : std::nullopt;
}

static void emitRows(EntryFunction &function, const Piece &piece, const Rows &rows) {
  Emitter e = function.emitter(piece.nest.g->graph);
  e.live = piece.live;
  llvm::ArrayRef<unsigned> loops = piece.nest.dims;
  auto ofRows = piece.groupsOf(loops.take_front(rows.outer));
  auto groups = piece.groupsOf(loops.drop_front(rows.outer));
  int64_t lanes = lanesOfRow(piece.nest, groups, e.live), items = itemsOf(e.graph, groups, lanes);
  int64_t count = itemsOf(e.graph, ofRows, 1), together = rows.together;
  function.addBlocks(
      llvm::divideCeil(count, together), [&](Value block, llvm::Instruction *before) {
        e.openBody(before);
        Value first = e.b.CreateNSWMul(block, e.i64(together));
        Value item = e.openLoop(function.thread, e.i64(together * items), function.launch.threads,
                                /*mayBeEmpty=*/true);
        Value row = e.b.CreateNSWAdd(first, e.b.CreateUDiv(item, e.i64(items)));
        if (count % together)
          e.openIf(e.b.CreateICmpSLT(row, e.i64(count)));
        if (rows.order.empty())
          openItem(e, ofRows, row, 1);
        else
          openItem(e, ofRows, rows.order, row, 1);
        openItem(e, groups, e.b.CreateURem(item, e.i64(items)), lanes);
        emitRoots(function, piece.nest, e, /*ofRows=*/false);
        closeItem(e);
        closeItem(e);
        if (count % together)
          e.closeLoop();
        e.closeLoop();
      });
}

// Loops that are one for all pieces: two that follow each other are where they are for each of these.
static llvm::SmallVector<LoopGroup> commonGroups(llvm::ArrayRef<Piece> pieces) {
  llvm::SmallVector<LoopGroup> common = pieces[0].groupsOf(pieces[0].nest.dims);
  for (const Piece &piece : pieces.drop_front()) {
    DimSet begins = 0; // loops that a group begins with
    for (const LoopGroup &group : piece.groupsOf(piece.nest.dims))
      begins |= DimSet(1) << group.front();
    llvm::SmallVector<LoopGroup> finer;
    for (const LoopGroup &group : common)
      for (unsigned dim : group) {
        if (dim == group.front() || (begins >> dim & 1))
          finer.emplace_back();
        finer.back().push_back(dim);
      }
    common = std::move(finer);
  }
  return common;
}

static std::vector<int64_t> wholeExtents(const Graph &graph, llvm::ArrayRef<LoopGroup> groups,
                                         int64_t lanes) {
  std::vector<int64_t> extents;
  for (const LoopGroup &group : groups)
    extents.push_back(pointsOf(graph, group) / (&group == &groups.back() ? lanes : 1));
  return extents;
}

// What points read and write, each of its piece.
static std::vector<BlockAccess> accessesOfAll(llvm::ArrayRef<Piece> pieces, const Points &points) {
  std::vector<BlockAccess> accesses;
  for (const Piece &piece : pieces) {
    std::vector<std::pair<int64_t, int64_t>> within;
    for (const LoopGroup &group : points.groups) {
      auto [low, high] = boundsOf(piece.nest.g->graph, group);
      int64_t lanes = &group == &points.groups.back() ? points.lanes : 1;
      within.push_back({low / lanes, high / lanes});
    }
    for (BlockAccess &access : accessesOf(piece.nest, piece.live, points.groups, points.lanes)) {
      access.within = within;
      accesses.push_back(std::move(access));
    }
  }
  return accesses;
}

// Whether a thread's elements are one access of each result.
static bool storesAtOnce(const Piece &piece, llvm::ArrayRef<LoopGroup> groups, int64_t lanes) {
  const Graph &graph = piece.nest.g->graph;
  return llvm::all_of(piece.nest.roots, [&](const Root &root) {
    int64_t begin = root.offset->constant;
    for (const LoopGroup &group : groups) {
      int64_t stride = root.offset->coefficient(group.back());
      if (&group != &groups.back() && stride % lanes)
        return false;
      begin += boundsOf(graph, group).first * stride;
    }
    return begin % lanes == 0;
  });
}

// Where that takes fewer sectors than pieces with blocks of their own, and leaves the largest as many elements a thread.
static std::optional<Points> pointsOf(llvm::ArrayRef<Piece> pieces, int64_t threads) {
  constexpr double kWorth = 0.98;
  Points points{commonGroups(pieces), kAccessBytes, {}};
  if (points.groups.empty())
    return std::nullopt;
  double apart = 0;
  int64_t largest = 0, lanesOfLargest = 1;
  for (const Piece &piece : pieces) {
    const Graph &graph = piece.nest.g->graph;
    auto own = piece.groupsOf(piece.nest.dims);
    int64_t lanes = lanesOfRow(piece.nest, own, piece.live);
    std::vector<int64_t> items = itemsOfEach(graph, own, lanes);
    std::vector<BlockAccess> accesses = accessesOf(piece.nest, piece.live, own, lanes);
    apart += sectorsOf(items, blockOrder(items, accesses, threads), accesses, threads);
    if (int64_t size = itemsOf(graph, own, 1); size > largest) {
      largest = size;
      lanesOfLargest = storesAtOnce(piece, own, lanes) ? lanes : 1;
    }
    points.lanes = std::min(points.lanes, lanesOfRow(piece.nest, points.groups, piece.live));
    while (boundsOf(graph, points.groups.back()).first % points.lanes)
      points.lanes /= 2;
  }
  if (points.lanes < lanesOfLargest)
    return std::nullopt;
  std::vector<int64_t> extents = wholeExtents(pieces[0].nest.g->graph, points.groups, points.lanes);
  std::vector<BlockAccess> accesses = accessesOfAll(pieces, points);
  points.order = blockOrder(extents, accesses, threads);
  bool isWorth = sectorsOf(extents, points.order, accesses, threads) < kWorth * apart;
  return isWorth ? std::optional(points) : std::nullopt;
}

// Whether the places are of the piece, which is a part of all.
static Value isInPiece(llvm::IRBuilder<> &b, const Graph &graph, const Points &points,
                       llvm::ArrayRef<Value> places) {
  Value isInside = nullptr;
  auto require = [&](Value condition) {
    isInside = isInside ? b.CreateAnd(isInside, condition) : condition;
  };
  for (auto [group, place] : llvm::zip_equal(points.groups, places)) {
    auto [low, high] = boundsOf(graph, group);
    if (low > 0)
      require(b.CreateICmpSGE(place, b.getInt64(low)));
    if (high < pointsOf(graph, group))
      require(b.CreateICmpSLT(place, b.getInt64(high)));
  }
  return isInside;
}

static void emitPoints(EntryFunction &function, llvm::ArrayRef<Piece> pieces,
                       const Points &points) {
  int64_t items = itemsOf(points.order);
  function.addBlocks(
      blocksFor(items, function.launch), [&](Value block, llvm::Instruction *before) {
        llvm::IRBuilder<> b(before);
        Value first = b.CreateNSWMul(block, b.getInt64(function.launch.threads));
        Value item = b.CreateNSWAdd(first, function.thread);
        llvm::Instruction *inside = llvm::SplitBlockAndInsertIfThen(
            b.CreateICmpSLT(item, b.getInt64(items)), before, /*Unreachable=*/false);
        b.SetInsertPoint(inside);
        llvm::SmallVector<Value> places =
            placesOf(b, points.order, item, points.groups.size(), points.lanes);
        for (const Piece &piece : pieces) {
          b.SetInsertPoint(inside);
          Value isInside = isInPiece(b, piece.nest.g->graph, points, places);
          Emitter e = function.emitter(piece.nest.g->graph);
          e.live = piece.live;
          e.openBody(llvm::SplitBlockAndInsertIfThen(isInside, inside, /*Unreachable=*/false));
          openPlaces(e, points.groups, places, points.lanes);
          emitRoots(function, piece.nest, e, /*ofRows=*/false);
          closeItem(e);
        }
      });
}

bool emitPieces(EntryFunction &function, const NestGraph &nest, llvm::ArrayRef<Box> boxes) {
  std::optional<std::vector<Piece>> pieces = piecesOf(nest, boxes);
  if (!pieces)
    return false;
  if (std::optional<Rows> rows = rowsOf(*pieces, function.launch.threads)) {
    int64_t first = function.launch.blocks;
    for (const Piece &piece : *pieces) {
      function.launch.blocks = first; // which all of them have
      emitRows(function, piece, *rows);
    }
    return true;
  }
  std::optional<Points> points = pointsOf(*pieces, function.launch.threads);
  if (points)
    emitPoints(function, *pieces, *points);
  return points.has_value();
}

} // namespace tessera::codegen::gpu
