// Checks the program on buffers by its instructions alone. Passes.td shows an example.
#include "dialects/exec/ExecOps.h"
#include "dialects/tessera/KnownAttributes.h"
#include "passes/memory/BufferRanges.h"
#include "passes/memory/Passes.h"
#include "passes/memory/WrittenArrays.h"

#include <map>
#include <set>

namespace tessera {
#define GEN_PASS_DEF_VERIFYMEMORY
#include "passes/memory/Passes.h.inc"

using namespace mlir;
using namespace tessera::exec;

namespace {

using Range = memory::ByteRange;
using Written = memory::WrittenArrays;

class Checker {
public:
  Checker(ProgramOp program, const SymbolTable &symbols) : program(program), symbols(symbols) {}

  LogicalResult run() {
    Written written;
    for (auto [i, attr] : llvm::enumerate(program.getInputs())) {
      Range range{2 + 2 * static_cast<int64_t>(i), 0,
                  byteSize(cast<ParameterAttr>(attr).getLocal())};
      written.add(range);
      if (!cast<ParameterAttr>(attr).getDonated())
        fixed.insert(range.space);
    }
    fixed.insert(1);
    for (auto function : program.getBlock()->getOps<FunctionOp>())
      if (failed(checkFunction(function, written)))
        return failure();
    if (failed(check(*program.getBlock(), written)))
      return failure();
    if (!flying.empty())
      return program.emitOpError("ends without an exec.wait ") << flying.begin()->first;
    for (auto [i, attr] : llvm::enumerate(program.getOutputs()))
      if (!written.has({outputSpace(i), 0, byteSize(cast<ParameterAttr>(attr).getLocal())}))
        return program.emitOpError("does not write all of output ") << i;
    return success();
  }

private:
  LogicalResult checkFunction(FunctionOp function, const Written &given) {
    Written written = given;
    auto whole = [&](int64_t i) { return Range{-3 - i, 0, byteSize(function.getArgumentType(i))}; };
    inFunction = true;
    auto reads = static_cast<int64_t>(function.getReads().size());
    for (int64_t i = 0; i < reads; ++i) {
      written.add(whole(i));
      fixed.insert(whole(i).space);
    }
    touched.clear();
    if (failed(check(*function.getBlock(), written)))
      return failure();
    if (!flying.empty())
      return function.emitOpError("ends without an exec.wait ") << flying.begin()->first;
    for (int64_t i = reads; i < function.getNumArguments(); ++i)
      if (!written.has(whole(i)))
        return function.emitOpError("does not write all of argument ") << i;
    for (int64_t i = 0; i < reads; ++i)
      fixed.erase(whole(i).space);
    functions[function.getSymName()] = std::move(touched);
    inFunction = false;
    return success();
  }

  // What is under way must not be touched by what the function writes for itself.
  LogicalResult checkCall(CallOp op, Written &written) {
    auto known = functions.find(op.getFunction());
    if (known == functions.end())
      return op.emitOpError("calls @")
             << op.getFunction() << "; a function calls only those before it";
    for (auto [i, output] : llvm::enumerate(op.getWrites()))
      for (auto [j, other] : llvm::enumerate(op->getOperands()))
        if (j != op.getReads().size() + i && rangeOf(other).overlaps(rangeOf(output)))
          return op.emitOpError("gives the same bytes to be written and for something else");
    if (failed(readAll(op, op.getReads(), written)))
      return failure();
    for (const Range &range : known->second) {
      for (Value operand : op->getOperands())
        if (rangeOf(operand).overlaps(range))
          return op.emitOpError("gives bytes [") << range.begin << ", " << range.end << "), which @"
                                                 << op.getFunction() << " writes for itself";
      if (failed(write(op, range, written)))
        return failure();
      written.remove(range); // nothing that its caller may read
    }
    return writeAll(op, op.getWrites(), written);
  }

  int64_t outputSpace(int64_t i) { return memory::outputSpace(program, i); }
  Range rangeOf(Value buffer) { return memory::rangeOf(program, buffer); }

  bool isOnHost(Value buffer) {
    auto op = buffer.getDefiningOp<BufferOp>();
    auto isHost = [&](ArrayAttr parameters) {
      return cast<ParameterAttr>(parameters[op.getIndex()]).getMemory() == Memory::Host;
    };
    return op.getSpace() == Space::HostArena ||
           (op.getSpace() == Space::Input && isHost(program.getInputs())) ||
           (op.getSpace() == Space::Output && isHost(program.getOutputs()));
  }

  LogicalResult read(Operation *op, Value buffer, const Written &written) {
    Range range = rangeOf(buffer);
    bool isConstant = range.space == 1, mayBePart = isOnHost(buffer); // rows that are repeated
    if (!isConstant && !written.has(range) && !(mayBePart && written.hasAround(range)))
      return op->emitOpError("reads bytes [")
             << range.begin << ", " << range.end << ") that nothing has written";
    for (auto &[site, flight] : flying)
      for (const Range &result : flight.results)
        if (result.overlaps(range))
          return op->emitOpError("reads the result of site ") << site << " before its exec.wait";
    return success();
  }

  LogicalResult write(Operation *op, Value buffer, Written &written) {
    return write(op, rangeOf(buffer), written);
  }

  LogicalResult write(Operation *op, const Range &range, Written &written) {
    if (inFunction && range.space > -3)
      touched.push_back(range);
    if (fixed.contains(range.space) && range.begin != range.end)
      return op->emitOpError("writes ") << (range.space == 1    ? "the constants"
                                            : range.space <= -3 ? "an argument that it reads"
                                                                : "an input that is not donated");
    for (auto &[site, flight] : flying) {
      for (const Range &operand : flight.operands)
        if (operand.overlaps(range))
          return op->emitOpError("overwrites an operand of site ")
                 << site << " before its exec.wait";
      for (const Range &result : flight.results)
        if (result.overlaps(range))
          return op->emitOpError("overwrites the result of site ")
                 << site << " before its exec.wait";
    }
    written.add(range);
    return success();
  }

  LogicalResult readAll(Operation *op, ValueRange buffers, const Written &written) {
    return success(llvm::all_of(buffers, [&](Value v) { return succeeded(read(op, v, written)); }));
  }
  LogicalResult writeAll(Operation *op, ValueRange buffers, Written &written) {
    return success(
        llvm::all_of(buffers, [&](Value v) { return succeeded(write(op, v, written)); }));
  }

  LogicalResult checkDispatch(DispatchOp op) {
    auto kernel = symbols.lookup<KernelOp>(op.getKernel());
    if (!kernel)
      return op.emitOpError("names no exec.kernel");
    auto typesOf = [](ValueRange buffers) {
      return llvm::map_to_vector(
          buffers, [](Value v) -> Type { return v.getDefiningOp<BufferOp>().getTensorType(); });
    };
    if (TypeRange(typesOf(op.getInputs())) != kernel.getInputTypes() ||
        TypeRange(typesOf(op.getOutputs())) != kernel.getOutputTypes())
      return op.emitOpError("passes buffers of other types than @") << op.getKernel() << " has";
    SmallVector<Range> outputs;
    for (auto [i, output] : llvm::enumerate(op.getOutputs())) {
      Range range = rangeOf(output);
      for (const Range &other : outputs)
        if (other.overlaps(range))
          return op.emitOpError("writes two outputs to the same bytes");
      for (auto [j, input] : llvm::enumerate(op.getInputs())) {
        Range from = rangeOf(input);
        if (from.overlaps(range) &&
            !(from == range && kernel.inplaceOperand(i) == static_cast<int64_t>(j)))
          return op.emitOpError("writes output ")
                 << i << " over input " << j << ", which it still reads";
      }
      outputs.push_back(range);
    }
    return success();
  }

  // Peers read operands while results are written: only an all-reduce may use one array for both.
  LogicalResult checkStart(StartOp op) {
    for (auto [i, to] : llvm::enumerate(op.getTo())) {
      Range range = rangeOf(to);
      for (Value other : op.getTo().take_front(i))
        if (rangeOf(other).overlaps(range))
          return op.emitOpError("writes two results to the same bytes");
      for (auto [j, from] : llvm::enumerate(op.getFrom()))
        if (rangeOf(from).overlaps(range) &&
            !(op.getKind() == CollectiveKind::AllReduce && i == j && rangeOf(from) == range))
          return op.emitOpError("writes result ")
                 << i << " over operand " << j << ", which others still read";
    }
    return success();
  }

  LogicalResult check(Block &block, Written &written) {
    for (Operation &op : block) {
      if (isa<BufferOp, exec::ConstantOp, FunctionOp>(op))
        continue;
      if (auto dispatch = dyn_cast<DispatchOp>(op)) {
        if (failed(checkDispatch(dispatch)) ||
            failed(readAll(&op, dispatch.getInputs(), written)) ||
            failed(checkScratch(dispatch, written)) ||
            failed(writeAll(&op, dispatch.getOutputs(), written)))
          return failure();
      } else if (auto start = dyn_cast<StartOp>(op)) {
        if (failed(checkStart(start)) || failed(readAll(&op, start.getFrom(), written)) ||
            failed(writeAll(&op, start.getTo(), written)))
          return failure();
        begin(start.getSite(), start.getFrom(), start.getTo());
      } else if (auto send = dyn_cast<SendOp>(op)) {
        if (failed(read(&op, send.getFrom(), written)))
          return failure();
        begin(send.getSite(), send.getFrom(), {});
      } else if (auto receive = dyn_cast<ReceiveOp>(op)) {
        if (failed(write(&op, receive.getTo(), written)))
          return failure();
        begin(receive.getSite(), {}, receive.getTo());
      } else if (auto copy = dyn_cast<CopyStartOp>(op)) {
        // Of an array that a part of is written, the rest stays.
        if (failed(read(&op, copy.getFrom(), written)) ||
            (copy.getIndex() && failed(read(&op, copy.getIndex(), written))) ||
            (writesPart(copy) && failed(read(&op, copy.getTo(), written))) ||
            failed(write(&op, copy.getTo(), written)))
          return failure();
        begin(copy.getSite(), copy.getFrom(), copy.getTo());
      } else if (auto call = dyn_cast<CallOp>(op)) {
        if (failed(checkCall(call, written)))
          return failure();
      } else if (auto wait = dyn_cast<WaitOp>(op)) {
        if (!flying.erase(wait.getSite()))
          return wait.emitOpError("waits for a site that is not under way");
      } else if (auto copy = dyn_cast<CopyOp>(op)) {
        if (failed(read(&op, copy.getFrom(), written)) || failed(write(&op, copy.getTo(), written)))
          return failure();
      } else if (auto coordinate = dyn_cast<CoordinateOp>(op)) {
        if (failed(write(&op, coordinate.getTo(), written)))
          return failure();
      } else if (auto loop = dyn_cast<LoopOp>(op)) {
        if (failed(checkLoop(loop, written)))
          return failure();
      } else if (auto branch = dyn_cast<BranchOp>(op)) {
        if (failed(read(&op, branch.getIndex(), written)))
          return failure();
        std::vector<Written::Changes> ways;
        for (Region &region : branch.getBlocks()) {
          size_t before = written.mark();
          if (failed(check(region.front(), written)))
            return failure();
          ways.push_back(written.takeBack(before));
        }
        written.join(ways);
      } else {
        return op.emitOpError("is no instruction");
      }
    }
    return success();
  }

  // Written over, with nothing in it that anybody may read.
  LogicalResult checkScratch(DispatchOp op, Written &written) {
    auto kernel = symbols.lookup<KernelOp>(op.getKernel());
    if (!op.getScratchAt() || !kernel)
      return success();
    auto begin = static_cast<int64_t>(*op.getScratchAt());
    int64_t space = 0;
    if (std::optional<Space> in = op.getScratchIn()) {
      auto index = static_cast<int64_t>(op.getScratchIndex());
      space = *in == Space::Output ? outputSpace(index) : 2 + 2 * index;
    }
    Range scratch{space, begin, begin + static_cast<int64_t>(kernel.getScratchBytes().value_or(0))};
    for (Value operand : op->getOperands())
      if (rangeOf(operand).overlaps(scratch))
        return op.emitOpError("has scratch where an operand lies");
    if (failed(write(op, scratch, written)))
      return failure();
    written.remove(scratch);
    return success();
  }

  static bool writesPart(CopyStartOp copy) {
    auto bytes = [](Value buffer) { return buffer.getDefiningOp<BufferOp>().getBytes(); };
    return copy.getIndex() && bytes(copy.getFrom()) < bytes(copy.getTo());
  }

  void begin(int64_t site, ValueRange from, ValueRange to) {
    Flight &flight = flying[site];
    for (Value buffer : from)
      flight.operands.push_back(rangeOf(buffer));
    for (Value buffer : to)
      flight.results.push_back(rangeOf(buffer));
  }

  // The body is executed twice: what it writes over must not be what the next trip reads. Inside of
  // a second trip, once: an inner loop's own trips have been looked at in the first.
  LogicalResult checkLoop(LoopOp loop, Written &written) {
    auto test = [&] {
      if (!loop.getPredicate())
        return success();
      return success(succeeded(check(loop.getCondition().front(), written)) &&
                     succeeded(read(loop, loop.getPredicate(), written)));
    };
    if (failed(test()))
      return failure();
    std::optional<int64_t> trips = loop.getTripCount();
    std::vector<Written::Changes> ways; // by which the loop may be left
    if (trips.value_or(0) == 0)
      ways.emplace_back();
    size_t before = written.mark();
    if (failed(check(loop.getBody().front(), written)) || failed(test()))
      return failure();
    size_t afterOne = written.mark();
    if (!inSecondTrip && trips.value_or(2) > 1) {
      inSecondTrip = true;
      LogicalResult again = check(loop.getBody().front(), written);
      inSecondTrip = false;
      if (failed(again))
        return failure();
      written.takeBack(afterOne);
    }
    ways.push_back(written.takeBack(before));
    written.join(ways);
    return success();
  }

  struct Flight {
    SmallVector<Range> operands, results;
  };

  ProgramOp program;
  const SymbolTable &symbols;
  std::map<int64_t, Flight> flying;
  std::set<int64_t> fixed; // spaces that nobody writes
  bool inFunction = false;
  std::vector<Range> touched; // what the function that is being checked writes beside its arguments
  std::map<StringRef, std::vector<Range>> functions; // the same, of those before
  bool inSecondTrip = false;
};

struct VerifyMemory : impl::VerifyMemoryBase<VerifyMemory> {
  void runOnOperation() override {
    if (failed(verifyAttributes(getOperation())))
      return signalPassFailure();
    SymbolTable symbols(getOperation());
    for (auto program : getOperation().getOps<ProgramOp>())
      if (failed(program.verify()) || failed(Checker(program, symbols).run()))
        return signalPassFailure();
  }
};

} // namespace
} // namespace tessera
