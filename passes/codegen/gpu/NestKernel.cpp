// Kernels whose outputs are functions of an index, for a GPU.
//
//   elements   a thread has an element of each output, or as many side by side as one access moves
//   rows       a block has a row: what depends on the row alone comes first, of which it computes sums
//              together (BlockSum.h), then its elements
//   sums       the same where all that is stored is one element for each row
//
// A nest's graph is that of the cpu's (NestGraph.h), and so are the nodes' code and the order of
// sums; what differs is who computes which point.
#include "passes/codegen/gpu/BlockSum.h"
#include "passes/codegen/gpu/Unsupported.h"
#include "passes/codegen/kernel/NestGraph.h"

#include "llvm/ADT/STLExtras.h"

namespace tessera::codegen::gpu {

namespace {

class Nest : public NestGraph {
public:
  Nest(EntryFunction &function, llvm::ArrayRef<unsigned> outputs, bool update)
      : NestGraph(function.kernel, outputs, update), function(function) {}
  bool emit();

private:
  bool emitPart();
  bool isOfSums();
  void emitElements();
  void emitRows();
  void emitRowValues(Emitter &e);
  void emitRoots(Emitter &e, bool ofRows);
  // Opens levels in which the loops are at the item of that number: `lanes` points of the last group.
  void openItem(Emitter &e, llvm::ArrayRef<LoopGroup> groups, Value number, int64_t lanes);
  int64_t itemsOf(llvm::ArrayRef<LoopGroup> groups, int64_t lanes) const;
  int64_t lanesOf(llvm::ArrayRef<LoopGroup> groups, llvm::ArrayRef<Node *> live) const;
  // The loops of a block, and those of its threads.
  llvm::ArrayRef<unsigned> outer() const {
    return llvm::ArrayRef(dims).take_front(takesRows() ? outerDims : dims.size());
  }
  llvm::ArrayRef<unsigned> inner() const { return llvm::ArrayRef(dims).drop_front(outer().size()); }

  EntryFunction &function;
};

} // namespace

bool Nest::emit() {
  if (llvm::is_contained(shape(), 0))
    return true;
  if (rows) // a row of another block is none of this one's to keep
    rows->slots.clear();
  if (!build())
    return false;
  std::vector<Box> parts = boxes();
  if (parts.empty())
    return emitPart();
  for (const Box &box : parts)
    if (!rebuild(box) || !emitPart())
      return false;
  return true;
}

bool Nest::emitPart() {
  if (refusesNode(kernel, rootNodes()))
    return false;
  if (takesRows() || isOfSums())
    emitRows();
  else
    emitElements();
  return true;
}

// Whether each element is made of sums that a block computes together.
bool Nest::isOfSums() {
  Emitter e = function.emitter(g->graph);
  DimSet own = setOf(dims);
  return llvm::any_of(Graph::reachable(rootNodes()), [&](Node *node) {
    return node->op == Op::Reduced && !node->local && !(node->deps & ~own) &&
           isBlockSum(function, e, *node->reduction);
  });
}

// Several where all that is read and written lies side by side, or is the same for all of them, and
// nothing is added up.
int64_t Nest::lanesOf(llvm::ArrayRef<LoopGroup> groups, llvm::ArrayRef<Node *> live) const {
  if (groups.empty())
    return 1;
  llvm::ArrayRef<unsigned> innermost = groups.back();
  int64_t widest = 1;
  auto isRun = [&](Index index) {
    std::optional<int64_t> stride = strideOf(index, innermost);
    return stride && (*stride == 0 || *stride == 1);
  };
  for (Node *node : live) {
    if (node->op == Op::Reduced || node->mask)
      return 1;
    if (node->op != Op::Load)
      continue;
    if (!isRun(node->index))
      return 1;
    widest = std::max(widest, byteSize(node->kind));
  }
  for (const Root &root : roots) {
    if (root.isOfRow)
      continue;
    if (root.value.im || strideOf(root.offset, innermost) != 1)
      return 1;
    widest = std::max(widest, byteSize(root.kind));
  }
  auto [low, high] = boundsOf(g->graph, innermost);
  return elementsOfThread(high - low, widest);
}

int64_t Nest::itemsOf(llvm::ArrayRef<LoopGroup> groups, int64_t lanes) const {
  int64_t items = 1;
  for (const LoopGroup &group : groups) {
    auto [low, high] = boundsOf(g->graph, group);
    items *= high - low;
  }
  return items / lanes;
}

void Nest::openItem(Emitter &e, llvm::ArrayRef<LoopGroup> groups, Value number, int64_t lanes) {
  bool isSmall = itemsOf(groups, lanes) < INT32_MAX; // half the digits divide much faster
  Value rest = isSmall ? e.b.CreateTrunc(number, e.b.getInt32Ty()) : number;
  auto constant = [&](int64_t value) { return llvm::ConstantInt::get(rest->getType(), value); };
  e.openBlock();
  Value last = nullptr; // of the innermost group: a level of its own
  for (const LoopGroup &group : llvm::reverse(groups)) {
    auto [low, high] = boundsOf(g->graph, group);
    bool isInnermost = &group == &groups.back(), isOutermost = &group == &groups.front();
    int64_t step = isInnermost ? lanes : 1, count = (high - low) / step;
    Value at = isOutermost ? rest : e.b.CreateURem(rest, constant(count));
    if (!isOutermost)
      rest = e.b.CreateUDiv(rest, constant(count));
    at = e.b.CreateZExt(at, e.b.getInt64Ty());
    if (step > 1)
      at = e.b.CreateNSWMul(at, e.i64(step));
    if (low)
      at = e.b.CreateNSWAdd(at, e.i64(low));
    if (isInnermost)
      last = at;
    else
      e.bindLevel(group.back(), setOf(group), at, 1, nullptr);
  }
  e.openBlock();
  if (last)
    e.bindLevel(groups.back().back(), setOf(groups.back()), last, lanes, nullptr);
}

void Nest::emitRoots(Emitter &e, bool ofRows) {
  llvm::SmallVector<std::tuple<const Root *, Value, Value>> values;
  for (const Root &root : roots) {
    if (root.isOfRow != ofRows)
      continue;
    Value re = e.emit(root.value.re);
    values.push_back({&root, re, root.value.im ? e.emit(root.value.im) : nullptr});
  }
  for (auto [root, re, im] : values)
    e.store(function.outputBuffer(root->output), root->kind, root->offset, re, im);
}

void Nest::emitElements() {
  Emitter e = function.emitter(g->graph);
  e.live = Graph::reachable(rootNodes());
  auto groups = collapseLoops(g->graph, dims, e.live, stores());
  int64_t lanes = lanesOf(groups, e.live), items = itemsOf(groups, lanes);
  function.addBlocks(blocksFor(items, function.launch),
                     [&](Value block, llvm::Instruction *before) {
                       e.openBody(before);
                       Value first = e.b.CreateNSWMul(block, e.i64(function.launch.threads));
                       Value item = e.b.CreateNSWAdd(first, function.thread);
                       e.openIf(e.b.CreateICmpSLT(item, e.i64(items)));
                       openItem(e, groups, item, lanes);
                       emitRoots(e, /*ofRows=*/false);
                       e.closeBlock();
                       e.closeBlock();
                       e.closeLoop();
                     });
}

// What depends on the row alone. All of it is read before the first element is written, which may
// lie in an operand's place.
void Nest::emitRowValues(Emitter &e) {
  DimSet ofRow = setOf(outer());
  for (Node *node : e.live) {
    if (node->op != Op::Reduced || node->local || (node->deps & ~ofRow))
      continue;
    unsigned level = e.levelOf(node->deps);
    if (!e.levels[level].reductions.contains(node->reduction) &&
        isBlockSum(function, e, *node->reduction)) {
      llvm::SmallVector<Value> values = emitBlockSum(function, e, *node->reduction);
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
  emitRoots(e, /*ofRows=*/true);
  e.closeLoop();
}

void Nest::emitRows() {
  Emitter e = function.emitter(g->graph);
  e.live = Graph::reachable(rootNodes());
  auto ofGrid = collapseLoops(g->graph, outer(), e.live, stores());
  auto groups = collapseLoops(g->graph, inner(), e.live, stores());
  int64_t lanes = lanesOf(groups, e.live), items = itemsOf(groups, lanes);
  function.addBlocks(itemsOf(ofGrid, 1), [&](Value block, llvm::Instruction *before) {
    e.openBody(before);
    openItem(e, ofGrid, block, 1);
    emitRowValues(e);
    Value item = e.openLoop(function.thread, e.i64(items), function.launch.threads,
                            /*mayBeEmpty=*/true);
    openItem(e, groups, item, lanes);
    emitRoots(e, /*ofRows=*/false);
    e.closeBlock();
    e.closeBlock();
    e.closeLoop();
    e.closeBlock();
    e.closeBlock();
  });
}

bool emitNests(EntryFunction &function) {
  auto outputs = llvm::to_vector(llvm::seq<unsigned>(function.kernel.outputs().size()));
  return codegen::emitNests(function, outputs, [&](llvm::ArrayRef<unsigned> nest, bool update) {
    return Nest(function, nest, update).emit();
  });
}

} // namespace tessera::codegen::gpu
