#include "passes/codegen/gpu/Items.h"

#include "passes/codegen/gpu/Division.h"

#include "llvm/ADT/STLExtras.h"

namespace tessera::codegen::gpu {

std::vector<int64_t> itemsOfEach(const Graph &graph, llvm::ArrayRef<LoopGroup> groups,
                                 int64_t lanes) {
  std::vector<int64_t> items;
  for (const LoopGroup &group : groups) {
    auto [low, high] = boundsOf(graph, group);
    items.push_back((high - low) / (&group == &groups.back() ? lanes : 1));
  }
  return items;
}

int64_t itemsOf(const Graph &graph, llvm::ArrayRef<LoopGroup> groups, int64_t lanes) {
  int64_t items = 1;
  for (int64_t each : itemsOfEach(graph, groups, lanes))
    items *= each;
  return items;
}

void openItem(Emitter &e, llvm::ArrayRef<LoopGroup> groups, Value number, int64_t lanes) {
  openItem(e, groups, lineByLine(itemsOfEach(e.graph, groups, lanes)), number, lanes);
}

int64_t itemsOf(const BlockOrder &order) {
  int64_t items = 1;
  for (const Digit &digit : order)
    items *= digit.size;
  return items;
}

llvm::SmallVector<Value> placesOf(llvm::IRBuilder<> &b, const BlockOrder &order, Value number,
                                  size_t loops, int64_t lanes) {
  // Half the digits divide much faster.
  bool isSmall = itemsOf(order) < INT32_MAX && order.size() > 1;
  Value rest = isSmall ? b.CreateTrunc(number, b.getInt32Ty()) : number;
  auto constant = [&](int64_t value) { return llvm::ConstantInt::get(rest->getType(), value); };
  llvm::SmallVector<Value> places(loops);
  for (const Digit &digit : llvm::reverse(order)) {
    bool isOutermost = &digit == &order.front();
    Value at = isOutermost ? rest : b.CreateURem(rest, constant(digit.size));
    if (!isOutermost)
      rest = b.CreateUDiv(rest, constant(digit.size));
    int64_t step = digit.step * (digit.loop + 1 == loops ? lanes : 1);
    at = b.CreateZExt(at, b.getInt64Ty());
    if (step > 1)
      at = b.CreateNSWMul(at, b.getInt64(step));
    Value &place = places[digit.loop];
    place = place ? b.CreateNSWAdd(place, at) : at;
  }
  return places;
}

void openPlaces(Emitter &e, llvm::ArrayRef<LoopGroup> groups, llvm::ArrayRef<Value> places,
                int64_t lanes) {
  e.openBlock();
  for (auto [group, place] : llvm::zip_equal(groups, places))
    if (&group != &groups.back())
      e.bindLevel(group.back(), setOf(group), place, 1, nullptr);
  e.openBlock();
  if (!groups.empty()) // a level of its own
    e.bindLevel(groups.back().back(), setOf(groups.back()), places.back(), lanes, nullptr);
}

void openItem(Emitter &e, llvm::ArrayRef<LoopGroup> groups, const BlockOrder &order, Value number,
              int64_t lanes) {
  llvm::SmallVector<Value> places = placesOf(e.b, order, number, groups.size(), lanes);
  for (auto [group, place] : llvm::zip_equal(groups, places))
    if (int64_t low = boundsOf(e.graph, group).first)
      place = e.b.CreateNSWAdd(place, e.i64(low));
  openPlaces(e, groups, places, lanes);
}

std::vector<BlockAccess> accessesOf(const NestGraph &nest, llvm::ArrayRef<Node *> live,
                                    llvm::ArrayRef<LoopGroup> groups, int64_t lanes) {
  const Graph &graph = nest.g->graph;
  std::vector<BlockAccess> accesses;
  DimSet ofGroups = 0;
  for (const LoopGroup &group : groups)
    ofGroups |= setOf(group);
  auto add = [&](int array, Index index, int64_t size) {
    BlockAccess access{
        .array = array, .offset = index->constant * size, .bytes = size, .strides = {}};
    for (const LoopGroup &group : groups) {
      std::optional<int64_t> stride = strideOf(index, group);
      if (!stride)
        return; // where it is data says
      bool isInnermost = &group == &groups.back();
      access.strides.push_back(*stride * size * (isInnermost ? lanes : 1));
      if (isInnermost)
        access.bytes += std::abs(*stride) * size * (lanes - 1);
    }
    for (auto [dim, factor] : index->dims)
      if (!(DimSet(1) << dim & ofGroups))
        access.terms.push_back({graph.dims[dim].high - graph.dims[dim].low, factor * size});
    accesses.push_back(std::move(access));
  };
  for (Node *node : live)
    if (node->op == Op::Load && graph.buffers[node->buffer()].source != BufferInfo::Scratch)
      add(node->buffer(), node->index, byteSize(node->kind));
  for (const Root &root : nest.roots)
    add(static_cast<int>(graph.buffers.size() + root.output), root.offset, byteSize(root.kind));
  return accesses;
}

void closeItem(Emitter &e) {
  e.closeBlock();
  e.closeBlock();
}

std::optional<int64_t> widestRun(llvm::ArrayRef<Node *> nodes, llvm::ArrayRef<unsigned> innermost) {
  int64_t widest = 1;
  for (Node *node : nodes) {
    if (node->mask)
      return std::nullopt;
    if (node->op != Op::Load)
      continue;
    std::optional<int64_t> stride = strideOf(node->index, innermost);
    if (!stride || (*stride != 0 && *stride != 1))
      return std::nullopt;
    widest = std::max(widest, byteSize(node->kind));
  }
  return widest;
}

std::vector<Node *> nodesAround(llvm::ArrayRef<Node *> roots) {
  std::vector<Node *> around;
  llvm::DenseSet<Node *> seen;
  auto add = [&](Node *node) {
    if (node->op != Op::Reduced && seen.insert(node).second)
      around.push_back(node);
  };
  llvm::for_each(roots, add);
  for (size_t next = 0; next < around.size(); ++next)
    llvm::for_each(around[next]->operands, add);
  return around;
}

int64_t lanesOfResults(const Graph &graph, llvm::ArrayRef<Root> roots, const LoopGroup &innermost,
                       ElementKind ofSums) {
  int64_t widest = byteSize(ofSums);
  llvm::SmallVector<Node *> values;
  for (const Root &root : roots) {
    widest = std::max(widest, byteSize(root.kind));
    values.push_back(root.value.re);
  }
  std::optional<int64_t> read = widestRun(nodesAround(values), innermost);
  if (!read)
    return 1;
  return elementsOfThread(boundsOf(graph, innermost).second, std::max(widest, *read));
}

} // namespace tessera::codegen::gpu
