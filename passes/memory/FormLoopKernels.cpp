// A loop over scalars and small arrays is one kernel, in place of instructions that call a kernel in
// each trip. Passes.td shows an example.
#include "dialects/exec/ExecOps.h"
#include "dialects/stablehlo/StablehloOps.h"
#include "dialects/stablehlo/TensorTypes.h"
#include "dialects/tessera/GpuTarget.h"
#include "dialects/tessera/Marks.h"
#include "lib/fusion/LoopKernels.h"
#include "passes/OpsWithin.h"
#include "passes/Views.h"
#include "passes/codegen/kernel/KernelWork.h"
#include "passes/codegen/kernel/LoopKernel.h"
#include "passes/memory/InplaceOperands.h"
#include "passes/memory/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/RegionUtils.h"

#include <numeric>

namespace tessera {
#define GEN_PASS_DEF_FORMLOOPKERNELS
#include "passes/memory/Passes.h.inc"

using namespace mlir;
using namespace tessera::stablehlo;

static bool isSmall(Value value) { return byteSize(typeOf(value)) <= codegen::mostBytesOfCarried; }

// The operand that result `i`, a large array, updates where it lies: what the loop carries in its place.
static std::optional<int64_t> updatedState(exec::FusedOp fused, unsigned i) {
  auto loop = dyn_cast<WhileOp>(fused->getParentOp());
  if (!loop || fused->getBlock() != &loop.getBody().front() || !fused.getResult(i).hasOneUse())
    return std::nullopt;
  OpOperand &use = *fused.getResult(i).use_begin();
  int64_t operand = memory::InplaceOperands(fused).updatedBy(i);
  if (operand < 0 || use.getOwner() != fused->getBlock()->getTerminator())
    return std::nullopt;
  Value state = originOf(fused.getInputs()[operand]);
  if (state != loop.getBody().getArgument(use.getOperandNumber()) || !isReadLastBy(state, fused))
    return std::nullopt;
  if (llvm::count_if(fused.getInputs(), [&](Value input) { return originOf(input) == state; }) != 1)
    return std::nullopt;
  return operand;
}

namespace {

struct TripWork {
  double work = 0;
  bool isKnown = true;
};

} // namespace

static void count(Block &block, TripWork &trip);

static void count(exec::FusedOp fused, TripWork &trip) {
  bool isGenerated = llvm::none_of(*fused.getBlock(),
                                   [](Operation &op) { return isa<LibraryCallOpInterface>(op); });
  for (unsigned i = 0; i < fused.getNumResults(); ++i)
    isGenerated &= isSmall(fused.getResult(i)) || updatedState(fused, i);
  if (!isGenerated) {
    trip.isKnown = false;
    return;
  }
  cost::KernelWork work = codegen::workOf(fused);
  double operations = work.flops + work.libraryFlops;
  for (ArrayRef<double> each : {ArrayRef<double>(work.elements), ArrayRef<double>(work.folded),
                                ArrayRef<double>(work.accessed)})
    operations = std::accumulate(each.begin(), each.end(), operations);
  trip.work += fusion::tripWork(operations, std::max(work.bytes(), work.moved));
}

// What `block` does, as far as a kernel can do it.
static void count(Block &block, TripWork &trip) {
  for (Operation &op : block) {
    if (auto fused = dyn_cast<exec::FusedOp>(op))
      count(fused, trip);
    else if (auto branch = dyn_cast<CaseOp>(op)) {
      trip.isKnown &= llvm::all_of(branch.getResults(), isSmall);
      for (Region &region : branch.getBranches())
        count(region.front(), trip);
    } else if (!isa<ReshapeOp, ConstantOp, ReturnOp>(op)) {
      trip.isKnown = false;
    }
  }
}

// Nothing large is handed on but what is updated.
static bool carriesSmall(WhileOp loop) {
  Block &body = loop.getBody().front();
  return llvm::all_of(llvm::enumerate(body.getTerminator()->getOperands()), [&](auto each) {
    auto fused = each.value().template getDefiningOp<exec::FusedOp>();
    return isSmall(each.value()) ||
           (fused && updatedState(fused, cast<OpResult>(each.value()).getResultNumber()));
  });
}

static std::optional<fusion::LoopKernel> kernelOf(WhileOp loop) {
  TripWork trip;
  count(loop.getCond().front(), trip);
  count(loop.getBody().front(), trip);
  if (!trip.isKnown || !carriesSmall(loop))
    return std::nullopt;
  return fusion::loopKernelOf(trip.work, getTripCount(loop));
}

// Kernels of the trips write large arrays where they lie; constants are arrays that the kernel reads.
static void prepare(WhileOp loop) {
  loop.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isa<ConstantOp>(op))
      op->moveBefore(loop);
    auto fused = dyn_cast<exec::FusedOp>(op);
    if (!fused)
      return WalkResult::advance();
    SmallVector<int64_t> inplace(fused.getNumResults(), -1);
    for (unsigned i = 0; i < fused.getNumResults(); ++i)
      if (!isSmall(fused.getResult(i)))
        inplace[i] = updatedState(fused, i).value_or(-1);
    if (llvm::any_of(inplace, [](int64_t operand) { return operand >= 0; }))
      fused.setInplace(inplace);
    return WalkResult::skip();
  });
}

static Value scalar(OpBuilder &b, Location loc, int32_t number) {
  auto type = RankedTensorType::get({}, b.getI32Type());
  return ConstantOp::create(b, loc, DenseElementsAttr::get(type, number));
}

// A kernel of two scalars; `compute` makes its result of them.
static Value computed(OpBuilder &b, Location loc, Type type, ValueRange inputs,
                      llvm::function_ref<Value(OpBuilder &, ValueRange)> compute) {
  auto fused = exec::FusedOp::create(b, loc, type, inputs, nullptr, nullptr);
  OpBuilder inside(b.getContext());
  Block *body = inside.createBlock(&fused.getBody(), {}, inputs.getTypes(),
                                   SmallVector<Location>(inputs.size(), loc));
  exec::YieldOp::create(inside, loc, compute(inside, body->getArguments()));
  return fused.getResult(0);
}

// At most so many trips more: what `loop` carries last counts them.
static void limitTrips(WhileOp loop, int64_t most) {
  Location loc = loop.getLoc();
  Block &condition = loop.getCond().front(), &body = loop.getBody().front();
  OpBuilder b(condition.getTerminator());
  Value goesOn = condition.getTerminator()->getOperand(0), made = condition.getArguments().back();
  condition.getTerminator()->setOperand(
      0, computed(b, loc, goesOn.getType(), {goesOn, made}, [&](OpBuilder &b, ValueRange values) {
        Value isBelow = CompareOp::create(b, loc, values[1], scalar(b, loc, int32_t(most)),
                                          ComparisonDirection::LT, ComparisonType::SIGNED);
        return AndOp::create(b, loc, values[0], isBelow).getResult();
      }));
  b.setInsertionPoint(body.getTerminator());
  Value trip = body.getArguments().back();
  Value next = computed(b, loc, trip.getType(), trip, [&](OpBuilder &b, ValueRange values) {
    return AddOp::create(b, loc, values[0], scalar(b, loc, 1)).getResult();
  });
  Operation *yield = body.getTerminator();
  yield->insertOperands(yield->getNumOperands(), next);
}

// A kernel before the loop that runs it from `initial` on; its results are what the loop's are.
static exec::FusedOp makeKernel(WhileOp loop, ValueRange initial,
                                const fusion::LoopKernel &kernel) {
  Location loc = loop.getLoc();
  OpBuilder b(loop);
  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove(loop->getRegions(), captured);
  SmallVector<Value> inputs(initial);
  llvm::append_range(inputs, captured);
  Value zero; // trips that are done, where others may be left
  if (kernel.runs != 1) {
    zero = scalar(b, loc, 0);
    inputs.push_back(zero);
  }
  auto fused = exec::FusedOp::create(b, loc, loop.getResultTypes(), inputs, nullptr, nullptr);
  OpBuilder inside(b.getContext());
  Block *body = inside.createBlock(&fused.getBody(), {}, ValueRange(inputs).getTypes(),
                                   SmallVector<Location>(inputs.size(), loc));
  IRMapping mapping;
  SmallVector<Value> carried(body->getArguments().take_front(initial.size()));
  for (auto [value, argument] :
       llvm::zip(captured, body->getArguments().drop_front(initial.size())))
    mapping.map(value, argument);
  if (zero)
    carried.push_back(body->getArguments().back());
  auto made = WhileOp::create(inside, loc, ValueRange(carried).getTypes(), carried);
  loop.getCond().cloneInto(&made.getCond(), mapping);
  loop.getBody().cloneInto(&made.getBody(), mapping);
  if (zero) {
    made.getCond().front().addArgument(zero.getType(), loc);
    made.getBody().front().addArgument(zero.getType(), loc);
    limitTrips(made, kernel.trips);
  }
  if (kernel.runs)
    setTripCount(made, kernel.trips);
  exec::YieldOp::create(inside, loc, made->getResults().take_front(initial.size()));
  return fused;
}

static void form(WhileOp loop, const fusion::LoopKernel &kernel) {
  prepare(loop);
  if (kernel.isWhole) {
    exec::FusedOp fused = makeKernel(loop, loop->getOperands(), kernel);
    loop->replaceAllUsesWith(fused.getResults());
    loop.erase();
    return;
  }
  Block &body = loop.getBody().front();
  exec::FusedOp fused = makeKernel(loop, body.getArguments(), kernel);
  fused->moveBefore(body.getTerminator());
  body.getTerminator()->setOperands(fused.getResults());
  while (&body.front() != fused.getOperation()) // what reads another comes behind it
    fused->getPrevNode()->erase();
  setTripCount(loop, kernel.runs);
}

namespace {
struct FormLoopKernels : impl::FormLoopKernelsBase<FormLoopKernels> {
  void runOnOperation() override {
    if (isForGpu(getOperation()))
      return;
    for (auto func : getOperation().getOps<func::FuncOp>()) // kernels are there of device programs
      for (WhileOp loop : opsWithin<WhileOp>(func))         // inner ones first
        if (std::optional<fusion::LoopKernel> kernel = kernelOf(loop))
          form(loop, *kernel);
  }
};
} // namespace
} // namespace tessera
