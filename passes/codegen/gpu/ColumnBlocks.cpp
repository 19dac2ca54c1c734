// Sums that go down the columns of an array, of few columns for a GPU: a block has some columns side by side, each
// of which its threads add up together, in parts (PartedSum.h). One row of threads then computes the results and
// stores them.
//
// So do sums down columns of a few elements each, as a group norm's are, which lie side by side but begin and end
// within sectors: a thread has a lane of one of them.
//
//   sum over n, k of x[n, g, k], k of 3 f32       threads 0..3: g = 0, k = 0..2 and none; 4..7: g = 1; ..
#include "passes/codegen/gpu/BlockSum.h"
#include "passes/codegen/gpu/Items.h"
#include "passes/codegen/gpu/NestRoots.h"
#include "passes/codegen/gpu/PartedSum.h"
#include "passes/codegen/gpu/Processors.h"
#include "passes/codegen/gpu/TurnedTile.h"

#include "llvm/ADT/STLExtras.h"

#include <numeric>

namespace tessera::codegen::gpu {

namespace {

constexpr int64_t kMostColumns = 32, kLeastColumns = 8; // of a block
// Items that threads of their own keep all of a GPU busy with.
constexpr int64_t kManyItems = 132 * 1024;
constexpr int64_t kMostPartBytes = 16 << 10; // of shared memory

// A nest by such blocks.
class ColumnBlocks {
public:
  ColumnBlocks(EntryFunction &function, const NestGraph &nest)
      : function(function), nest(nest), e(function.emitter(nest.g->graph)) {}
  bool emit();

private:
  bool plan();
  int64_t columnsOfBlock() const;
  bool isColumnSum(const Reduction &reduction) const;
  std::optional<int64_t> elementsOf(const Reduction &reduction) const;
  bool planWidth();
  void orderAsRead();
  void emitSums();
  int64_t width() const { return columns * lanes; } // threads side by side
  int64_t teams() const { return function.launch.threads / width(); }

  EntryFunction &function;
  const NestGraph &nest;
  Emitter e;
  llvm::SmallVector<LoopGroup> groups;
  llvm::SmallVector<std::pair<Node *, SumParts>> sums; // one node of each reduction
  int64_t items = 0, columns = 0, bytes = 0;
  int64_t elements = 1, lanes = 1; // of a column
  Value space = nullptr, place = nullptr, team = nullptr, exists = nullptr;
};

} // namespace

bool ColumnBlocks::isColumnSum(const Reduction &reduction) const {
  return !reduction.simple.empty() && reduction.order == Reduction::Columns &&
         reduction.best == Reduction::NoBest && !reduction.isOfParts && !reduction.isOfIntegers &&
         !(reduction.deps & ~setOf(nest.dims));
}

// Elements of a column that lie side by side, and beside those of the next column; none where that is not what is
// read.
std::optional<int64_t> ColumnBlocks::elementsOf(const Reduction &reduction) const {
  if (isColumnSum(reduction))
    return 1;
  if (!isBlockSum(e, reduction) || reduction.loops.size() < 2 ||
      (reduction.deps & ~setOf(nest.dims)))
    return std::nullopt;
  const auto &innermost = reduction.loops.back();
  int64_t count = pointsOf(e.graph, innermost);
  for (Node *node : Graph::reachable(reduction.inputs)) {
    if (node->op != Op::Load || !(node->deps & setOf(innermost)))
      continue;
    int64_t bytes = count * byteSize(node->kind);
    if (strideOf(node->index, innermost) != 1 || strideOf(node->index, groups.back()) != count ||
        bytes > 4 * kSectorBytes || bytes % kSectorBytes == 0)
      return std::nullopt;
  }
  return count;
}

// As many as leave no processor idle, but whole sectors of what is read; of lines that begin within sectors as many
// as share few of them.
int64_t ColumnBlocks::columnsOfBlock() const {
  int64_t narrowest = 8;
  for (Node *node : e.live)
    if (node->op == Op::Load)
      narrowest = std::min(narrowest, byteSize(node->kind));
  int64_t least = std::max(kLeastColumns, kSectorBytes / narrowest), found = kMostColumns;
  if (lanes > 1) {
    least = kSectorBytes / std::gcd(kSectorBytes, elements * narrowest);
    found = std::max(least, kMostColumns / lanes);
  }
  auto [low, high] = boundsOf(nest.g->graph, groups.back());
  if ((high - low) * elements * narrowest % kSectorBytes)
    return found;
  while (found > least && items / found < 2 * kProcessors)
    found /= 2;
  return found;
}

// One for all sums.
bool ColumnBlocks::planWidth() {
  std::optional<int64_t> all;
  for (Node *node : e.live) {
    if (node->op != Op::Reduced || node->local)
      continue;
    std::optional<int64_t> one = elementsOf(*node->reduction);
    if (!one || (all && all != one))
      return false;
    all = one;
    if (!isColumnSum(*node->reduction))
      lanes = Units(e.graph, *node->reduction).unit;
  }
  items = itemsOf(nest.g->graph, groups, 1);
  if (!all || items * *all > kManyItems)
    return false;
  elements = *all;
  columns = std::min<int64_t>(columnsOfBlock(), llvm::PowerOf2Ceil(items));
  return width() <= function.launch.threads / 2;
}

bool ColumnBlocks::plan() {
  constexpr int64_t leastRows = 64;
  if (!planWidth())
    return false;
  for (Node *node : e.live) {
    if (node->op != Op::Reduced || node->local)
      continue;
    const Reduction &reduction = *node->reduction;
    if (llvm::any_of(sums, [&](auto &sum) { return sum.first->reduction == &reduction; }))
      continue;
    if (pointsOf(e.graph, reduction.dims) < leastRows)
      return false;
    int64_t each = width() * PartedSum::bytesOfColumn(e, reduction, 0);
    int64_t most = std::min(kMostPartBytes, function.sharedLeft()) / each - 1;
    std::optional<SumParts> parts = isColumnSum(reduction)
                                        ? partsOfColumns(e.graph, reduction, teams(), most)
                                        : partsOfRows(e.graph, reduction, teams(), most);
    if (!parts || parts->counts.empty())
      return false;
    bytes = std::max(bytes, width() * PartedSum::bytesOfColumn(e, reduction, parts->count()));
    sums.push_back({node, *parts});
  }
  return !sums.empty();
}

void ColumnBlocks::emitSums() {
  bool isFirst = true;
  for (auto &[node, parts] : sums) {
    if (!std::exchange(isFirst, false))
      barrier(e.b); // all have read the parts before
    PartedSum sum(e, *node->reduction, parts, space);
    sum.column = place, sum.team = team;
    sum.columns = width(), sum.teams = teams();
    llvm::SmallVector<Value> values = sum.emit(exists);
    e.levels[e.levelOf(node->deps)].reductions[node->reduction] = std::move(values);
  }
  if (function.kernel.sharesBuffers())
    barrier(e.b);
}

// Columns side by side are those that are read side by side, where they lie across the results: there is more to read.
void ColumnBlocks::orderAsRead() {
  llvm::SmallVector<Node *> loads;
  for (Node *node : e.live)
    if (node->op == Op::Reduced && !node->local)
      for (Node *of : Graph::reachable(node->reduction->inputs))
        if (of->op == Op::Load)
          loads.push_back(of);
  auto areAlong = [&](const LoopGroup &group) {
    return llvm::any_of(loads, [&](Node *load) { return strideOf(load->index, group) == 1; });
  };
  auto along = llvm::find_if(groups, areAlong);
  if (along != groups.end() && !areAlong(groups.back()))
    std::rotate(along, along + 1, groups.end());
}

bool ColumnBlocks::emit() {
  e.live = Graph::reachable(nest.rootNodes());
  groups = collapseLoops(e.graph, nest.dims, e.live, nest.stores());
  orderAsRead();
  if (groups.empty() || !plan())
    return false;
  llvm::IRBuilder<> &b = e.b;
  space = function.takeShared(llvm::ArrayType::get(b.getInt8Ty(), bytes), "_parts");
  int64_t blocks = llvm::divideCeil(items, columns);
  function.addBlocks(blocks, [&](Value block, llvm::Instruction *before) {
    e.openBody(before);
    place = b.CreateAnd(function.thread, e.i64(width() - 1));
    team = b.CreateLShr(function.thread, llvm::Log2_64(width()));
    Value column = lanes > 1 ? b.CreateLShr(place, llvm::Log2_64(lanes)) : place;
    Value item = b.CreateNSWAdd(b.CreateNSWMul(block, e.i64(columns)), column);
    exists = b.CreateICmpSLT(item, e.i64(items));
    // Columns past the last are the last again, and not stored.
    item = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, item, e.i64(items - 1));
    openItem(e, groups, item, 1);
    emitSums();
    Value isFirst = b.CreateICmpEQ(team, e.i64(0));
    if (lanes > 1) {
      Value isFirstLane = b.CreateICmpEQ(b.CreateAnd(place, e.i64(lanes - 1)), e.i64(0));
      isFirst = b.CreateAnd(isFirst, isFirstLane);
    }
    e.openIf(b.CreateAnd(exists, isFirst));
    emitRoots(function, nest, e, /*ofRows=*/false);
    e.closeLoop();
    closeItem(e);
  });
  return true;
}

bool emitColumnBlocks(EntryFunction &function, const NestGraph &nest) {
  return ColumnBlocks(function, nest).emit();
}

} // namespace tessera::codegen::gpu
