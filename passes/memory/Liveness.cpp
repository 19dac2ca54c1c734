#include "passes/memory/Liveness.h"

#include "dialects/comm/CommOps.h"
#include "dialects/stablehlo/StablehloOps.h"
#include "dialects/tessera/Marks.h"
#include "passes/Views.h"
#include "passes/placement/MemorySpaces.h"

using namespace mlir;
using tessera::stablehlo::CaseOp;
using tessera::stablehlo::WhileOp;

namespace tessera::memory {

static bool isAllReduce(Operation *op) {
  auto start = dyn_cast<comm::StartOp>(op);
  return start && start.getKind() == comm::CollectiveKind::AllReduce;
}

// Where a collective is waited for.
static int64_t endOf(const Liveness &liveness, Operation *start) {
  return liveness.at.begin.lookup(*start->getResults().back().user_begin());
}

static int64_t bytesOf(Value value) { return byteSize(cast<RankedTensorType>(value.getType())); }

namespace {

class Analysis {
public:
  explicit Analysis(func::FuncOp func) : func(func) {}

  FailureOr<Liveness> run() {
    number(func.getBody().front());
    Block &entry = func.getBody().front();
    bool ok = true;
    for (BlockArgument argument : entry.getArguments()) {
      // Only what an output takes over may be written.
      bool writable = func.getArgAttr(argument.getArgNumber(), "tf.aliasing_output") != nullptr;
      int array = result.storages.add(bytesOf(argument), {Place::Input, argument.getArgNumber()},
                                      writable, memoryOf(argument));
      result.arrays[argument] = array;
      result.storages.live(array, 0, 1);
    }
    ok = define(entry);
    if (!ok)
      return failure();
    extend(entry);
    hold();
    return std::move(result);
  }

private:
  void number(Block &block) {
    for (Operation &op : block) {
      result.at.begin[&op] = next++;
      if (isa<exec::FusedOp>(op))
        continue;
      for (Region &region : op.getRegions())
        for (Block &inner : region)
          number(inner);
      if (op.getNumRegions())
        result.at.end[&op] = next++;
    }
  }

  Memory memoryOf(Value value) const {
    return placement::isInHost(value) ? Memory::Host : Memory::Device;
  }

  int add(Value value) {
    int array = result.storages.add(bytesOf(value), {}, true, memoryOf(value));
    result.arrays[value] = array;
    return array;
  }

  void alias(Value value, Value of) { result.arrays[value] = result.arrays.lookup(of); }

  // Arrays for the values that the block defines.
  bool define(Block &block) {
    for (Operation &op : block) {
      int64_t at = result.at.begin.lookup(&op);
      if (auto loop = dyn_cast<WhileOp>(op)) {
        if (!defineLoop(loop, at))
          return false;
      } else if (auto branch = dyn_cast<CaseOp>(op)) {
        for (Value value : branch.getResults())
          add(value);
        for (Region &region : branch.getBranches()) {
          if (!define(region.front()))
            return false;
          int64_t leave = result.at.begin.lookup(region.front().getTerminator());
          for (Value value : branch.getResults())
            result.storages.live(result.arrays.lookup(value), 4 * leave + 1, 4 * leave + 2);
        }
        int64_t end = result.at.end.lookup(&op);
        for (Value value : branch.getResults())
          result.storages.live(result.arrays.lookup(value), 4 * end, 4 * end + 2);
      } else if (isa<stablehlo::ReshapeOp>(op)) {
        alias(op.getResult(0), op.getOperand(0));
      } else if (auto wait = dyn_cast<comm::WaitOp>(op)) {
        for (auto [value, of] : llvm::zip(wait.getOutputs(), wait.getInputs()))
          alias(value, of);
      } else if (isa<stablehlo::ConstantOp>(op)) {
        Value value = op.getResult(0);
        int array =
            result.storages.add(bytesOf(value), {Place::Constant, result.constantBytes}, false);
        result.arrays[value] = array;
        result.constantBytes += (bytesOf(value) + 63) / 64 * 64;
      } else if (isa<exec::FusedOp, comm::StartOp, comm::TransferOp, comm::StartTransferOp,
                     comm::AxisIndexOp>(op)) {
        for (Value value : op.getResults())
          if (isa<RankedTensorType>(value.getType()))
            result.storages.live(add(value), 4 * at + 1, 4 * at + 2);
      } else if (!op.hasTrait<OpTrait::IsTerminator>()) {
        op.emitOpError(
            "has no place in a program on buffers; run --tessera-fuse and --tessera-order first");
        return false;
      }
    }
    return true;
  }

  bool defineLoop(WhileOp loop, int64_t at) {
    Block &condition = loop.getCond().front(), &body = loop.getBody().front();
    Operation *yield = body.getTerminator();
    int64_t end = result.at.end.lookup(loop), leave = result.at.begin.lookup(yield);
    int64_t tested = result.at.begin.lookup(condition.getTerminator());
    for (unsigned i = 0; i < loop->getNumOperands(); ++i) {
      if (yield->getOperand(i) == body.getArgument(i)) { // never changes
        for (Value value : {Value(condition.getArgument(i)), Value(body.getArgument(i)),
                            Value(loop->getResult(i))})
          alias(value, loop->getOperand(i));
        continue;
      }
      int array = add(loop->getResult(i));
      alias(condition.getArgument(i), loop->getResult(i));
      alias(body.getArgument(i), loop->getResult(i));
      // Written on entry and at the end of every iteration; there while the condition is evaluated,
      // and at the end.
      result.storages.live(array, 4 * at + 1, 4 * tested + 2);
      result.storages.live(array, 4 * leave + 1, 4 * end + 2);
    }
    return (getTripCount(loop) || define(condition)) && define(body);
  }

  // Makes arrays live until their last reader; a reader in a loop that does not define the value
  // reads until its end.
  void extend(Block &block) {
    for (Operation &op : block) {
      int64_t at = result.at.begin.lookup(&op), until = 4 * at + 2;
      bool isReduced = isAllReduce(&op);
      if (auto start = dyn_cast<comm::StartOp>(op); start && !isReduced)
        until = 4 * endOf(result, start) + 2;
      auto transfer = dyn_cast<comm::StartTransferOp>(op);
      for (Value operand : op.getOperands())
        if (isa<RankedTensorType>(operand.getType())) {
          read(operand, &op,
               transfer && operand == transfer.getInput() ? 4 * endOf(result, transfer) + 2
                                                          : until);
          if (isReduced)
            reduced.push_back({cast<comm::StartOp>(op), result.arrays.lookup(operand)});
        }
      if (isa<exec::FusedOp>(op))
        continue;
      for (auto [i, region] : llvm::enumerate(op.getRegions()))
        if (!(i == 0 && isa<WhileOp>(op) && getTripCount(&op)))
          for (Block &inner : region)
            extend(inner);
    }
  }

  // All-reduces read operands until their wait; what nobody else reads after the start, another
  // all-reduce that is still under way included, may have the result written over it.
  void hold() {
    llvm::DenseMap<int, std::pair<comm::StartOp, int64_t>> before; // of an array, and its wait
    for (auto [start, array] : reduced) {
      int64_t at = result.at.begin.lookup(start);
      auto [other, wait] = before.lookup(array);
      bool isRead = other && other != start && wait > at;
      if (!isRead && llvm::any_of(result.storages.liveOf(array),
                                  [&](const Segment &s) { return s.end == 4 * at + 2; }))
        result.readLast.insert({start, array});
      before[array] = {start, std::max(wait, endOf(result, start))};
    }
    for (auto [start, array] : reduced)
      result.storages.live(array, 4 * result.at.begin.lookup(start), 4 * endOf(result, start) + 2);
  }

  void read(Value value, Operation *reader, int64_t until) {
    int array = result.arrays.lookup(value);
    // Where the array is written last before this read: views and waits lead back to it.
    Value origin = value;
    while (Operation *def = origin.getDefiningOp()) {
      if (isa<stablehlo::ReshapeOp>(def))
        origin = def->getOperand(0);
      else if (auto wait = dyn_cast<comm::WaitOp>(def))
        origin = wait.getInputs()[cast<OpResult>(origin).getResultNumber()];
      else if (auto loop = dyn_cast<WhileOp>(def);
               loop && passesThrough(loop, cast<OpResult>(origin).getResultNumber()))
        origin = loop->getOperand(cast<OpResult>(origin).getResultNumber());
      else
        break;
    }
    if (auto argument = dyn_cast<BlockArgument>(origin))
      if (auto loop = dyn_cast<WhileOp>(argument.getOwner()->getParentOp());
          loop && passesThrough(loop, argument.getArgNumber())) {
        read(loop->getOperand(argument.getArgNumber()), reader, until);
        return;
      }
    Block *home = origin.getParentBlock();
    for (Operation *op = reader; op->getBlock() != home; op = op->getParentOp())
      if (auto loop = dyn_cast<WhileOp>(op->getParentOp()))
        until = std::max(until, 4 * result.at.end.lookup(loop) + 2);
    int64_t from;
    if (Operation *def = origin.getDefiningOp())
      from = 4 * (def->getNumRegions() && !isa<exec::FusedOp>(def) ? result.at.end.lookup(def)
                                                                   : result.at.begin.lookup(def)) +
             1;
    else if (home == &func.getBody().front())
      from = 0;
    else
      from = 4 * result.at.begin.lookup(home->getParentOp()) + 1;
    until = std::max(from, until);
    for (Segment others : besideBranches(reader, home)) {
      if (others.begin > from)
        result.storages.live(array, from, others.begin - 1);
      from = std::max(from, others.end + 1);
    }
    result.storages.live(array, from, until);
  }

  // Branches other than those that `reader` is in, before it, with no loop around that goes on to read
  // what lies in `home`: there nobody needs what it reads. Outer ones first.
  SmallVector<Segment> besideBranches(Operation *reader, Block *home) const {
    SmallVector<Segment> found;
    for (Operation *op = reader; op->getBlock() != home; op = op->getParentOp()) {
      if (isa<WhileOp>(op->getParentOp()))
        found.clear();
      auto branch = dyn_cast<CaseOp>(op->getParentOp());
      unsigned number = op->getParentRegion()->getRegionNumber();
      if (branch && number)
        found.push_back(
            {4 * result.at.begin.lookup(&branch.getBranches().front().front().front()),
             4 * result.at.begin.lookup(branch.getBranches()[number - 1].front().getTerminator()) +
                 3});
    }
    std::reverse(found.begin(), found.end());
    return found;
  }

  static bool passesThrough(WhileOp loop, unsigned i) {
    Block &body = loop.getBody().front();
    return body.getTerminator()->getOperand(i) == body.getArgument(i);
  }

  func::FuncOp func;
  Liveness result;
  SmallVector<std::pair<comm::StartOp, int>> reduced; // operands of all-reduces
  int64_t next = 0;
};

} // namespace

FailureOr<Liveness> analyse(func::FuncOp func) { return Analysis(func).run(); }

namespace {

class Sharing {
public:
  Sharing(func::FuncOp func, Liveness &liveness) : func(func), liveness(liveness) {}

  void run() {
    SmallVector<exec::FusedOp> kernels;
    SmallVector<Operation *> transfers;
    SmallVector<WhileOp> loops; // inner ones first
    SmallVector<CaseOp> branches;
    SmallVector<comm::StartOp> reductions;
    func.walk([&](Operation *op) {
      if (op->getParentOfType<exec::FusedOp>())
        return; // of a loop in one kernel
      if (auto fused = dyn_cast<exec::FusedOp>(op))
        kernels.push_back(fused);
      else if (isa<comm::TransferOp, comm::StartTransferOp>(op))
        transfers.push_back(op);
      else if (auto loop = dyn_cast<WhileOp>(op))
        loops.push_back(loop);
      else if (auto branch = dyn_cast<CaseOp>(op))
        branches.push_back(branch);
      else if (isAllReduce(op))
        reductions.push_back(cast<comm::StartOp>(op));
    });
    for (exec::FusedOp fused : kernels)
      shareInplace(fused, [&](unsigned i) { return updates(fused, i) || continues(fused, i); });
    for (Operation *transfer : transfers)
      shareUpdated(transfer);
    for (WhileOp loop : loops)
      shareYields(loop);
    for (WhileOp loop : loops)
      for (auto [operand, value] : llvm::zip(loop->getOperands(), loop->getResults()))
        liveness.storages.share(
            liveness.arrayOf(operand), liveness.arrayOf(value), liveness.at.begin.lookup(loop),
            carriedBack(value, liveness.storages.find(liveness.arrayOf(operand))));
    for (CaseOp branch : branches)
      shareBranches(branch);
    shareResults();
    for (comm::StartOp start : reductions)
      shareReduced(start);
    for (exec::FusedOp fused : kernels)
      shareInplace(fused, [](unsigned) { return true; });
  }

private:
  bool share(Value from, Value to, int64_t at) {
    return liveness.storages.share(liveness.arrayOf(from), liveness.arrayOf(to), at);
  }

  static bool updates(exec::FusedOp fused, unsigned i) {
    Operation *def = fused.getBlock()->getTerminator()->getOperand(i).getDefiningOp();
    return isa_and_nonnull<stablehlo::DynamicUpdateSliceOp, stablehlo::ScatterOp, WhileOp>(def);
  }

  // Whether result i is the next state of the operand that it may overwrite: what a loop carries,
  // or a donated argument.
  bool continues(exec::FusedOp fused, unsigned i) {
    auto operand = dyn_cast<BlockArgument>(originOf(fused.getInputs()[fused.inplaceOperand(i)]));
    if (!operand)
      return false;
    SmallVector<Value> work{fused.getResult(i)};
    while (!work.empty()) {
      Value value = work.pop_back_val();
      for (OpOperand &use : value.getUses()) {
        if (isa<stablehlo::ReshapeOp>(use.getOwner()))
          work.push_back(use.getOwner()->getResult(0));
        if (!use.getOwner()->hasTrait<OpTrait::IsTerminator>())
          continue;
        if (isa<func::ReturnOp>(use.getOwner())) {
          auto output =
              func.getArgAttrOfType<IntegerAttr>(operand.getArgNumber(), "tf.aliasing_output");
          if (operand.getOwner()->isEntryBlock() && output &&
              output.getInt() == use.getOperandNumber() &&
              operand.getOwner()->getParentOp() == func)
            return true;
        } else if (operand.getOwner() == use.getOwner()->getBlock() &&
                   operand.getArgNumber() == use.getOperandNumber()) {
          return true;
        }
      }
    }
    return false;
  }

  // Where a loop's body ends that carries `value` on in `array`; -1 when none does.
  int64_t carriedBack(Value value, int array) {
    for (OpOperand &use : value.getUses()) {
      Operation *user = use.getOwner();
      if (isa<stablehlo::ReshapeOp, comm::WaitOp>(user)) {
        Value same = user->getResult(isa<comm::WaitOp>(user) ? use.getOperandNumber() - 1 : 0);
        if (int64_t back = carriedBack(same, array); back >= 0)
          return back;
      }
      auto loop = dyn_cast<WhileOp>(user->getParentOp());
      if (loop && user == loop.getBody().front().getTerminator() &&
          liveness.storages.find(liveness.arrayOf(loop->getResult(use.getOperandNumber()))) ==
              array)
        return liveness.at.begin.lookup(user);
    }
    return -1;
  }

  void shareInplace(exec::FusedOp fused, llvm::function_ref<bool(unsigned)> wanted) {
    for (unsigned i = 0; i < fused.getNumResults(); ++i) {
      int64_t operand = fused.inplaceOperand(i);
      if (operand < 0 || !wanted(i))
        continue;
      // Another view of the same array may be read elsewhere.
      int array = liveness.storages.find(liveness.arrayOf(fused.getInputs()[operand]));
      int readers = llvm::count_if(fused.getInputs(), [&](Value input) {
        return liveness.storages.find(liveness.arrayOf(input)) == array;
      });
      if (readers == 1)
        liveness.storages.share(array, liveness.arrayOf(fused.getResult(i)),
                                liveness.at.begin.lookup(fused),
                                carriedBack(fused.getResult(i), array));
    }
  }

  // A transfer into an array writes its part where the array lies.
  void shareUpdated(Operation *transfer) {
    auto whole = dyn_cast<comm::TransferOp>(transfer);
    Value into = whole ? whole.getInto() : cast<comm::StartTransferOp>(transfer).getInto();
    if (!into)
      return;
    int array = liveness.storages.find(liveness.arrayOf(into));
    Value output = transfer->getResult(0);
    liveness.storages.share(array, liveness.arrayOf(output), liveness.at.begin.lookup(transfer),
                            carriedBack(output, array));
  }

  void shareYields(WhileOp loop) {
    Operation *yield = loop.getBody().front().getTerminator();
    for (auto [value, carried] : llvm::zip(yield->getOperands(), loop->getResults()))
      share(value, carried, liveness.at.begin.lookup(yield));
  }

  // Where several branches yield the same array, or what they made of it in place, so is the result.
  void shareBranches(CaseOp branch) {
    for (auto [i, result] : llvm::enumerate(branch.getResults()))
      for (Region &region : branch.getBranches()) {
        int array =
            liveness.storages.find(liveness.arrayOf(region.front().getTerminator()->getOperand(i)));
        SmallVector<int64_t> ends;
        for (Region &other : branch.getBranches()) {
          Operation *yield = other.front().getTerminator();
          if (liveness.storages.find(liveness.arrayOf(yield->getOperand(i))) == array)
            ends.push_back(liveness.at.begin.lookup(yield));
        }
        liveness.storages.share(array, liveness.arrayOf(result), ends, carriedBack(result, array));
      }
  }

  // An all-reduce works in place on operands that nobody reads after it.
  void shareReduced(comm::StartOp start) {
    for (auto [operand, result] : llvm::zip(start.getInputs(), start.getOutputs())) {
      int array = liveness.arrayOf(operand);
      auto isSame = [&](Value other) { return liveness.arrayOf(other) == array; };
      if (!liveness.readLast.contains({start, array}) ||
          llvm::count_if(start.getInputs(), isSame) != 1)
        continue;
      liveness.storages.share(array, liveness.arrayOf(result), liveness.at.begin.lookup(start),
                              carriedBack(result, liveness.storages.find(array)),
                              endOf(liveness, start));
    }
  }

  // Results go straight into the caller's buffers.
  void shareResults() {
    Operation *ret = func.getBody().front().getTerminator();
    int64_t at = liveness.at.begin.lookup(ret);
    SmallVector<bool> aliased(ret->getNumOperands(), false);
    for (BlockArgument argument : func.getArguments())
      if (auto output =
              func.getArgAttrOfType<IntegerAttr>(argument.getArgNumber(), "tf.aliasing_output")) {
        aliased[output.getInt()] = true;
        // The argument's array is also the result's: whoever shares it must leave it alone at the
        // end.
        share(argument, ret->getOperand(output.getInt()), at);
      }
    for (auto [i, value] : llvm::enumerate(ret->getOperands()))
      if (!aliased[i])
        liveness.storages.moveTo(liveness.arrayOf(value), {Place::Output, static_cast<int64_t>(i)});
  }

  func::FuncOp func;
  Liveness &liveness;
};

} // namespace

void shareArrays(func::FuncOp func, Liveness &liveness) { Sharing(func, liveness).run(); }

} // namespace tessera::memory
