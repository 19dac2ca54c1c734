// Which ops of the program run together in kernels, as they would on one device, and what those read
// and write. The fuse phase forms them, in a copy; what moves between devices is not known yet, and
// would divide some of them.
#include "passes/plan/PlanProgram.h"

#include "dialects/interfaces/ArrayBytes.h"
#include "dialects/stablehlo/StablehloOps.h"
#include "dialects/stablehlo/TensorTypes.h"
#include "dialects/tessera/Marks.h"
#include "lib/cost/KernelTerms.h"
#include "lib/plan/Folded.h"
#include "passes/codegen/kernel/KernelWork.h"
#include "passes/fuse/FormKernels.h"
#include "passes/fuse/Passes.h"
#include "passes/plan/KernelReuse.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/SetVector.h"
#include <map>

namespace tessera {

using namespace mlir;
using fusion::NodeKind;
using plan::OpFacts;
using sharding::PropagatedOp;

namespace {

double elementsOf(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.hasStaticShape() ? double(type.getNumElements()) : 1;
}

// How much of an operand is touched.
double shareRead(Operation *op, NodeKind kind, unsigned operand) {
  if (operand > 0)
    return 1;
  if (kind == NodeKind::Update)
    return 0;
  if (kind == NodeKind::Slice || isa<stablehlo::GatherOp>(op))
    return std::min(1.0,
                    elementsOf(op->getResult(0)) / std::max(elementsOf(op->getOperand(0)), 1.0));
  return 1;
}

double shareWritten(Operation *op, NodeKind kind) {
  if (kind != NodeKind::Update)
    return 1;
  return std::min(1.0, elementsOf(op->getOperand(1)) / std::max(elementsOf(op->getResult(0)), 1.0));
}

bool computesFloats(Operation *op, NodeKind kind) {
  if (kind == NodeKind::Pointwise)
    return !isa<stablehlo::SelectOp>(op) &&
           isa<FloatType, ComplexType>(getElementTypeOrSelf(op->getResult(0)));
  return kind == NodeKind::Reduce || kind == NodeKind::Contraction || kind == NodeKind::Alone;
}

// What the op's kernel computes for it: of a convolution also what falls on padding, where its kernel
// does not leave that out.
double flopsInKernel(Operation *op, const PropagatedOp &ruled, const cost::KernelWork &work) {
  if (!isa<stablehlo::ConvolutionOp>(op) || work.products.empty())
    return ruled.flops;
  double flops = 0;
  for (const cost::Product &product : work.products)
    flops += product.flops();
  return flops;
}

// Whether a kernel with such a node reads its operands elsewhere than where it writes.
bool mixesPlaces(NodeKind kind) {
  return kind == NodeKind::Contraction || kind == NodeKind::Reduce || kind == NodeKind::Transpose ||
         kind == NodeKind::Movement || kind == NodeKind::Slice || kind == NodeKind::Alone;
}

} // namespace

// Ops of the formed copy have it in their locations, which rewrites hand on to what they make, with the
// number of the op of the graph.
static constexpr llvm::StringLiteral kOp = "op";

static void setIndex(Operation *op, int32_t index) {
  auto name = StringAttr::get(op->getContext(), kOp);
  op->setLoc(FileLineColLoc::get(name, unsigned(index), 0));
}

static int32_t indexOf(Operation *op) {
  int32_t index = -1;
  auto isIt = [&](Location location) {
    auto line = dyn_cast<FileLineColLoc>(location);
    if (!line || line.getColumn() != 0 || line.getFilename() != kOp)
      return false;
    index = int32_t(line.getLine());
    return true;
  };
  if (!isIt(op->getLoc())) // most are as they were set
    op->getLoc()->walk([&](Location location) {
      return isIt(location) ? WalkResult::interrupt() : WalkResult::advance();
    });
  return index;
}

// As localize and fuse leave a program of one device. What cannot be formed is an error of the road,
// which says so. Of a program that is folded nothing is simplified before kernels are formed: it takes
// long, and equal layers are found by their kernels.
OwningOpRef<ModuleOp> PlanProgram::formedCopy() {
  MLIRContext *context = copy->getContext();
  ScopedDiagnosticHandler silent(context, [](Diagnostic &) { return success(); });
  IRMapping mapping;
  OwningOpRef<ModuleOp> formed = cast<ModuleOp>(copy->getOperation()->clone(mapping));
  formed->walk([&](Operation *op) { op->setLoc(UnknownLoc::get(context)); });
  for (size_t index = 0; index < program.ops.size(); ++index)
    if (!program.ops[index].moves)
      setIndex(mapping.lookup(graph->opAt(int32_t(index))), int32_t(index));
  PassManager passes(context);
  passes.enableVerifier(false); // the phases verify themselves
  if (program.ops.size() <= plan::kMostUnfolded) {
    passes.addPass(createCSEPass());
    buildBeforeRematerialize(passes);
  }
  if (failed(passes.run(*formed)) || failed(fuse::formAllKernels(*formed)))
    return {};
  return formed;
}

void PlanProgram::findKernels() {
  const auto &ops = program.graph.ops;
  viewed.assign(program.values.size(), -1);
  for (size_t index = 0; index < ops.size(); ++index) {
    OpFacts &facts = program.ops[index];
    endOf.push_back(int32_t(index));
    facts.reads.assign(ops[index].operands.size(), 0);
    facts.writes.assign(ops[index].results.size(), 0);
  }
  copy->getContext()->loadDialect<exec::ExecDialect>();
  OwningOpRef<ModuleOp> formed = formedCopy();
  for (size_t index = 0; index < ops.size(); ++index) {
    OpFacts &facts = program.ops[index];
    if (facts.moves)
      continue;
    if (!formed || fusionKindOf(graph->opAt(int32_t(index))) == NodeKind::Outside) {
      llvm::fill(facts.reads, 1);
      llvm::fill(facts.writes, 1);
      facts.flops = ops[index].flops;
    } else { // until a kernel says otherwise
      for (int32_t v : ops[index].results)
        program.values[v].stored = false;
    }
  }
  if (formed)
    describeKernels(*formed);
  for (auto [v, facts] : llvm::enumerate(program.values)) {
    Value value = graph->valueAt(int32_t(v));
    Operation *def = value ? value.getDefiningOp() : nullptr;
    bool isCheap = def && fusionKindOf(def) == NodeKind::Broadcast; // what it is made of moves
    facts.inKernel = !facts.stored && viewed[v] < 0 && !isCheap;
  }
}

void PlanProgram::describeKernels(ModuleOp formed) {
  llvm::SmallVector<exec::FusedOp> kernels;
  formed.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (auto fused = dyn_cast<exec::FusedOp>(op)) {
      kernels.push_back(fused);
      return WalkResult::skip();
    }
    // What is in no kernel looks at what is in memory.
    if (int32_t index = indexOf(op);
        index >= 0 && fusionKindOf(graph->opAt(index)) == NodeKind::Reshape)
      viewed[program.graph.ops[index].results[0]] = program.graph.ops[index].operands[0];
    return WalkResult::advance();
  });
  cost::DeviceRates rates = topologyOf(given).device;
  llvm::DenseMap<Operation *, int32_t> numbers;
  for (exec::FusedOp kernel : kernels) {
    numbers[kernel] = int32_t(program.kernels.size());
    program.kernels.push_back(describeKernel(kernel, rates));
  }
  if (cost::goesByKinds(rates))
    findReuse(formed, numbers, program.kernels);
}

// Which operand of an op of the graph is read there: rewrites exchange them, and change their shapes.
int32_t PlanProgram::operandOf(int32_t index, OpOperand &operand) const {
  const PropagatedOp &ruled = program.graph.ops[index];
  auto at = int32_t(operand.getOperandNumber()), count = int32_t(ruled.operands.size());
  Value read = operand.get();
  auto find = [&](llvm::function_ref<bool(Value)> isLike) {
    auto holds = [&](int32_t i) {
      Value value = graph->valueAt(ruled.operands[i]);
      return value && isLike(value);
    };
    if (at < count && holds(at))
      return at;
    for (int32_t i = 0; i < count; ++i)
      if (holds(i))
        return i;
    return -1;
  };
  if (int32_t i = find([&](Value value) { return value.getType() == read.getType(); }); i >= 0)
    return i;
  if (int32_t i = find([&](Value value) { return elementsOf(value) == elementsOf(read); }); i >= 0)
    return i;
  return graph->opAt(index)->getName() == operand.getOwner()->getName() && at < count ? at : -1;
}

// Where a loop's rounds are counted, nobody asks whether there is another one.
static bool isInCountedCondition(exec::FusedOp fused) {
  auto loop = dyn_cast<stablehlo::WhileOp>(fused->getParentOp());
  return loop && getTripCount(loop) && fused->getParentRegion()->getRegionNumber() == 0;
}

// Of a kernel and its ops of the graph: once in each round of the loop that it is in. Some of them may stand
// outside, and be computed anew there.
static void addLaunches(exec::FusedOp fused, llvm::ArrayRef<int32_t> ops, plan::Program &program) {
  double rounds = isInCountedCondition(fused) ? 0 : double(tripsAround(fused));
  if (ops.empty())
    program.launches += rounds;
  for (int32_t index : ops) {
    OpFacts &facts = program.ops[index];
    facts.launches += rounds / (facts.times * double(ops.size()));
  }
}

// Of the arrays that a launch has, whatever part of them it touches.
static double bytesGiven(exec::FusedOp fused) {
  double bytes = 0;
  for (Value operand : fused->getOperands())
    bytes += bytesOf(operand);
  for (Value result : fused->getResults())
    bytes += bytesOf(result);
  return bytes;
}

plan::Kernel PlanProgram::describeKernel(exec::FusedOp fused, const cost::DeviceRates &rates) {
  int32_t end = -1;
  bool mixes = false, convolves = false;
  for (Operation &op : fused.getBlock()->without_terminator()) {
    end = std::max(end, indexOf(&op));
    mixes |= mixesPlaces(fusionKindOf(&op));
    convolves |= isa<stablehlo::ConvolutionOp>(op);
  }
  plan::Kernel kernel;
  kernel.isCounted = cost::pricesKernels(rates);
  if (convolves || kernel.isCounted)
    kernel.work = codegen::workOf(fused);
  kernel.given = bytesGiven(fused);
  std::map<int32_t, plan::KernelPart> parts; // by op of the graph
  auto partOf = [&](int32_t index) -> plan::KernelPart & {
    auto [it, isNew] = parts.try_emplace(index);
    if (isNew) {
      it->second.kernel = int32_t(program.kernels.size());
      it->second.reads.assign(program.graph.ops[index].operands.size(), 0);
      it->second.writes.assign(program.graph.ops[index].results.size(), 0);
    }
    return it->second;
  };
  llvm::SmallVector<int32_t> read, written;
  llvm::DenseSet<int32_t> seen, counted;
  bool multiplies = false;
  for (Operation &op : fused.getBlock()->without_terminator()) {
    int32_t index = indexOf(&op);
    if (index < 0)
      continue;
    NodeKind kind = fusionKindOf(&op);
    const PropagatedOp &ruled = program.graph.ops[index];
    plan::KernelPart &part = partOf(index);
    endOf[index] = std::max(endOf[index], end);
    if (!multiplies)
      kernel.elementType = program.ops[index].elementType;
    multiplies |= kind == NodeKind::Contraction;
    program.ops[index].isProduct |= kind == NodeKind::Contraction;
    // Of several that one op has become, its own work is one's.
    if (op.getName() == graph->opAt(index)->getName() && computesFloats(&op, kind) &&
        counted.insert(index).second)
      part.flops = flopsInKernel(&op, ruled, kernel.work);
    for (OpOperand &operand : op.getOpOperands()) {
      int32_t i = isa<BlockArgument>(operand.get()) ? operandOf(index, operand) : -1;
      if (i < 0 || program.graph.values[ruled.operands[i]].free)
        continue;
      int32_t root = ruled.operands[i];
      while (viewed[root] >= 0)
        root = viewed[root];
      if (!seen.insert(root).second)
        continue;
      double share = shareRead(&op, kind, operand.getOperandNumber());
      part.reads[i] += share;
      kernel.bytes += share * bytesOf(operand.get());
      read.push_back(root);
    }
  }
  llvm::SetVector<Operation *> makers;
  for (Value output : fused.getBlock()->getTerminator()->getOperands())
    makers.insert(output.getDefiningOp());
  for (Operation *op : makers) {
    int32_t index = op ? indexOf(op) : -1;
    if (index < 0)
      continue;
    for (auto [i, v] : llvm::enumerate(program.graph.ops[index].results)) {
      if (i >= op->getNumResults() ||
          elementsOf(op->getResult(unsigned(i))) != elementsOf(graph->valueAt(v)))
        continue;
      double share = shareWritten(op, fusionKindOf(op));
      partOf(index).writes[i] += share;
      program.values[v].stored = true;
      kernel.bytes += share * bytesOf(op->getResult(unsigned(i)));
      written.push_back(v);
    }
  }
  addLaunches(fused, llvm::to_vector(llvm::make_first_range(parts)), program);
  for (auto &[index, part] : parts) {
    OpFacts &facts = program.ops[index];
    kernel.flops += part.flops;
    facts.flops += part.flops;
    for (auto [all, each] : llvm::zip(facts.reads, part.reads))
      all += each;
    for (auto [all, each] : llvm::zip(facts.writes, part.writes))
      all += each;
    facts.parts.push_back(std::move(part));
  }
  // Each result over an array of its size, if nothing else is read there.
  for (int32_t v : written) {
    auto it = llvm::find_if(read, [&](int32_t r) {
      return program.graph.values[r].shape == program.graph.values[v].shape &&
             program.graph.values[r].elementBytes == program.graph.values[v].elementBytes;
    });
    if (mixes || it == read.end())
      continue;
    inPlace.push_back({*it, v});
    read.erase(it);
  }
  return kernel;
}

} // namespace tessera
