// Which ops of the program run together in kernels, as they would on one device, and what those read
// and write. The fuse phase forms them, in a copy; what moves between devices is not known yet, and
// would divide some of them.
#include "passes/plan/PlanProgram.h"

#include "dialects/interfaces/OpInterfaces.h"
#include "dialects/stablehlo/StablehloOps.h"
#include "dialects/stablehlo/TensorTypes.h"
#include "dialects/tessera/Marks.h"
#include "lib/cost/KernelTerms.h"
#include "passes/codegen/kernel/KernelWork.h"
#include "passes/fuse/FormKernels.h"

#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/SetVector.h"

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

double bytesOf(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.hasStaticShape() ? double(byteSize(type)) : 0;
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

// Ops of the formed copy remember by this which op of the graph they are.
static constexpr llvm::StringLiteral kIndex = "plan_index";

static int32_t indexOf(Operation *op) {
  auto index = op->getAttrOfType<IntegerAttr>(kIndex);
  return index ? int32_t(index.getInt()) : -1;
}

void PlanProgram::findKernels() {
  const auto &ops = program.graph.ops;
  Builder builder(copy->getContext());
  viewed.assign(program.values.size(), -1);
  for (size_t index = 0; index < ops.size(); ++index) {
    OpFacts &facts = program.ops[index];
    endOf.push_back(int32_t(index));
    facts.reads.assign(ops[index].operands.size(), 0);
    facts.writes.assign(ops[index].results.size(), 0);
    if (facts.moves)
      continue;
    graph->opAt(int32_t(index))->setAttr(kIndex, builder.getI32IntegerAttr(int32_t(index)));
  }
  copy->getContext()->loadDialect<exec::ExecDialect>();
  OwningOpRef<ModuleOp> formed = copy->clone();
  bool isFormed;
  {
    // What cannot be formed is an error of the road, which says so.
    ScopedDiagnosticHandler silent(copy->getContext(), [](Diagnostic &) { return success(); });
    isFormed = succeeded(fuse::formAllKernels(*formed));
  }
  for (size_t index = 0; index < ops.size(); ++index) {
    OpFacts &facts = program.ops[index];
    if (facts.moves)
      continue;
    if (!isFormed || fusionKindOf(graph->opAt(int32_t(index))) == NodeKind::Outside) {
      llvm::fill(facts.reads, 1);
      llvm::fill(facts.writes, 1);
      facts.flops = ops[index].flops;
    } else { // until a kernel says otherwise
      for (int32_t v : ops[index].results)
        program.values[v].stored = false;
    }
  }
  if (isFormed)
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
    if (int32_t index = indexOf(op); index >= 0 && fusionKindOf(op) == NodeKind::Reshape)
      viewed[program.graph.ops[index].results[0]] = program.graph.ops[index].operands[0];
    return WalkResult::advance();
  });
  cost::DeviceRates rates = topologyOf(given).device;
  for (exec::FusedOp kernel : kernels)
    describeKernel(kernel, rates);
}

void PlanProgram::describeKernel(exec::FusedOp fused, const cost::DeviceRates &rates) {
  int32_t end = -1;
  bool mixes = false, convolves = false;
  for (Operation &op : fused.getBlock()->without_terminator()) {
    end = std::max(end, indexOf(&op));
    mixes |= mixesPlaces(fusionKindOf(&op));
    convolves |= isa<stablehlo::ConvolutionOp>(op);
  }
  cost::KernelWork work;
  if (convolves || cost::pricesKernels(rates))
    work = codegen::workOf(fused);
  plan::Kernel whole;
  llvm::SmallVector<int32_t> members, read, written;
  llvm::DenseSet<int32_t> seen;
  for (Operation &op : fused.getBlock()->without_terminator()) {
    int32_t index = indexOf(&op);
    if (index < 0)
      continue;
    NodeKind kind = fusionKindOf(&op);
    const PropagatedOp &ruled = program.graph.ops[index];
    OpFacts &facts = program.ops[index];
    members.push_back(index);
    endOf[index] = std::max(endOf[index], end);
    facts.isProduct = kind == NodeKind::Contraction;
    if (computesFloats(&op, kind)) {
      double flops = flopsInKernel(&op, ruled, work);
      facts.flops += flops;
      whole.flops += flops;
    }
    for (auto [i, v] : llvm::enumerate(ruled.operands)) {
      int32_t root = v;
      while (viewed[root] >= 0)
        root = viewed[root];
      if (program.graph.values[v].free || !isa<BlockArgument>(op.getOperand(unsigned(i))) ||
          !seen.insert(root).second)
        continue;
      double share = shareRead(&op, kind, unsigned(i));
      facts.reads[i] += share;
      whole.bytes += share * bytesOf(op.getOperand(unsigned(i)));
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
      double share = shareWritten(op, fusionKindOf(op));
      program.ops[index].writes[i] += share;
      program.values[v].stored = true;
      whole.bytes += share * bytesOf(op->getResult(unsigned(i)));
      written.push_back(v);
    }
  }
  if (cost::pricesKernels(rates))
    whole.seconds = cost::kernelSeconds(rates, work);
  for (int32_t index : members)
    program.ops[index].kernel = whole;
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
}

} // namespace tessera
