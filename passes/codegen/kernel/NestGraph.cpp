#include "passes/codegen/kernel/NestGraph.h"

#include "dialects/stablehlo/TensorTypes.h"
#include "passes/codegen/kernel/ContractionLoops.h"
#include "passes/codegen/kernel/TurnedLoads.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>

namespace tessera::codegen {

// The index of the same element in an array whose sizes differ by ones alone.
static llvm::SmallVector<Index, 6> withOnes(Graph &graph, llvm::ArrayRef<Index> index,
                                            llvm::ArrayRef<int64_t> from,
                                            llvm::ArrayRef<int64_t> to) {
  llvm::SmallVector<Index, 6> result;
  size_t next = 0;
  for (int64_t size : to) {
    while (size != 1 && from[next] == 1)
      ++next;
    result.push_back(size == 1 ? graph.constant(0) : index[next++]);
  }
  return result;
}

NestGraph::NestGraph(const KernelSource &kernel, llvm::ArrayRef<unsigned> outputs, bool update,
                     Phase phase)
    : kernel(kernel), outputs(outputs), update(update), phase(std::move(phase)) {
  if (update)
    return;
  sums = columnSumsOf(kernel);
  if (sums &&
      llvm::none_of(outputs, [&](unsigned o) { return isPartOf(*sums, kernel.outputs()[o]); }))
    sums.reset();
  rows = keptRows(kernel);
  if (rows && shape() != llvm::ArrayRef(rows->shape) &&
      !hasOneForEachRow(*rows, kernel.outputs()[outputs[0]]))
    rows.reset();
}

llvm::ArrayRef<int64_t> NestGraph::shape() const {
  mlir::Value value = kernel.outputs()[outputs[0]];
  if (sums)
    return sums->shape;
  return shapeOf(update ? value.getDefiningOp()->getOperand(1) : value);
}

constexpr int64_t enoughCells = 64;

// A core that has several rows together asks for one while it computes another; of the last of
// them, the next is another core's.
static int64_t rowsTogether(int64_t count) {
  constexpr int64_t enough = 8, manyCells = 256, most = 32;
  return std::max(std::clamp<int64_t>(count / enoughCells, 1, enough),
                  std::min(count / manyCells, most));
}

// Of the two loops that run by blocks one is divided, and a cell goes along the other: along lines of
// memory, unless that leaves few cells. Neither is, where the loops around them make enough.
static llvm::SmallVector<GridLoop> blockLoops(const Graph &graph, llvm::ArrayRef<unsigned> dims,
                                              llvm::ArrayRef<LoopGroup> groups,
                                              const TurnedLoads &turned) {
  constexpr int64_t fewCells = 16;
  int64_t leastPoints = 2 * turned.vectorSide();
  llvm::ArrayRef<unsigned> divided = groups.back(), whole = groups[turned.along];
  int64_t points = pointsOf(graph, divided);
  if (points < fewCells * leastPoints && points < pointsOf(graph, whole))
    std::swap(divided, whole);
  llvm::SmallVector<unsigned> others;
  llvm::copy_if(dims, std::back_inserter(others), [&](unsigned dim) {
    return !llvm::is_contained(divided, dim) && !llvm::is_contained(whole, dim);
  });
  llvm::SmallVector<GridLoop> loops;
  for (unsigned dim : others)
    loops.push_back({dim, graph.dims[dim].size, 1});
  if (int64_t count = pointsOf(graph, others); count >= enoughCells) {
    loops.back().step = rowsTogether(count);
    return loops;
  }
  int64_t inside = pointsOf(graph, divided.drop_front());
  loops.push_back(
      {divided.front(), graph.dims[divided.front()].size, wholeVectors(inside, leastPoints)});
  return loops;
}

llvm::SmallVector<GridLoop> NestGraph::gridLoops() const {
  llvm::SmallVector<GridLoop> loops;
  auto sizeOf = [&](unsigned dim) { return g->graph.dims[dim].size; };
  if (sums) {
    // Whole parts; what they have of all goes with them.
    for (unsigned dim = 0; dim < sums->outer; ++dim)
      if (sums->window[dim] == 1 || sums->divided() == dim)
        loops.push_back({dims[dim], sizeOf(dims[dim]), sums->window[dim]});
    return loops;
  }
  auto together = [&](llvm::ArrayRef<unsigned> outer) {
    return rowsTogether(pointsOf(g->graph, outer));
  };
  if (takesRows()) {
    auto outer = llvm::ArrayRef(dims).take_front(outerDims);
    for (unsigned dim : outer)
      loops.push_back({dim, sizeOf(dim), dim == outer.back() ? together(outer) : 1});
    return loops;
  }
  std::vector<Node *> live = Graph::reachable(rootNodes());
  auto groups = collapseLoops(g->graph, dims, live, stores());
  if (auto turned = turnedLoads(g->graph, groups, live, /*isCut=*/true))
    return blockLoops(g->graph, dims, groups, *turned);
  // Where reductions run by vectors, an element is as much work as a row.
  bool isByVectors = !groups.empty() && keepsVectors(live, groups.back().back());
  isByVectors |= !groups.empty() && !sumsBefore(groups.back(), live).empty();
  std::optional<RowsPast> past;
  if (!groups.empty())
    past = rowsPastColumns(groups.back(), live);
  int64_t least = 1;
  if (past && past->isFar)
    least = columnsPast(pointsOf(g->graph, groups.back()));
  for (auto [i, dim] : llvm::enumerate(dims)) {
    int64_t inside = pointsOf(g->graph, llvm::ArrayRef(dims).drop_front(i + 1));
    int64_t step = isByVectors ? wholeVectors(inside, least) : inside == 1 ? together(dims) : 1;
    loops.push_back({dim, sizeOf(dim), step});
  }
  return loops;
}

std::optional<RowsPast> NestGraph::rowsPastColumns(const LoopGroup &columns,
                                                   llvm::ArrayRef<Node *> live) const {
  if (takesRows() || takesParts() || !keepsVectors(live, columns.back()))
    return std::nullopt;
  return rowsPast(g->graph, columns, live);
}

llvm::SmallVector<Node *> NestGraph::sumsBefore(const LoopGroup &results,
                                                llvm::ArrayRef<Node *> live) const {
  if (takesRows() || takesParts() || keepsVectors(live, results.back()))
    return {};
  return sumsFirst(g->graph, results, rootNodes());
}

llvm::SmallVector<Index> NestGraph::stores() const {
  llvm::SmallVector<Index> offsets;
  for (const Root &root : roots)
    offsets.push_back(root.offset);
  return offsets;
}

llvm::SmallVector<Node *> NestGraph::rootNodes() const {
  llvm::SmallVector<Node *> nodes;
  for (const Root &root : roots) {
    nodes.push_back(root.value.re);
    if (root.value.im)
      nodes.push_back(root.value.im);
    for (auto [node, factor] : root.offset->nodes)
      nodes.push_back(node);
  }
  return nodes;
}

bool NestGraph::construct(const Box *box) {
  for (;;) {
    if (!constructOnce(box))
      return false;
    auto unfilled = g->builder.unfilledRows();
    if (unfilled.empty())
      return true;
    for (mlir::Value value : unfilled)
      rows->slots.erase(value);
  }
}

void NestGraph::bindRows(llvm::ArrayRef<Index> index) {
  bool isWhole = shape() == llvm::ArrayRef(rows->shape);
  auto outer = llvm::ArrayRef(rows->shape).take_front(rows->outer);
  rowIndex = isWhole ? llvm::SmallVector<Index, 6>(index.take_front(rows->outer))
                     : withOnes(g->graph, index, shape(), outer);
  g->builder.bindRows(*rows, rowIndex, scratchOffset);
}

Root NestGraph::rowRoot(unsigned output, ElementType type) {
  Graph &graph = g->graph;
  mlir::Value value = kernel.outputs()[output];
  auto outer = llvm::ArrayRef(rows->shape).take_front(rows->outer), shape = shapeOf(value);
  Index offset = graph.linearise(rowIndex, outer);
  Element element = g->builder.at(value, withOnes(graph, rowIndex, outer, shape));
  return {output, element, type.kind, type.complex ? graph.multiply(offset, 2) : offset, true};
}

Root NestGraph::partRoot(unsigned output, ElementType type, llvm::ArrayRef<Index> index) {
  Element element = g->builder.at(partsOp(kernel.outputs()[output])->getOperand(0), index);
  Index column = g->graph.linearise(index.drop_front(sums->outer),
                                    llvm::ArrayRef(sums->shape).drop_front(sums->outer));
  return {output, element, type.kind, column, false, /*isPart=*/true};
}

bool NestGraph::constructOnce(const Box *box) {
  g = std::make_shared<KernelGraph>(kernel, splits);
  return fill(box, 0);
}

bool NestGraph::buildIn(std::shared_ptr<KernelGraph> graph, unsigned firstLoop) {
  g = std::move(graph);
  return fill(nullptr, firstLoop);
}

bool NestGraph::fill(const Box *box, unsigned firstLoop) {
  Graph &graph = g->graph;
  roots.clear();
  dims.clear();
  llvm::SmallVector<Index, 6> index;
  outerDims = 0;
  if (!phase.empty())
    g->builder.leaveOutZeros();
  size_t loops = shape().size() - (writtenOut > 1);
  for (auto [i, size] : llvm::enumerate(shape().take_front(loops))) {
    Every every = phase.empty() ? Every() : phase[i];
    int64_t points =
        std::min<int64_t>(llvm::divideCeil(size - every.first, every.step), every.count);
    Index point = g->builder.loop(nullptr, firstLoop + i, points, &dims);
    index.push_back(graph.addConstant(graph.multiply(point, every.step), every.first));
    if (rows && i < rows->outer)
      outerDims = dims.size();
  }
  if (box)
    for (auto [dim, range] : llvm::zip(dims, *box))
      std::tie(graph.dims[dim].low, graph.dims[dim].high) = range;
  if (rows)
    bindRows(index);
  for (unsigned output : outputs)
    for (int64_t column = 0; column < writtenOut; ++column) {
      llvm::SmallVector<Index, 6> point(index);
      if (writtenOut > 1)
        point.push_back(graph.constant(column));
      if (!addRoot(output, point))
        return false;
    }
  if (graph.dims.size() > 128) {
    mlir::emitError(kernel.body->getTerminator()->getLoc(),
                    "a kernel with more than 128 loops; fuse fewer operations");
    return false;
  }
  return true;
}

bool NestGraph::addRoot(unsigned output, llvm::ArrayRef<Index> index) {
  Graph &graph = g->graph;
  mlir::Value value = kernel.outputs()[output];
  std::optional<ElementType> type = elementType(value.getType());
  if (!type) {
    mlir::emitError(value.getLoc(), "no kernel code for element type ") << value.getType();
    return false;
  }
  if (rows && outerDims < dims.size() && shapeOf(value) != shape() &&
      hasOneForEachRow(*rows, value)) {
    roots.push_back(rowRoot(output, *type));
    return bool(roots.back().value);
  }
  if (sums && isPartOf(*sums, value)) {
    roots.push_back(partRoot(output, *type, index));
    return bool(roots.back().value);
  }
  // Outputs of as many elements but other shapes go along in the same order.
  llvm::SmallVector<Index, 6> from(index);
  if (!update && shapeOf(value) != shape())
    from = graph.delinearise(graph.linearise(index, shape()), shapeOf(value));
  llvm::SmallVector<Index, 6> to(from);
  mlir::Value computed = value;
  if (update) {
    mlir::Operation *op = value.getDefiningOp();
    computed = op->getOperand(1);
    for (auto [d, size] : llvm::enumerate(shape())) {
      Index start =
          g->builder.clampedStart(op->getOperand(d + 2), {}, nullptr, shapeOf(value)[d] - size);
      if (!start)
        return false;
      to[d] = graph.add(start, index[d]);
    }
  }
  Element element = g->builder.at(computed, from);
  if (!element)
    return false;
  Index offset = update ? graph.linearise(to, shapeOf(value)) : graph.linearise(index, shape());
  if (type->complex)
    offset = graph.multiply(offset, 2);
  ElementKind kind = type->kind;
  // Moving keeps every bit, those of NaN and of subnormal numbers too.
  if (Node *bits = graph.movedBits(element.re))
    element.re = bits, kind = bits->kind;
  roots.push_back({output, element, kind, offset});
  return true;
}

bool addSplits(const KernelGraph &built, SplitTable &splits) {
  bool changed = false;
  for (auto [dim, inner] : built.graph.wantedSplits) {
    GraphBuilder::Origin origin = built.builder.origins()[dim];
    int64_t size = inner * origin.inner; // within the whole loop
    auto &list = splits[{origin.key, origin.loop}];
    if (llvm::is_contained(list, size))
      continue;
    auto at = llvm::find_if(list, [&](int64_t other) { return other < size; });
    bool fits = (at == list.begin() || at[-1] % size == 0) && (at == list.end() || size % *at == 0);
    if (!fits || list.size() >= 4)
      continue;
    list.insert(at, size);
    changed = true;
  }
  return changed;
}

bool NestGraph::build() {
  for (unsigned attempt = 0;; ++attempt) {
    if (!construct(nullptr))
      return false;
    if (sums || attempt == 4 || !addSplits(*g, splits))
      return true;
  }
}

bool NestGraph::rebuild(const Box &box) { return construct(&box); }

// As roots of their own the columns of several rows lie side by side in vectors; as pieces, each of them is
// written a few elements apart. Of a wide piece the elements of a row are written at once anyhow.
bool NestGraph::writeOutColumns() {
  constexpr int64_t mostColumns = 8, mostOfPiece = 5, leastRows = 16;
  constexpr size_t mostNodes = 320;
  if (rows || sums || update || !phase.empty() || shape().size() < 2 || dims.empty())
    return true;
  int64_t columns = shape().back(), points = pointsOf(g->graph, dims);
  if (g->graph.dims[dims.back()].size != columns || columns > mostColumns ||
      points < leastRows * columns)
    return true;
  llvm::SmallVector<int64_t> cuts{0, columns};
  for (auto [dim, at] : g->graph.wantedCuts)
    if (dim == dims.back())
      cuts.push_back(at);
  if (cuts.size() == 2)
    return true; // none
  llvm::sort(cuts);
  for (size_t i = 0; i + 1 < cuts.size(); ++i)
    if (cuts[i + 1] - cuts[i] > mostOfPiece)
      return true;
  std::vector<Node *> live = Graph::reachable(rootNodes());
  bool isPlain = llvm::none_of(roots, [](const Root &root) { return root.value.im != nullptr; }) &&
                 llvm::none_of(live, [](Node *node) { return node->op == Op::Reduced; });
  if (!isPlain || live.size() * columns > mostNodes)
    return true;
  writtenOut = columns;
  return build();
}

bool NestGraph::keepsVectors(llvm::ArrayRef<Node *> live, unsigned lastDim) const {
  // What stays is one row's, not several side by side.
  bool isOuter = llvm::is_contained(llvm::ArrayRef(dims).take_front(outerDims), lastDim);
  if (rows && !rows->slots.empty() && isOuter)
    return false;
  int64_t along = 0, against = 0;
  bool anyReduction = false;
  for (Node *node : live) {
    if (node->op != Op::Reduced || !(node->deps >> lastDim & 1))
      continue;
    Reduction &r = *node->reduction;
    anyReduction = true;
    for (Node *load : Graph::reachable(r.inputs)) {
      if (load->op != Op::Load || !(load->deps & r.ownDims))
        continue;
      // What moves the whole array, as a slice's start does, is in nobody's way.
      int64_t kept = strideOf(load->index, lastDim).value_or(0);
      bool keptIsFree = !(load->deps >> lastDim & 1);
      bool reducedIsGood = llvm::any_of(r.dims, [&](unsigned dim) {
        return load->index->coefficient(dim) == 1 && g->graph.dims[dim].size >= 8;
      });
      // A few apart they are a wide load and a shuffle, which beats one by one; and so are rows that
      // fill no vector.
      bool areLong = r.order == Reduction::Rows && pointsOf(g->graph, r.dims) > 4;
      int64_t mostApart = areLong || reducedIsGood ? 1 : 4;
      // The best of a short row is found in fewer steps beside those of other rows.
      if (r.best != Reduction::NoBest && pointsOf(g->graph, r.dims) <= 8) {
        mostApart = 8;
        reducedIsGood = false;
      }
      bool keptIsGood = keptIsFree || (kept >= 1 && kept <= mostApart);
      along += keptIsGood && !keptIsFree;
      against += !keptIsGood;
      against += reducedIsGood && kept != 1 && r.order == Reduction::Rows && !keptIsFree;
    }
  }
  return !anyReduction || against == 0 || along > against;
}

} // namespace tessera::codegen
