// Kernels whose outputs are functions of an index, for a GPU.
//
//   elements   a thread has an element of each output, or as many side by side as one access moves, where these
//              leave no processor idle (Processors.h); of pieces that share something blocks may have several
//              (PieceBlocks.cpp)
//   rows       a block has some of them, which stay in shared memory (RowKernel.cpp); of rows that find
//              no room there a block has one: what depends on the row alone comes first, of which it
//              computes sums together (BlockSum.h), then its elements
//   sums       the same where all that is stored is one element for each row
//   columns    a block has some side by side, whose sums it computes together (ColumnBlocks.cpp)
//
// A nest's graph is that of the cpu's (NestGraph.h), and so are the nodes' code and the order of
// sums; what differs is who computes which point.
#include "passes/codegen/gpu/BlockSum.h"
#include "passes/codegen/gpu/Items.h"
#include "passes/codegen/gpu/NestRoots.h"
#include "passes/codegen/gpu/Processors.h"
#include "passes/codegen/gpu/RowTeams.h"
#include "passes/codegen/kernel/NestParts.h"
#include "passes/codegen/kernel/OutputNests.h"

#include "dialects/stablehlo/TensorTypes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

namespace tessera::codegen::gpu {

void emitRoots(EntryFunction &function, const NestGraph &nest, Emitter &e, bool ofRows) {
  llvm::SmallVector<std::tuple<const Root *, Value, Value>> values;
  for (const Root &root : nest.roots) {
    if (root.isOfRow != ofRows)
      continue;
    Value re = e.emit(root.value.re);
    values.push_back({&root, re, root.value.im ? e.emit(root.value.im) : nullptr});
  }
  for (auto [root, re, im] : values)
    e.store(function.outputBuffer(root->output), root->kind, root->offset, re, im);
}

// Of bytes that are computed from a vector of numbers that lines share (a mask of positions) as many as one access moves,
// though the vector takes several: all lines of a block read it.
static int64_t widestOfBytes(llvm::ArrayRef<Node *> ofElements, llvm::ArrayRef<LoopGroup> groups,
                             int64_t widest) {
  DimSet innermost = setOf(groups.back());
  auto isShared = [&](Node *node) {
    return llvm::any_of(groups.drop_back(),
                        [&](const LoopGroup &group) { return !(node->deps & setOf(group)); });
  };
  constexpr int64_t kMostAccesses = 4;
  bool areBytes = llvm::all_of(ofElements, [&](Node *node) {
    return node->op != Op::Load || !(node->deps & innermost) || byteSize(node->kind) == 1 ||
           isShared(node);
  });
  return areBytes && widest <= kMostAccesses ? 1 : widest;
}

int64_t lanesOfRow(const NestGraph &nest, llvm::ArrayRef<LoopGroup> groups,
                   llvm::ArrayRef<Node *> live) {
  if (groups.empty())
    return 1;
  llvm::ArrayRef<unsigned> innermost = groups.back();
  llvm::ArrayRef<unsigned> dims = nest.dims;
  DimSet inside = setOf(nest.takesRows() ? dims.drop_front(nest.outerDims) : dims), summed = 0;
  for (Node *node : live)
    if (node->op == Op::Reduced) {
      if (node->deps & inside)
        return 1;
      summed |= node->reduction->ownDims;
    }
  llvm::SmallVector<Node *> ofElements;
  llvm::copy_if(live, std::back_inserter(ofElements),
                [&](Node *node) { return !node->local && !(node->deps & summed); });
  std::optional<int64_t> read = widestRun(ofElements, innermost);
  if (!read)
    return 1;
  int64_t widest = widestOfBytes(ofElements, groups, *read);
  for (const Root &root : nest.roots) {
    if (root.isOfRow)
      continue;
    if (root.value.im || strideOf(root.offset, innermost) != 1)
      return 1;
    widest = std::max(widest, byteSize(root.kind));
  }
  auto [low, high] = boundsOf(nest.g->graph, innermost);
  return elementsOfThread(high - low, widest);
}

namespace {

constexpr int64_t kMostRowBytes = 46 << 10; // beside the sums
constexpr int64_t kMostThreads = 512;       // of elements: each has 128 registers still

// A loop that is split, as for a reshape, is cut at its outermost part, where an index of all parts comes to a piece of
// a concatenation: comparisons by points would be left, and nothing that lies across the results could be turned.
void wishCuts(Graph &graph, llvm::ArrayRef<Node *> roots) {
  for (Node *node : Graph::reachable(roots)) {
    if (node->op != Op::Compare || (node->aux != GE && node->aux != LT) ||
        node->operands[0]->op != Op::Iota || node->operands[1]->op != Op::Constant)
      continue;
    Index index = node->operands[0]->index;
    if (!index->nodes.empty() || index->dims.size() < 2 ||
        node->operands[0]->kind != ElementKind::I64)
      continue;
    auto [dim, factor] = *llvm::max_element(
        index->dims, [](auto &a, auto &b) { return std::abs(a.second) < std::abs(b.second); });
    auto [low, high] = graph.range(graph.add(index, graph.multiply(graph.dim(dim), -factor)));
    int64_t boundary = node->operands[1]->bits;
    if (factor < 0)
      continue;
    int64_t at = llvm::divideCeilSigned(boundary - low, factor);
    bool isClear = factor * (at - 1) + high < boundary;
    if (isClear && at > graph.dims[dim].low && at < graph.dims[dim].high)
      graph.wantedCuts.push_back({dim, at});
  }
}

class Nest : public NestGraph {
public:
  Nest(EntryFunction &function, llvm::ArrayRef<unsigned> outputs, bool update)
      : NestGraph(function.kernel, outputs, update), function(function), update(update) {}
  bool emit();

private:
  bool keepRows();
  bool isOfRows(const KeptRows &kept) const;
  bool isTogether(const Emitter &e, const Reduction &reduction) const;
  void takeSpace(Emitter &e);
  bool emitPart();
  bool isOfSums();
  void emitElements();
  bool isAlone() const;
  void takeThreads(int64_t threads);
  void emitRows();
  void emitRowValues(Emitter &e);
  // The loops of a block, and those of its threads.
  llvm::ArrayRef<unsigned> outer() const {
    return llvm::ArrayRef(dims).take_front(takesRows() ? outerDims : dims.size());
  }
  llvm::ArrayRef<unsigned> inner() const { return llvm::ArrayRef(dims).drop_front(outer().size()); }

  EntryFunction &function;
  const bool update;
  bool isWhole = false;     // no part of it
  bool keepsRows = false;   // in shared memory, not cut into boxes
  Value sumSpace = nullptr; // in shared memory
  int64_t sumBytes = 0;
};

} // namespace

bool Nest::emit() {
  if (llvm::is_contained(shape(), 0))
    return true;
  if (!keepRows() || (!rows && !build()))
    return false;
  wishCuts(g->graph, rootNodes());
  std::vector<Box> parts = boxesOf(*this);
  isWhole = parts.empty();
  if (isWhole || keepsRows)
    return emitPart();
  if (emitPieces(function, *this, parts))
    return true;
  return llvm::all_of(parts, [&](const Box &box) { return rebuild(box) && emitPart(); });
}

// Whether the nest has one element for each row, in the rows' order: results of one fold.
bool Nest::isOfRows(const KeptRows &kept) const {
  return shape() == llvm::ArrayRef(kept.shape).take_front(kept.outer) &&
         llvm::all_of(kernel.outputs(),
                      [&](mlir::Value output) { return shapeOf(output) == shape(); });
}

// With all that several passes read.
static llvm::SmallVector<KeptRows> waysOfLongRows(const KernelSource &kernel, int64_t mostBytes,
                                                  int64_t threads) {
  std::optional<KeptRows> all =
      keptRows(kernel, {INT64_MAX, /*keepsInputs=*/true, /*keepsComputed=*/false});
  llvm::SmallVector<KeptRows> ways;
  if (!all)
    return ways;
  constexpr int64_t kBeside = 1 << 10; // what a row has one of
  mostBytes -= mostBlockSumBytes(all->elements()) + kBeside;
  std::optional<KeptRows> whole = keptRows(kernel, {mostBytes, /*keepsInputs=*/true});
  if (!whole->lacksOperands)
    ways.push_back(*whole);
  int64_t each = all->bytes / all->elements(); // alignment apart
  if (auto windows = rowWindows(all->elements(), each, threads, mostBytes))
    ways.push_back(*keptRows(
        kernel, {INT64_MAX, /*keepsInputs=*/true, /*keepsComputed=*/false, windows->elements}));
  return ways;
}

// Rows are kept in shared memory where a block's threads take them together; else they are read in each
// pass.
bool Nest::keepRows() {
  bool hadRows = rows.has_value();
  std::optional<KeptRows> kept = keptRows(kernel, {kMostRowBytes, /*keepsInputs=*/true});
  if (hadRows || (kept && !update && isOfRows(*kept)))
    rows = kept;
  if (!rows)
    return true;
  // Where a row is kept: from there on in more memory than the code declares, then in registers too.
  llvm::SmallVector<KeptRows> ways;
  if (kept->lacksOperands && kept->passes > 1)
    ways = waysOfLongRows(kernel, function.sharedOfLaunchLeft(), function.launch.threads);
  ways.push_back(*kept);
  for (const KeptRows &way : ways) {
    rows = way;
    if (!build())
      return false;
    keepsRows = suitRowBlocks(function, *this);
    if (keepsRows)
      return true;
  }
  rows->slots.clear();
  rows->bytes = 0;
  if (!hadRows)
    rows.reset();
  return build();
}

// Whether the block computes it together, in the shared memory that is left.
bool Nest::isTogether(const Emitter &e, const Reduction &reduction) const {
  int64_t bytes = blockSumBytes(e, reduction, function.launch.threads);
  return isBlockSum(e, reduction) && (bytes <= sumBytes || bytes <= function.sharedLeft());
}

// Before the first of the sums.
void Nest::takeSpace(Emitter &e) {
  int64_t needed = 0;
  DimSet ofRow = setOf(outer());
  for (Node *node : e.live)
    if (node->op == Op::Reduced && !node->local && !(node->deps & ~ofRow) &&
        isTogether(e, *node->reduction))
      needed = std::max(needed, blockSumBytes(e, *node->reduction, function.launch.threads));
  if (needed <= sumBytes)
    return;
  sumBytes = needed;
  sumSpace = function.takeShared(llvm::ArrayType::get(e.b.getInt8Ty(), needed), "_sums");
}

bool Nest::emitPart() {
  if (emitRowBlocks(function, *this))
    return true;
  bool takesSums = !takesRows() && isOfSums();
  if (takesSums && emitColumnBlocks(function, *this))
    return true;
  if (takesRows() || takesSums)
    emitRows();
  else if (!emitColumnBlocks(function, *this) && !emitTurned(function, *this))
    emitElements();
  return true;
}

// Whether each element is made of sums that a block computes together.
bool Nest::isOfSums() {
  Emitter e = function.emitter(g->graph);
  DimSet own = setOf(dims);
  return llvm::any_of(Graph::reachable(rootNodes()), [&](Node *node) {
    return node->op == Op::Reduced && !node->local && !(node->deps & ~own) &&
           isTogether(e, *node->reduction);
  });
}

// Whether nothing else is emitted for the kernel.
bool Nest::isAlone() const {
  bool isUpdated = llvm::any_of(llvm::seq<unsigned>(kernel.outputs().size()), [&](unsigned output) {
    return updatedInput(kernel, output).has_value();
  });
  return !isUpdated && isWhole && roots.size() == kernel.outputs().size();
}

// Registers that they have are fewer, which the code says.
void Nest::takeThreads(int64_t threads) {
  if (threads == function.launch.threads)
    return;
  function.launch.threads = threads;
  function.function->addFnAttr("nvvm.maxntid", std::to_string(threads));
}

// So many that no processor stands idle for it, where blocks then read no more than they do of whole accesses: what
// lines share, such as positions of a mask, each of more blocks reads.
static int64_t lanesThatFill(const NestGraph &nest, llvm::ArrayRef<LoopGroup> groups,
                             llvm::ArrayRef<Node *> live, int64_t threads) {
  const Graph &graph = nest.g->graph;
  auto sectors = [&](int64_t lanes) {
    std::vector<int64_t> items = itemsOfEach(graph, groups, lanes);
    std::vector<BlockAccess> accesses = accessesOf(nest, live, groups, lanes);
    return sectorsOf(items, blockOrder(items, accesses, threads), accesses, threads);
  };
  // Of a small table a few more, rather than four times the code of its sines.
  constexpr double kMore = 1.02, kFew = 8;
  int64_t lanes = lanesOfRow(nest, groups, live);
  int64_t least = elementsThatFill(itemsOf(graph, groups, 1), lanes, threads);
  double most = lanes > least ? kMore * sectors(lanes) + kFew : 0;
  while (lanes > least && sectors(lanes / 2) <= most)
    lanes /= 2;
  return lanes;
}

// Whether quotients of a point's place say where it reads, as where dilation and interleavings leave every other
// element: neighbours then read the same, and no order of points says which.
static bool readsByQuotients(llvm::ArrayRef<Node *> live) {
  return llvm::any_of(live, [](Node *node) {
    return node->op == Op::Load && llvm::any_of(node->index->nodes, [](auto term) {
             return llvm::none_of(Graph::reachable(term.first),
                                  [](Node *inner) { return inner->op == Op::Load; });
           });
  });
}

void Nest::emitElements() {
  Emitter e = function.emitter(g->graph);
  e.live = Graph::reachable(rootNodes());
  auto groups = collapseLoops(g->graph, dims, e.live, stores());
  int64_t lanes = lanesThatFill(*this, groups, e.live, function.launch.threads);
  int64_t items = itemsOf(g->graph, groups, lanes);
  int64_t least = function.launch.threads;
  if (isAlone() && readsByQuotients(e.live))
    least = 2 * least;
  auto [threads, order] =
      blockShape(itemsOfEach(g->graph, groups, lanes), accessesOf(*this, e.live, groups, lanes),
                 least, isAlone() ? kMostThreads : least);
  takeThreads(threads);
  function.addBlocks(
      blocksFor(items, function.launch), [&](Value block, llvm::Instruction *before) {
        llvm::IRBuilder<> b(before);
        Value first = b.CreateNSWMul(block, b.getInt64(function.launch.threads));
        Value item = b.CreateNSWAdd(first, function.thread);
        // Threads without an item read nothing: of a kernel with one, which may be written in its place.
        Value exists = b.CreateICmpSLT(item, function.itemsOfStrand(items));
        e.openBody(llvm::SplitBlockAndInsertIfThen(exists, before, /*Unreachable=*/false));
        openItem(e, groups, order, item, lanes);
        emitRoots(function, *this, e, /*ofRows=*/false);
        closeItem(e);
      });
}

// What depends on the row alone. All of it is read before the first element is written, which may
// lie in an operand's place.
void Nest::emitRowValues(Emitter &e) {
  DimSet ofRow = setOf(outer());
  Team block{function.thread, function.launch.threads, /*isAlone=*/true};
  bool isFirstSum = true;
  for (Node *node : e.live) {
    if (node->op != Op::Reduced || node->local || (node->deps & ~ofRow))
      continue;
    unsigned level = e.levelOf(node->deps);
    if (!e.levels[level].reductions.contains(node->reduction) && isBlockSum(e, *node->reduction) &&
        blockSumBytes(e, *node->reduction, function.launch.threads) <= sumBytes) {
      if (!std::exchange(isFirstSum, false))
        barrier(e.b); // all have read the sums before
      llvm::SmallVector<Value> values = emitBlockSum(block, e, *node->reduction, sumSpace);
      e.levels[level].reductions[node->reduction] = std::move(values);
    }
    e.emit(node);
  }
  if (kernel.sharesBuffers())
    barrier(e.b);
  bool isFirst = llvm::all_of(inner(), [&](unsigned dim) { return g->graph.dims[dim].low == 0; });
  if (!isFirst || llvm::none_of(roots, [](const Root &root) { return root.isOfRow; }))
    return;
  e.openIf(e.b.CreateICmpEQ(function.thread, e.i64(0)));
  emitRoots(function, *this, e, /*ofRows=*/true);
  e.closeLoop();
}

void Nest::emitRows() {
  Emitter e = function.emitter(g->graph);
  e.live = Graph::reachable(rootNodes());
  takeSpace(e);
  auto ofGrid = collapseLoops(g->graph, outer(), e.live, stores());
  auto groups = collapseLoops(g->graph, inner(), e.live, stores());
  int64_t lanes = lanesOfRow(*this, groups, e.live), items = itemsOf(g->graph, groups, lanes);
  function.addBlocks(itemsOf(g->graph, ofGrid, 1), [&](Value block, llvm::Instruction *before) {
    e.openBody(before);
    openItem(e, ofGrid, block, 1);
    emitRowValues(e);
    Value item = e.openLoop(function.thread, e.i64(items), function.launch.threads,
                            /*mayBeEmpty=*/true);
    openItem(e, groups, item, lanes);
    emitRoots(function, *this, e, /*ofRows=*/false);
    closeItem(e);
    e.closeLoop();
    closeItem(e);
  });
}

bool emitNests(EntryFunction &function) {
  auto outputs = llvm::to_vector(llvm::seq<unsigned>(function.kernel.outputs().size()));
  return codegen::emitNests(function, outputs, [&](llvm::ArrayRef<unsigned> nest, bool update) {
    return Nest(function, nest, update).emit();
  });
}

} // namespace tessera::codegen::gpu
