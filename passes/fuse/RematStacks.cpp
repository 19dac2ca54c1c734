#include "passes/fuse/RematStacks.h"

#include "dialects/stablehlo/StablehloOps.h"
#include "dialects/tessera/Marks.h"
#include "passes/UnreadOps.h"
#include "passes/fuse/CarriedValues.h"
#include "passes/fuse/FilledStack.h"
#include "passes/fuse/OutlinedOps.h"
#include "passes/fuse/RematCopies.h"
#include "passes/fuse/ScorePlane.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace tessera::stablehlo;

namespace tessera::fuse {
namespace {

// In the body of the loop that reads it.
SmallVector<DynamicSliceOp> slicesOf(WhileOp filling, const FilledStack &stack) {
  SmallVector<DynamicSliceOp> all;
  for (Operation *user : filling->getResult(stack.carried).getUsers())
    all.push_back(cast<DynamicSliceOp>(user));
  return all;
}

using LoopPair = Stacks::LoopPair;

// The first index, where the others are zero and one slot of the first dimension is meant.
Value slotOf(ValueRange indices, ArrayRef<int64_t> sizes, ArrayRef<int64_t> whole) {
  if (indices.empty() || sizes.front() != 1 || sizes.drop_front() != whole.drop_front())
    return {};
  for (Value index : indices.drop_front())
    if (!matchPattern(index, m_Zero()))
      return {};
  return indices.front();
}

// The loop of the same block that alone reads the result, by slices.
WhileOp readerOf(WhileOp loop, const FilledStack &stack) {
  WhileOp reader;
  Value result = loop->getResult(stack.carried);
  for (Operation *user : result.getUsers()) {
    auto slice = dyn_cast<DynamicSliceOp>(user);
    auto around = dyn_cast<WhileOp>(user->getParentOp());
    if (!slice || slice.getOperand() != result || !around ||
        slice->getBlock() != &around.getBody().front() || around->getBlock() != loop->getBlock() ||
        (reader && reader != around))
      return {};
    reader = around;
  }
  return reader;
}

// Whether a loop carries 0, 1, .. up to one less than `count`.
bool countsTo(WhileOp loop, Value value, int64_t count) {
  auto argument = dyn_cast<BlockArgument>(value);
  Block &body = loop.getBody().front();
  if (!argument || argument.getOwner() != &body || getTripCount(loop) != count ||
      !matchPattern(loop->getOperand(argument.getArgNumber()), m_Zero()))
    return false;
  auto next = body.getTerminator()->getOperand(argument.getArgNumber()).getDefiningOp<AddOp>();
  return next && ((next.getOperand(0) == argument && matchPattern(next.getOperand(1), m_One())) ||
                  (next.getOperand(1) == argument && matchPattern(next.getOperand(0), m_One())));
}

// The slot that all slices of a stack read; null where there are several.
Value readSlot(WhileOp loop, const FilledStack &stack, ArrayRef<int64_t> whole) {
  Value read;
  for (DynamicSliceOp slice : slicesOf(loop, stack)) {
    Value slot = slotOf(slice.getStartIndices(), slice.getSliceSizes(), whole);
    if (!slot || (read && slot != read))
      return {};
    read = slot;
  }
  return read;
}

// Whether only loops are around the op, in the function that a trial describes.
bool isDescribed(Operation *op) {
  while (isa<WhileOp>(op->getParentOp()))
    op = op->getParentOp();
  auto function = dyn_cast<func::FuncOp>(op->getParentOp());
  return function && function == describedFunction(function->getParentOfType<ModuleOp>());
}

void addPair(std::vector<LoopPair> &pairs, WhileOp loop, unsigned i) {
  std::optional<FilledStack> stack = filledStack(loop, i);
  WhileOp reader = stack ? readerOf(loop, *stack) : WhileOp();
  if (!reader || !loop->isBeforeInBlock(reader) || !isDescribed(loop))
    return;
  auto shapeOf = [](Value value) { return cast<RankedTensorType>(value.getType()).getShape(); };
  ArrayRef<int64_t> whole = shapeOf(loop->getResult(i));
  Value filled = slotOf(stack->update.getStartIndices(), shapeOf(stack->update.getUpdate()), whole);
  Value read = readSlot(loop, *stack, whole);
  if (!filled || !read || !countsTo(loop, filled, whole.front()) ||
      filled.getType() != read.getType())
    return;
  auto pair = llvm::find_if(pairs, [&](const LoopPair &p) {
    return p.filling == loop && p.reading == reader && p.filled == filled && p.read == read;
  });
  if (pair == pairs.end())
    pair = pairs.insert(pairs.end(), {loop, reader, filled, read, whole.front(), {}});
  pair->stacks.push_back(std::move(*stack));
}

class Describer {
public:
  Describer(ModuleOp module, RematTrial &trial) : trial(trial) {
    for (auto [i, op] : llvm::enumerate(numberedOps(module)))
      numbers[op] = static_cast<int>(i);
    for (auto [b, block] : llvm::enumerate(trial.blocks))
      blocks[block.owner] = static_cast<int>(b);
  }

  void describe(const LoopPair &pair) {
    int filled = blocks.lookup(numbers.lookup(pair.filling));
    int reader = blocks.lookup(numbers.lookup(pair.reading));
    cost::RematProgram &program = trial.program;
    addNodes(pair);
    for (const FilledStack &found : pair.stacks) {
      cost::Stack stack;
      stack.block = program.blocks[filled].parent;
      stack.filled = filled;
      const cost::RematBlock &outer = program.blocks[stack.block];
      auto [written, argument] = placesOf(pair.filling, found.carried);
      stack.storage = outer.tasks[program.blocks[filled].loop].writes[written];
      stack.inside = {argument};
      stack.start = startOf(outer, program.blocks[filled].loop, stack.storage);
      addUpdated(found.update, filled, stack.inside);
      stack.reader = program.blocks[reader].loop;
      stack.slot = outer.storages[stack.storage].bytes / pair.slots;
      stack.node = nodeOf(found.value());
      stack.times = program.blocks[reader].times;
      if (stack.node >= 0 && program.nodes[stack.node].stack < 0)
        program.nodes[stack.node].stack = static_cast<int>(program.stacks.size());
      // What is no node (a coordinate, something of outside) is there without any stack.
      if (stack.node < 0) {
        stack.node = static_cast<int>(program.nodes.size());
        program.nodes.emplace_back();
      }
      program.stacks.push_back(std::move(stack));
    }
  }

private:
  void addNodes(const LoopPair &pair) {
    nodes.clear();
    Block &body = WhileOp(pair.filling).getBody().front();
    auto add = [&](Value value, bool again, double seconds) {
      nodes[value] = static_cast<int>(trial.program.nodes.size());
      cost::TripNode node;
      node.again = again;
      node.seconds = seconds;
      trial.program.nodes.push_back(std::move(node));
    };
    for (BlockArgument argument : body.getArguments())
      if (argument != pair.filled)
        add(argument, false, 0);
    for (Operation &op : body.without_terminator()) {
      llvm::SmallVector<int, 4> operands;
      auto read = [&](Value value) {
        if (int node = nodeOf(value); node >= 0)
          operands.push_back(node);
      };
      for (Value operand : op.getOperands())
        read(operand);
      for (Region &region : op.getRegions())
        region.walk([&](Operation *inner) { llvm::for_each(inner->getOperands(), read); });
      if (operands.empty() && op.getNumOperands() == 0)
        continue;
      double seconds = trial.seconds[numbers.lookup(&op)];
      for (Value result : op.getResults()) {
        add(result, isMemoryEffectFree(&op), seconds);
        trial.program.nodes.back().operands = operands;
      }
    }
  }

  int nodeOf(Value value) const {
    auto found = nodes.find(value);
    return found == nodes.end() ? -1 : found->second;
  }

  // Of an array that a loop carries: its place in what the loop writes, and its storage in the
  // body. Both count what changes, the first what takes bytes, too (order/BlockTasks.h).
  static std::pair<int, int> placesOf(WhileOp loop, unsigned carried) {
    Block &block = loop.getBody().front();
    int written = 0, changing = 0;
    for (unsigned i = 0; i < carried; ++i) {
      if (block.getTerminator()->getOperand(i) == block.getArgument(i))
        continue;
      ++changing;
      written += byteSize(cast<RankedTensorType>(loop->getResult(i).getType())) > 0;
    }
    return {written, changing};
  }

  // What a loop takes over as the stack, where nobody else reads it.
  static int startOf(const cost::RematBlock &outer, int loop, int stack) {
    for (auto [to, from] : outer.tasks[loop].inPlace)
      if (to == stack && llvm::count_if(outer.tasks, [from = from](const cost::Task &task) {
                           return llvm::is_contained(task.reads, from);
                         }) == 1)
        return from;
    return -1;
  }

  void addUpdated(DynamicUpdateSliceOp update, int b, llvm::SmallVectorImpl<int> &inside) const {
    int number = numbers.lookup(update);
    for (auto [s, value] : llvm::enumerate(trial.blocks[b].values))
      if (value.op == number)
        inside.push_back(static_cast<int>(s));
  }

  RematTrial &trial;
  DenseMap<Operation *, int> numbers;
  DenseMap<int, int> blocks; // by the loop's number
  DenseMap<Value, int> nodes;
};

// Computes values of the filling loop's body in the reading loop's.
class TripCopier {
public:
  TripCopier(LoopPair &pair, ArrayRef<char> dropped) : pair(pair), b(pair.reading) {
    b.setInsertionPoint(pair.reading.getBody().front().getTerminator());
    mapping.map(pair.filled, slotNumber());
    for (auto [stack, isDropped] : llvm::zip(pair.stacks, dropped))
      if (!isDropped && !mapping.contains(stack.value())) {
        Value slice = slicesOf(pair.filling, stack).front();
        mapping.map(stack.value(), viewAs(slice, stack.value().getType()));
      }
  }

  Value viewAs(Value value, Type type) {
    return value.getType() == type ? value : ReshapeOp::create(b, value.getLoc(), type, value);
  }

  Value copy(Value wanted) {
    SmallVector<Value> work{wanted};
    Block *from = &pair.filling.getBody().front();
    while (!work.empty()) {
      Value value = work.back();
      Operation *def = value.getDefiningOp();
      bool isThere = mapping.contains(value) || !def || def->getBlock() != from;
      size_t before = work.size();
      auto need = [&](Value operand) {
        Operation *made = operand.getDefiningOp();
        if (made && made->getBlock() == from && !mapping.contains(operand))
          work.push_back(operand);
      };
      if (!isThere) {
        llvm::for_each(def->getOperands(), need);
        for (Region &region : def->getRegions())
          region.walk([&](Operation *inner) {
            llvm::for_each(inner->getOperands(), [&](Value v) {
              if (!region.isAncestor(v.getParentRegion()))
                need(v);
            });
          });
      }
      if (work.size() > before)
        continue;
      work.pop_back();
      if (!isThere)
        b.clone(*def, mapping);
    }
    return mapping.lookupOrDefault(wanted);
  }

private:
  // A slice begins where all of it lies inside.
  Value slotNumber() {
    auto type = cast<RankedTensorType>(pair.read.getType());
    Location loc = pair.read.getLoc();
    auto constant = [&](int64_t number) {
      return ConstantOp::create(
          b, loc, DenseElementsAttr::get(type, b.getIntegerAttr(type.getElementType(), number)));
    };
    return ClampOp::create(b, loc, type, constant(0), pair.read, constant(pair.slots - 1));
  }

  LoopPair &pair;
  OpBuilder b;
  IRMapping mapping;
};

// Ops are as they were; those that are new have no key and go before their first reader.
void placeNewOps(Block &block, Operation *lastOld) {
  DenseMap<Operation *, std::pair<int, int>> keys;
  int at = 0;
  bool isNew = false;
  for (Operation &op : block.without_terminator()) {
    if (!isNew)
      keys[&op] = {at++, 0};
    isNew |= &op == lastOld;
  }
  sortBlock(block, keys);
}

} // namespace

Stacks::Stacks(ModuleOp module) : module(module) {
  module.walk<WalkOrder::PreOrder>([&](WhileOp loop) {
    for (unsigned i = 0; i < loop->getNumResults(); ++i)
      addPair(pairs, loop, i);
  });
}

Stacks::~Stacks() = default;

namespace {

// What a loop computes of scores, where each value is read by ops between products or put away.
DenseSet<Operation *> scoresIn(const LoopPair &pair, int64_t leastPairs) {
  DenseSet<Operation *> found;
  Block &body = WhileOp(pair.filling).getBody().front();
  auto isPutAway = [&](Operation *op) {
    return llvm::any_of(pair.stacks, [&](const FilledStack &s) { return s.update == op; });
  };
  for (auto product : body.getOps<DotGeneralOp>()) {
    auto type = cast<RankedTensorType>(product->getResult(0).getType());
    if (found.contains(product) || !type.hasStaticShape() || type.getNumElements() < leastPairs)
      continue;
    ScorePlane plane(body, product, isPutAway);
    bool isAttention = !plane.other && plane.hasExponentials() &&
                       llvm::any_of(plane.consumers, [](const ScorePlane::Consumer &consumer) {
                         return consumer.isOfRows;
                       });
    if (isAttention)
      found.insert(plane.ops.begin(), plane.ops.end());
  }
  return found;
}

// Whether a value is computed of what is kept, of scores and what is cheap.
bool isMadeOf(const LoopPair &pair, const DenseSet<Value> &kept,
              const DenseSet<Operation *> &scores, Value value) {
  Block *body = &WhileOp(pair.filling).getBody().front();
  SmallVector<Value> work{value};
  DenseSet<Value> seen;
  constexpr size_t most = 200;
  while (!work.empty()) {
    Value next = work.pop_back_val();
    if (next == pair.filled || kept.contains(next) || !seen.insert(next).second)
      continue;
    if (next.getParentBlock() != body)
      continue; // there anyway
    Operation *op = next.getDefiningOp();
    if (!op || seen.size() > most || !(scores.contains(op) || OutlinedOps::isBetween(op)))
      return false;
    llvm::append_range(work, op->getOperands());
  }
  return true;
}

} // namespace

SmallVector<int> Stacks::ofScores(int64_t leastPairs) const {
  SmallVector<int> found;
  int number = 0;
  for (const LoopPair &pair : pairs) {
    DenseSet<Operation *> scores = scoresIn(pair, leastPairs);
    auto isOfScores = [&](const FilledStack &stack) {
      return scores.contains(stack.value().getDefiningOp());
    };
    DenseSet<Value> kept;
    for (const FilledStack &stack : pair.stacks)
      if (!isOfScores(stack))
        kept.insert(stack.value());
    for (const FilledStack &stack : pair.stacks) {
      if (isOfScores(stack) && isMadeOf(pair, kept, scores, stack.value()))
        found.push_back(number);
      ++number;
    }
  }
  return found;
}

void Stacks::describe(RematTrial &trial) const {
  Describer describer(module, trial);
  for (const LoopPair &pair : pairs)
    describer.describe(pair);
}

// Whether the reading loop has all that the value is made of.
static bool canCopy(const LoopPair &pair, const DenseSet<Value> &kept, Value value) {
  Block *from = &WhileOp(pair.filling).getBody().front();
  SmallVector<Value> work{value};
  DenseSet<Value> seen;
  while (!work.empty()) {
    Value next = work.pop_back_val();
    if (next == pair.filled || kept.contains(next) || next.getParentBlock() != from ||
        !seen.insert(next).second)
      continue;
    Operation *op = next.getDefiningOp();
    if (!op)
      return false;
    op->walk([&](Operation *inner) { llvm::append_range(work, inner->getOperands()); });
  }
  return true;
}

bool Stacks::canDrop(ArrayRef<int> stacks) const {
  int number = 0;
  for (const LoopPair &pair : pairs) {
    DenseSet<Value> kept;
    SmallVector<Value> dropped;
    for (const FilledStack &stack : pair.stacks)
      if (llvm::is_contained(stacks, number++))
        dropped.push_back(stack.value());
      else
        kept.insert(stack.value());
    if (!llvm::all_of(dropped, [&](Value value) { return canCopy(pair, kept, value); }))
      return false;
  }
  return true;
}

static void dropFrom(LoopPair &pair, ArrayRef<char> dropped, llvm::BitVector &carried) {
  Block &body = pair.reading.getBody().front();
  Operation *last = body.getTerminator()->getPrevNode();
  TripCopier copier(pair, dropped);
  SmallVector<DynamicSliceOp> unread;
  for (auto [stack, isDropped] : llvm::zip(pair.stacks, dropped)) {
    if (!isDropped)
      continue;
    carried.set(stack.carried);
    Value value = copier.copy(stack.value());
    for (DynamicSliceOp slice : slicesOf(pair.filling, stack)) {
      slice.getResult().replaceAllUsesWith(copier.viewAs(value, slice.getType()));
      unread.push_back(slice);
    }
  }
  placeNewOps(body, last);
  for (DynamicSliceOp slice : unread)
    slice.erase();
  eraseUnread(body);
}

void Stacks::drop(ArrayRef<int> stacks) {
  size_t number = 0;
  llvm::MapVector<Operation *, llvm::BitVector> carried; // one loop may fill stacks for several
  for (LoopPair &pair : pairs) {
    SmallVector<char> dropped;
    for (size_t i = 0; i < pair.stacks.size(); ++i)
      dropped.push_back(llvm::is_contained(stacks, static_cast<int>(number++)));
    if (!llvm::is_contained(dropped, 1))
      continue;
    auto &bits = carried[pair.filling];
    bits.resize(pair.filling->getNumOperands());
    dropFrom(pair, dropped, bits);
  }
  for (auto &[loop, bits] : carried)
    eraseCarried(cast<WhileOp>(loop), bits);
}

} // namespace tessera::fuse
