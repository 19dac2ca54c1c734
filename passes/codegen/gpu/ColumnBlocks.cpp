// Sums that go down the columns of an array, of few columns for a GPU: a block has some columns side by side, each
// of which its threads add up together, in parts (PartedSum.h). One row of threads then computes the results and
// stores them.
#include "passes/codegen/gpu/Items.h"
#include "passes/codegen/gpu/NestRoots.h"
#include "passes/codegen/gpu/PartedSum.h"
#include "passes/codegen/gpu/TurnedTile.h"

#include "llvm/ADT/STLExtras.h"

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
  void emitSums();
  int64_t teams() const { return function.launch.threads / columns; }

  EntryFunction &function;
  const NestGraph &nest;
  Emitter e;
  llvm::SmallVector<LoopGroup> groups;
  llvm::SmallVector<std::pair<Node *, SumParts>> sums; // one node of each reduction
  int64_t items = 0, columns = 0, bytes = 0;
  Value space = nullptr, column = nullptr, team = nullptr, exists = nullptr;
};

} // namespace

bool ColumnBlocks::isColumnSum(const Reduction &reduction) const {
  return !reduction.simple.empty() && reduction.order == Reduction::Columns &&
         reduction.best == Reduction::NoBest && !reduction.isOfParts && !reduction.isOfIntegers &&
         !(reduction.deps & ~setOf(nest.dims));
}

// As many as leave no processor idle, but whole sectors of what is read; of lines that begin within sectors as many
// as share few of them.
int64_t ColumnBlocks::columnsOfBlock() const {
  constexpr int64_t kProcessors = 132;
  int64_t narrowest = 8;
  for (Node *node : e.live)
    if (node->op == Op::Load)
      narrowest = std::min(narrowest, byteSize(node->kind));
  int64_t least = std::max(kLeastColumns, kSectorBytes / narrowest), found = kMostColumns;
  auto [low, high] = boundsOf(nest.g->graph, groups.back());
  if ((high - low) * narrowest % kSectorBytes)
    return found;
  while (found > least && items / found < 2 * kProcessors)
    found /= 2;
  return found;
}

bool ColumnBlocks::plan() {
  constexpr int64_t leastRows = 64;
  items = itemsOf(nest.g->graph, groups, 1);
  if (items > kManyItems)
    return false;
  columns = std::min<int64_t>(columnsOfBlock(), llvm::PowerOf2Ceil(items));
  for (Node *node : e.live) {
    if (node->op != Op::Reduced || node->local)
      continue;
    const Reduction &reduction = *node->reduction;
    if (llvm::any_of(sums, [&](auto &sum) { return sum.first->reduction == &reduction; }))
      continue;
    if (!isColumnSum(reduction) || pointsOf(e.graph, reduction.dims) < leastRows)
      return false;
    int64_t each = columns * PartedSum::bytesOfColumn(e, reduction, 0);
    int64_t most = std::min(kMostPartBytes, function.sharedLeft()) / each - 1;
    std::optional<SumParts> parts = partsOfColumns(e.graph, reduction, teams(), most);
    if (!parts)
      return false;
    bytes = std::max(bytes, columns * PartedSum::bytesOfColumn(e, reduction, parts->count()));
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
    sum.column = column, sum.team = team;
    sum.columns = columns, sum.teams = teams();
    llvm::SmallVector<Value> values = sum.emit(exists);
    e.levels[e.levelOf(node->deps)].reductions[node->reduction] = std::move(values);
  }
  if (function.kernel.sharesBuffers())
    barrier(e.b);
}

bool ColumnBlocks::emit() {
  e.live = Graph::reachable(nest.rootNodes());
  groups = collapseLoops(e.graph, nest.dims, e.live, nest.stores());
  if (groups.empty() || !plan())
    return false;
  llvm::IRBuilder<> &b = e.b;
  space = function.takeShared(llvm::ArrayType::get(b.getInt8Ty(), bytes), "_parts");
  int64_t blocks = llvm::divideCeil(items, columns);
  function.addBlocks(blocks, [&](Value block, llvm::Instruction *before) {
    e.openBody(before);
    column = b.CreateAnd(function.thread, e.i64(columns - 1));
    team = b.CreateLShr(function.thread, llvm::Log2_64(columns));
    Value item = b.CreateNSWAdd(b.CreateNSWMul(block, e.i64(columns)), column);
    exists = b.CreateICmpSLT(item, e.i64(items));
    // Columns past the last are the last again, and not stored.
    item = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, item, e.i64(items - 1));
    openItem(e, groups, item, 1);
    emitSums();
    e.openIf(b.CreateAnd(exists, b.CreateICmpEQ(team, e.i64(0))));
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
