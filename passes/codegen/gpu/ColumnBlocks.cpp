// Sums that go down the columns of an array, of few columns for a GPU: a block has some columns side by side, each
// of which its threads add up together.
//
//   threads 0..31      part 0   part 8  ..     sums of 64 rows each, of 32 columns, to shared memory
//   threads 32..63     part 1   part 9  ..
//   ..
//   barrier; threads 0..31 add up the parts of their column; barrier; they compute the results and store them
//
// A part is a node of the tree that the order of addition is (OrderedSums.cpp), and the parts are added as the tree
// goes on from there: the bits are those of one thread.
#include "passes/codegen/cpu/SumSlots.h"
#include "passes/codegen/gpu/Items.h"
#include "passes/codegen/gpu/NestRoots.h"
#include "passes/codegen/gpu/TurnedTile.h"

#include "llvm/ADT/STLExtras.h"

namespace tessera::codegen::gpu {

namespace {

constexpr int64_t kMostColumns = 32, kLeastColumns = 8; // of a block
// Items that threads of their own keep all of a GPU busy with.
constexpr int64_t kManyItems = 132 * 1024;
constexpr int64_t kMostPartBytes = 16 << 10; // of shared memory

// What a part has of the summed loops: `rows` of one of them, all of those within, one of those around.
struct Parts {
  size_t depth = 0;
  int64_t rows = 1;
  llvm::SmallVector<int64_t, 4> counts; // of the loops up to that one, this in parts
  int64_t count() const {
    int64_t product = 1;
    for (int64_t number : counts)
      product *= number;
    return product;
  }
};

// The largest parts of which each of the threads of a column has two; or so many of 64 rows and more that half of the
// threads have one, or else as many as there are threads.
std::optional<Parts> partsOf(const Graph &graph, const Reduction &reduction, int64_t threads,
                             int64_t most) {
  Parts parts;
  std::optional<Parts> found;
  for (const auto &loop : reduction.loops) {
    int64_t count = pointsOf(graph, loop);
    for (int64_t rows : {16384, 1024, 64, 4, 1}) {
      if (rows == 1 && count > 4) // a term is no node: fours are
        continue;
      Parts tried = parts;
      tried.rows = rows;
      tried.counts.push_back(llvm::divideCeil(count, rows));
      if (tried.count() > most)
        break;
      if (tried.count() >= 2 * threads)
        return found ? found : tried;
      if (!found && tried.count() >= (rows >= 64 ? threads / 2 : threads))
        found = tried;
    }
    parts.counts.push_back(count);
    ++parts.depth;
  }
  return found;
}

class ColumnSum : SumSlots {
public:
  ColumnSum(Emitter &e, const Reduction &reduction, const Parts &parts, Value space)
      : SumSlots(e, reduction, /*width=*/1), parts(parts), space(space) {}

  Value column = nullptr, team = nullptr; // of a thread
  int64_t columns = 0, teams = 0;

  // Of one column, with its number of parts and a place for their sum.
  static int64_t bytesOfColumn(const Emitter &e, const Reduction &reduction, int64_t parts) {
    int64_t bytes = 0;
    for (const Node *input : reduction.inputs)
      bytes += (parts + 1) * bytesOf(e, input);
    return bytes;
  }

  llvm::SmallVector<Value> emit(Value exists) {
    int64_t offset = 0, count = parts.count();
    for (const Node *input : reduction.inputs) {
      places.push_back(b.CreateConstGEP1_64(b.getInt8Ty(), space, offset));
      offset += (count + 1) * columns * bytesOf(e, input);
    }
    Value end = b.CreateSelect(exists, e.i64(count), e.i64(0));
    addPart(e.openLoop(team, end, teams, /*mayBeEmpty=*/true));
    e.closeLoop();
    barrier(b);
    e.openIf(b.CreateICmpEQ(team, e.i64(0)));
    Slots total = cleared();
    addTree(0, e.i64(0), total);
    keep(e.i64(count), loaded(total));
    e.closeLoop();
    barrier(b);
    Slots sums = kept(e.i64(count));
    for (auto [i, sum] : llvm::enumerate(sums))
      sum = accumulators.toTerm(i, sum);
    llvm::SmallVector<Value> inits;
    for (Node *init : reduction.inits)
      inits.push_back(e.emit(init));
    return e.combine(reduction, inits, sums);
  }

private:
  static int64_t bytesOf(const Emitter &e, const Node *input) {
    llvm::Type *type = computeType(input->kind, e.b.getContext());
    return std::max<int64_t>(type->getScalarSizeInBits() / 8, 1);
  }
  Value place(size_t input, Value part) {
    Value at = b.CreateNSWAdd(b.CreateNSWMul(part, e.i64(columns)), column);
    return b.CreateInBoundsGEP(typeOf(input), places[input], at);
  }
  void keep(Value part, llvm::ArrayRef<Value> values) {
    for (auto [i, value] : llvm::enumerate(values))
      b.CreateStore(value, place(i, part));
  }
  Slots kept(Value part) {
    Slots values;
    for (size_t i = 0; i < places.size(); ++i)
      values.push_back(b.CreateLoad(typeOf(i), place(i, part)));
    return values;
  }

  // `each` for the terms [low, high), `most` at most, of a loop of more than four: in fours, and these in sixteens.
  void inFours(Value low, Value high, int64_t most, llvm::ArrayRef<Value> into,
               llvm::function_ref<void(Value term, llvm::ArrayRef<Value> into)> each) {
    auto overTerms = [&](Value low, Value high, llvm::ArrayRef<Value> into) {
      each(e.openLoop(low, high, 1, /*mayBeEmpty=*/false), into);
      e.closeLoop();
    };
    if (most <= 4)
      return overTerms(low, high, into);
    Value end = b.CreateLShr(b.CreateNSWAdd(high, e.i64(3)), 2);
    inSixteens(b.CreateLShr(low, 2), end, llvm::divideCeil(most, 4), into,
               [&](Value four, llvm::ArrayRef<Value> into) {
                 Value first = b.CreateShl(four, 2);
                 overTerms(first, atMost(b.CreateNSWAdd(first, e.i64(4)), high), into);
               });
  }

  // Of a part: from the loop at `depth` on, of which it has [low, high).
  void addTerms(size_t depth, Value low, Value high, int64_t most, llvm::ArrayRef<Value> into) {
    inFours(low, high, most, into, [&](Value at, llvm::ArrayRef<Value> into) {
      e.bindLoop(reduction.loops[depth], at);
      if (depth + 1 == reduction.loops.size())
        return add(into, terms());
      Slots inner = cleared();
      int64_t count = pointsOf(e.graph, reduction.loops[depth + 1]);
      addTerms(depth + 1, e.i64(0), e.i64(count), count, inner);
      add(into, loaded(inner));
    });
  }

  void addPart(Value number) {
    Value rest = number;
    llvm::SmallVector<Value> digits(parts.counts.size());
    for (size_t depth = digits.size(); depth-- > 0;) {
      digits[depth] = depth ? b.CreateURem(rest, e.i64(parts.counts[depth])) : rest;
      rest = depth ? b.CreateUDiv(rest, e.i64(parts.counts[depth])) : rest;
    }
    for (size_t depth = 0; depth < parts.depth; ++depth)
      e.bindLoop(reduction.loops[depth], digits[depth]);
    int64_t count = pointsOf(e.graph, reduction.loops[parts.depth]);
    Value low = b.CreateNSWMul(digits.back(), e.i64(parts.rows));
    Value high = atMost(b.CreateNSWAdd(low, e.i64(parts.rows)), e.i64(count));
    Slots sum = cleared();
    addTerms(parts.depth, low, high, std::min(parts.rows, count), sum);
    keep(number, loaded(sum));
  }

  // The parts from `first` on, which are all of the loop at `depth` and of those within.
  void addTree(size_t depth, Value first, llvm::ArrayRef<Value> into) {
    int64_t count = parts.counts[depth];
    auto each = [&](Value at, llvm::ArrayRef<Value> into) {
      Value number = b.CreateNSWAdd(first, at);
      if (depth < parts.depth) {
        Slots inner = cleared();
        addTree(depth + 1, b.CreateNSWMul(number, e.i64(parts.counts[depth + 1])), inner);
        return add(into, loaded(inner));
      }
      add(into, kept(number));
    };
    if (depth < parts.depth || parts.rows == 1)
      return inFours(e.i64(0), e.i64(count), count, into, each);
    inSixteens(e.i64(0), e.i64(count), count, into, each);
  }

  const Parts &parts;
  Value space;
  Slots places; // in shared memory, by component
};

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
  llvm::SmallVector<std::pair<Node *, Parts>> sums; // one node of each reduction
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
  if (items > kManyItems || items < kLeastColumns)
    return false;
  columns = columnsOfBlock();
  for (Node *node : e.live) {
    if (node->op != Op::Reduced || node->local)
      continue;
    const Reduction &reduction = *node->reduction;
    if (llvm::any_of(sums, [&](auto &sum) { return sum.first->reduction == &reduction; }))
      continue;
    if (!isColumnSum(reduction) || pointsOf(e.graph, reduction.dims) < leastRows)
      return false;
    int64_t each = columns * ColumnSum::bytesOfColumn(e, reduction, 0);
    int64_t most = std::min(kMostPartBytes, function.sharedLeft()) / each - 1;
    std::optional<Parts> parts = partsOf(e.graph, reduction, teams(), most);
    if (!parts)
      return false;
    bytes = std::max(bytes, columns * ColumnSum::bytesOfColumn(e, reduction, parts->count()));
    sums.push_back({node, *parts});
  }
  return !sums.empty();
}

void ColumnBlocks::emitSums() {
  bool isFirst = true;
  for (auto &[node, parts] : sums) {
    if (!std::exchange(isFirst, false))
      barrier(e.b); // all have read the parts before
    ColumnSum sum(e, *node->reduction, parts, space);
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
