// Which ops of the program run together in kernels, as they would on one device, and what those read
// and write. Formed by the same decision as in the fuse phase; what moves between devices is not
// known yet, and would divide some of them.
#include "passes/plan/PlanProgram.h"

#include "dialects/interfaces/OpInterfaces.h"
#include "dialects/stablehlo/StablehloOps.h"
#include "dialects/stablehlo/TensorTypes.h"

#include "llvm/ADT/SmallSet.h"

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

// What the op's kernel computes for it: of a convolution also what falls on padding.
double flopsInKernel(Operation *op, const PropagatedOp &ruled) {
  auto convolution = dyn_cast<stablehlo::ConvolutionOp>(op);
  if (!convolution)
    return ruled.flops;
  RankedTensorType window = convolution.getRhs().getType();
  int64_t features =
      window.getDimSize(convolution.getDimensionNumbers().getKernelOutputFeatureDimension());
  return 2 * elementsOf(convolution->getResult(0)) * elementsOf(convolution.getRhs()) /
         double(std::max<int64_t>(features, 1));
}

// Whether a kernel with such a node reads its operands elsewhere than where it writes.
bool mixesPlaces(NodeKind kind) {
  return kind == NodeKind::Contraction || kind == NodeKind::Reduce || kind == NodeKind::Transpose ||
         kind == NodeKind::Movement || kind == NodeKind::Slice || kind == NodeKind::Alone;
}

} // namespace

int32_t PlanProgram::indexOf(Operation *op) const {
  auto it = indices.find(op);
  return it == indices.end() ? -1 : it->second;
}

void PlanProgram::findKernels() {
  const auto &ops = program.graph.ops;
  viewed.assign(program.values.size(), -1);
  for (size_t index = 0; index < ops.size(); ++index) {
    OpFacts &facts = program.ops[index];
    endOf.push_back(int32_t(index));
    facts.reads.assign(ops[index].operands.size(), 0);
    facts.writes.assign(ops[index].results.size(), 0);
    if (!facts.moves)
      indices[graph->opAt(int32_t(index))] = int32_t(index);
  }
  for (func::FuncOp function : copy->getOps<func::FuncOp>())
    for (Block &block : function.getBody())
      findKernels(block);
  for (auto [v, facts] : llvm::enumerate(program.values)) {
    Value value = graph->valueAt(int32_t(v));
    Operation *def = value ? value.getDefiningOp() : nullptr;
    bool isCheap = def && fusionKindOf(def) == NodeKind::Broadcast; // what it is made of moves
    facts.inKernel = !facts.stored && viewed[v] < 0 && !isCheap;
  }
}

void PlanProgram::findKernels(Block &block) {
  fuse::BlockGraph nodes = fuse::graphOf(block);
  for (Operation *op : nodes.ops) {
    int32_t index = indexOf(op);
    if (index >= 0 && nodes.nodes[nodes.numbers.lookup(op)].kind == NodeKind::Outside) {
      OpFacts &facts = program.ops[index];
      llvm::fill(facts.reads, 1);
      llvm::fill(facts.writes, 1);
      facts.flops = program.graph.ops[index].flops;
    } else if (index >= 0) { // until a kernel says otherwise
      for (int32_t v : program.graph.ops[index].results)
        program.values[v].stored = false;
    }
    if (sdy::holdsProgram(op))
      for (Region &region : op->getRegions())
        for (Block &inner : region)
          findKernels(inner);
  }
  fusion::Plan plan = fusion::planKernels(nodes.nodes);
  for (int n : plan.views)
    if (int32_t index = indexOf(nodes.ops[n]); index >= 0)
      viewed[program.graph.ops[index].results[0]] = program.graph.ops[index].operands[0];
  for (const fusion::Kernel &kernel : plan.kernels)
    describeKernel(nodes, kernel);
}

void PlanProgram::describeKernel(const fuse::BlockGraph &block, const fusion::Kernel &kernel) {
  llvm::DenseSet<Operation *> inside;
  int32_t end = -1;
  bool mixes = false;
  for (int n : kernel.nodes) {
    inside.insert(block.ops[n]);
    end = std::max(end, indexOf(block.ops[n]));
    mixes |= mixesPlaces(block.nodes[n].kind);
  }
  plan::Kernel whole;
  llvm::SmallVector<int32_t> members, read, written;
  llvm::DenseSet<int32_t> seen;
  for (int n : kernel.nodes) {
    Operation *op = block.ops[n];
    int32_t index = indexOf(op);
    if (index < 0)
      continue;
    NodeKind kind = block.nodes[n].kind;
    const PropagatedOp &ruled = program.graph.ops[index];
    OpFacts &facts = program.ops[index];
    members.push_back(index);
    endOf[index] = std::max(endOf[index], end);
    facts.isProduct = kind == NodeKind::Contraction;
    if (computesFloats(op, kind)) {
      double flops = flopsInKernel(op, ruled);
      facts.flops += flops;
      whole.flops += flops;
    }
    for (auto [i, v] : llvm::enumerate(ruled.operands)) {
      int32_t root = v;
      while (viewed[root] >= 0)
        root = viewed[root];
      Operation *def = op->getOperand(unsigned(i)).getDefiningOp();
      if (program.graph.values[v].free || (def && inside.contains(def)) ||
          !seen.insert(root).second)
        continue;
      double share = shareRead(op, kind, unsigned(i));
      facts.reads[i] += share;
      whole.bytes += share * bytesOf(op->getOperand(unsigned(i)));
      read.push_back(root);
    }
  }
  for (int n : kernel.outputs) {
    Operation *op = block.ops[n];
    int32_t index = indexOf(op);
    if (index < 0)
      continue;
    for (auto [i, v] : llvm::enumerate(program.graph.ops[index].results)) {
      double share = shareWritten(op, block.nodes[n].kind);
      program.ops[index].writes[i] += share;
      program.values[v].stored = true;
      whole.bytes += share * bytesOf(op->getResult(unsigned(i)));
      written.push_back(v);
    }
  }
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
