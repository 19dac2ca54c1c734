#include "passes/codegen/kernel/KernelWork.h"

#include "dialects/exec/ExecOps.h"
#include "dialects/interfaces/ArrayBytes.h"
#include "dialects/stablehlo/StablehloOps.h"
#include "dialects/stablehlo/TensorTypes.h"
#include "passes/codegen/kernel/ElementWork.h"
#include "passes/codegen/kernel/GradientWork.h"
#include "passes/codegen/kernel/LibraryCall.h"
#include "passes/codegen/kernel/LoopKernel.h"
#include "passes/codegen/kernel/NestParts.h"
#include "passes/codegen/kernel/NestWork.h"
#include "passes/codegen/kernel/OutputNests.h"
#include "passes/codegen/kernel/Partition.h"
#include "passes/codegen/kernel/RunningLoops.h"
#include "passes/codegen/kernel/SortOrder.h"
#include "passes/codegen/kernel/WorkMemo.h"

#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallSet.h"

#include <cmath>

namespace tessera::codegen {

using cost::Access;
using cost::ElementClass;
using cost::KernelWork;

// An output that writes a part of an array in place writes that part only.
static mlir::Value updateOf(const KernelSource &kernel, unsigned output) {
  if (llvm::is_contained(kernel.apart, output))
    return {};
  auto op = kernel.outputs()[output].getDefiningOp<stablehlo::DynamicUpdateSliceOp>();
  bool isInPlace = op && mlir::isa<mlir::BlockArgument>(op->getOperand(0));
  return isInPlace ? op->getOperand(1) : mlir::Value();
}

static double elementsOf(mlir::Value value) {
  auto type = mlir::dyn_cast<mlir::RankedTensorType>(value.getType());
  return type && type.hasStaticShape() ? double(type.getNumElements()) : 0;
}

// Outputs that are functions of an index. False where no code can be generated for them.
static bool countNests(const KernelSource &kernel, KernelWork &work) {
  llvm::SmallVector<llvm::SmallVector<unsigned>> nests;
  llvm::SmallVector<unsigned> whole;
  for (unsigned i = 0; i < kernel.outputs().size(); ++i)
    if (updateOf(kernel, i))
      nests.push_back({i});
    else
      whole.push_back(i);
  size_t updates = nests.size();
  llvm::append_range(nests, outputNests(kernel, whole));
  work.arrays.resize(kernel.body->getNumArguments());
  llvm::SmallSet<unsigned, 4> inStrips, inLoops, inBlocks; // outputs
  for (auto [i, outputs] : llvm::enumerate(nests)) {
    NestGraph nest(kernel, outputs, /*update=*/i < updates);
    if (elementsOf(kernel.outputs()[outputs[0]]) == 0)
      continue;
    if (!nest.build() || !nest.writeOutColumns())
      return false;
    KernelWork own;
    std::vector<Box> boxes = boxesOf(nest);
    for (size_t box = 0; box < std::max<size_t>(boxes.size(), 1); ++box) {
      if (!boxes.empty() && !nest.rebuild(boxes[box]))
        return false;
      NestWrites writes = countNest(nest, own, work.arrays);
      if (writes.strips)
        inStrips.insert(outputs.begin(), outputs.end());
      if (writes.blocks)
        inBlocks.insert(outputs.begin(), outputs.end());
    }
    if (own.products.empty())
      inLoops.insert(outputs.begin(), outputs.end());
    if (own.products.empty() && own.grid == 1)
      own.grid = double(partitionWork(nest.gridLoops(), own).cells);
    work += own;
  }
  for (auto [i, argument] : llvm::enumerate(kernel.body->getArguments()))
    work.arrays[i].bytes = std::min(work.arrays[i].bytes, bytesOf(argument));
  for (auto [i, output] : llvm::enumerate(kernel.outputs())) {
    mlir::Value update = updateOf(kernel, i);
    cost::Touched &array = work.arrays.emplace_back();
    array.bytes = bytesOf(update ? update : output);
    array.inStrips = inStrips.contains(i);
    array.isWritten = true;
    array.pastCaches =
        inLoops.contains(i) && !update && kernel.inplaceOf(i) < 0 &&
        array.bytes >= double(inBlocks.contains(i) ? leastStreamedBlocks : leastStreamed);
  }
  return true;
}

// An operation on one element, so many times.
static void countElement(mlir::Operation *op, double times, KernelWork &work) {
  std::optional<Op> code = elementwiseOp(op);
  std::optional<ElementType> type =
      op->getNumResults() ? elementType(op->getResult(0).getType()) : std::nullopt;
  if (!code || !type)
    return;
  Node node{.id = 0, .op = *code, .kind = type->kind, .operands = {}};
  Node operand{.id = 0, .op = Op::Constant, .kind = type->kind, .operands = {}};
  if (auto from = elementType(op->getOperand(0).getType()))
    operand.kind = from->kind;
  node.operands.assign(op->getNumOperands(), &operand);
  countOperation(&node, times, work);
  if (countsAsFlop(&node))
    work.flops += times;
}

// What is fused with an operation that is no function of an index, and what moves between arrays.
static void countElementwise(const KernelSource &kernel, KernelWork &work) {
  for (mlir::Operation &op : *kernel.body)
    if (op.getNumResults())
      countElement(&op, elementsOf(op.getResult(0)), work);
  for (mlir::Value argument : kernel.body->getArguments())
    work.arrays.push_back({bytesOf(argument)});
  for (mlir::Value output : kernel.outputs())
    work.arrays.push_back({bytesOf(output)});
}

// By keys each element moves once for each of their digits, however many there are; merged ones take
// some three times as long in each pass.
static void countSort(const KernelSource &kernel, stablehlo::SortOp op, KernelWork &work) {
  auto shape = shapeOf(op->getOperand(0));
  auto dimension = static_cast<int64_t>(op.getDimension());
  if (dimension < 0)
    dimension += static_cast<int64_t>(shape.size());
  double size = double(shape[dimension]), elements = elementsOf(op->getOperand(0));
  double columns = op->getNumOperands();
  double steps =
      double(std::distance(op.getComparator().front().begin(), op.getComparator().front().end()));
  if (std::optional<SortOrder> order = sortOrderOf(op)) {
    bool takesFirst = order->takesFirst(shape[dimension], sortedRowsOf(kernel, op));
    work.of(ElementClass::Arithmetic) += elements * (steps / 2 + 6);
    work.of(Access::Sorted) += takesFirst ? 0 : elements * (double(order->keyBits()) / 8 + columns);
  } else {
    double passes = std::ceil(std::log2(std::max(size, 1.0)));
    work.of(Access::Sorted) += 3 * elements * (passes + 1) * columns;
    work.of(ElementClass::Arithmetic) += elements * passes * steps;
  }
  work.grid = std::max(1.0, size > 0 ? elements / size : 1);
}

// Two combinations an element: with what its block has before it, and with what came before the block.
static void countRunning(stablehlo::ReduceWindowOp op, const RunningLoops &loops,
                         KernelWork &work) {
  double elements = double(loops.outer * loops.size * loops.inner);
  for (mlir::Value value : op->getResults()) {
    auto type = elementType(value.getType());
    double bytes = type ? double(type->bytes()) : 4;
    work.moved += (loops.inner > 1 ? 5 : 2) * bytes * elements;
    if (loops.inner == 1)
      work.of(Access::Turned) += 2 * elements;
  }
  for (mlir::Operation &step : op.getBody().front().without_terminator())
    countElement(&step, 2 * elements, work);
  work.grid = double(loops.cells());
}

// Of each row of updates the place is found; what lies side by side in it is added by vectors, of which
// one takes about two rows' time.
static void countScatter(stablehlo::ScatterOp op, KernelWork &work) {
  constexpr double rowsOfVector = 2, lanesOfVector = 16;
  unsigned count = op->getNumResults();
  auto numbers = op.getScatterDimensionNumbers();
  for (unsigned i = 0; i < count; ++i) {
    mlir::Value operand = op->getOperand(i), update = op->getOperand(count + 1 + i);
    int64_t last = int64_t(shapeOf(update).size()) - 1;
    double elements = elementsOf(update);
    auto type = elementType(update.getType());
    double bytes = type ? double(type->bytes()) : 4;
    bool isWindow = llvm::is_contained(numbers.getUpdateWindowDims(), last);
    double rows = isWindow ? elements / std::max(double(shapeOf(update)[last]), 1.0) : elements;
    work.of(Access::Scattered) += rows;
    if (isWindow) {
      work.moved += 3 * bytes * elements;
      work.of(Access::Scattered) += rowsOfVector * elements * (bytes / 4) / lanesOfVector;
    }
    if (type && isFloat(type->kind))
      work.flops += elements;
    work.moved += 2 * bytesOf(operand);
  }
}

// Positions of a window are compared one by one, where the best of them is added to.
static void countSelectAndScatter(stablehlo::SelectAndScatterOp op, KernelWork &work) {
  double window = 1;
  if (auto sizes = op.getWindowDimensions())
    for (int64_t size : *sizes)
      window *= double(size);
  double elements = elementsOf(op->getOperand(1));
  work.of(Access::Scattered) += elements * (window + 1);
  work.flops += elements * window;
  work.moved += bytesOf(op->getResult(0));
}

// What arrays' sizes tell.
static KernelWork workOfArrays(const KernelSource &kernel) {
  KernelWork work;
  countElementwise(kernel, work);
  work.moved = work.bytes();
  return work;
}

static std::optional<KernelWork> workOfWhole(const KernelSource &kernel) {
  for (mlir::Operation &op : *kernel.body) {
    KernelWork work;
    if (auto sort = mlir::dyn_cast<stablehlo::SortOp>(op))
      countSort(kernel, sort, work);
    else if (auto scatter = mlir::dyn_cast<stablehlo::ScatterOp>(op))
      countScatter(scatter, work);
    else if (auto select = mlir::dyn_cast<stablehlo::SelectAndScatterOp>(op))
      countSelectAndScatter(select, work);
    else if (auto window = mlir::dyn_cast<stablehlo::ReduceWindowOp>(op);
             auto loops = window ? runningLoopsOf(window) : std::nullopt)
      countRunning(window, *loops, work);
    else
      continue;
    countElementwise(kernel, work);
    return work;
  }
  return std::nullopt;
}

// Kernels of several products: of attention, or its gradient. Empty for others.
static std::optional<KernelWork> workOfProducts(const KernelSource &kernel) {
  if (llvm::range_size(kernel.body->getOps<stablehlo::DotGeneralOp>()) < 2)
    return std::nullopt;
  JointNests nests(kernel);
  if (!nests.build())
    return std::nullopt;
  KernelWork work;
  std::string why;
  if (auto attention = findAttention(nests, why))
    countAttention(*nests.nests.front(), *attention, work);
  else if (auto gradient = findGradient(nests, why))
    work = workOf(nests, *gradient);
  else
    return std::nullopt;
  for (mlir::Value argument : kernel.body->getArguments())
    work.arrays.push_back({bytesOf(argument)});
  for (mlir::Value output : kernel.outputs())
    work.arrays.push_back({bytesOf(output), /*inStrips=*/false, /*isWritten=*/true});
  return work;
}

static KernelWork countedWork(const KernelSource &kernel) {
  // Whoever generates the code says what is wrong.
  mlir::ScopedDiagnosticHandler silent(kernel.body->getParentOp()->getContext(),
                                       [](mlir::Diagnostic &) { return mlir::success(); });
  if (LibraryCallOpInterface called = libraryOperation(*kernel.body)) {
    KernelWork work = workOfArrays(kernel);
    if (mlir::FailureOr<LibraryCall> call = called.getLibraryCall(); succeeded(call)) {
      work.libraryFlops = work.flops = call->flops;
      work.grid = double(call->grid);
    }
    return work;
  }
  if (stablehlo::WhileOp loop = loopOf(kernel))
    return workOfLoop(kernel, loop);
  if (std::optional<KernelWork> whole = workOfWhole(kernel))
    return *whole;
  if (std::optional<KernelWork> products = workOfProducts(kernel))
    return *products;
  KernelWork work;
  return countNests(kernel, work) ? work : workOfArrays(kernel);
}

KernelWork workOf(const KernelSource &kernel) {
  return WorkMemo::recall(kernel, [&] { return countedWork(kernel); });
}

KernelWork workOf(mlir::Operation *op, llvm::ArrayRef<unsigned> apart) {
  KernelSource kernel{"", &op->getRegion(0).front(), {}};
  kernel.apart.assign(apart.begin(), apart.end());
  if (auto fused = mlir::dyn_cast<exec::FusedOp>(op))
    if (auto inplace = fused.getInplace())
      kernel.inplace.assign(inplace->begin(), inplace->end());
  if (auto named = mlir::dyn_cast<exec::KernelOp>(op)) {
    kernel.mostScratch = static_cast<int64_t>(named.getMostScratch().value_or(0));
    if (auto inplace = named.getInplace())
      kernel.inplace.assign(inplace->begin(), inplace->end());
  }
  return workOf(kernel);
}

} // namespace tessera::codegen
