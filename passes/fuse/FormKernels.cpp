// Groups the ops of every block into kernels. FusionGraph decides which ops run together; here the
// decision is carried out: each kernel becomes an exec.fused in the place of its last op.
// Passes.td shows an example.
#include "passes/fuse/FormKernels.h"
#include "dialects/exec/ExecOps.h"
#include "dialects/stablehlo/StablehloOps.h"
#include "dialects/stablehlo/TensorTypes.h"
#include "dialects/tessera/GpuTarget.h"
#include "passes/fuse/BlockGraph.h"
#include "passes/fuse/CopyCheap.h"
#include "passes/fuse/FormAttention.h"
#include "passes/fuse/FormFirstRows.h"
#include "passes/fuse/FormGroupedProducts.h"
#include "passes/fuse/Passes.h"
#include "passes/fuse/ReduceTogether.h"
#include "passes/fuse/SplitColumnSums.h"
#include "passes/fuse/SplitWholeSums.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace tessera {
#define GEN_PASS_DEF_FORMKERNELS
#include "passes/fuse/Passes.h.inc"

using namespace mlir;
using namespace tessera::stablehlo;
using fuse::BlockGraph;
using fuse::isSplat;
using fusion::Edge;
using fusion::NodeKind;

// Each loop that starts from a large splat gets its own, which it may then overwrite.
static void copyInitialSplats(Block &block) {
  for (auto loop : block.getOps<WhileOp>())
    for (OpOperand &operand : loop->getOpOperands()) {
      Operation *def = operand.get().getDefiningOp();
      if (def && isSplat(def) && !operand.get().hasOneUse())
        operand.set(OpBuilder(loop).clone(*def)->getResult(0));
    }
}

// A library's kernel has an input for each operand: of equal ones, each is a view of its own.
static void separateOperands(Block &block) {
  for (Operation &op : block) {
    if (!isa<LibraryCallOpInterface>(op))
      continue;
    DenseSet<Value> seen;
    OpBuilder b(&op);
    for (OpOperand &operand : op.getOpOperands())
      if (!seen.insert(operand.get()).second)
        operand.set(ReshapeOp::create(b, op.getLoc(), operand.get().getType(), operand.get()));
  }
}

namespace {

class Emitter {
public:
  Emitter(Block &block, const BlockGraph &graph, const fusion::Plan &plan)
      : block(block), graph(graph), plan(plan), isView(graph.ops.size()),
        kernelsWith(graph.ops.size()), readyAt(graph.ops.size()) {
    for (int n : plan.views)
      isView[n] = true;
    for (auto [k, kernel] : llvm::enumerate(plan.kernels)) {
      for (int n : kernel.outputs)
        maker[n] = k;
      for (int n : kernel.nodes)
        ++kernelsWith[n];
      readyAt[kernel.nodes.back()].push_back(k);
    }
    emitted.resize(plan.kernels.size());
  }

  LogicalResult run() {
    Operation *end = block.getTerminator();
    for (auto [n, op] : llvm::enumerate(graph.ops)) {
      for (int k : readyAt[n])
        if (failed(emit(k, end)))
          return failure();
      if (staysOutside(n) && failed(emitOutside(n, end)))
        return failure();
    }
    for (Operation *op : llvm::reverse(graph.ops)) {
      bool unread = isa<ConstantOp, ReshapeOp>(op) && op->use_empty();
      if (placed.contains(op) && !unread)
        continue;
      if (!op->use_empty())
        return op->emitError("internal: this value is read by an op that is in no kernel");
      op->erase();
    }
    return success();
  }

private:
  bool staysOutside(int n) const {
    return graph.nodes[n].kind == NodeKind::Outside || isView[n] || graph.nodes[n].free;
  }

  // Makes sure that the value of node n is there to be read.
  LogicalResult require(int n, Operation *end) {
    if (auto it = maker.find(n); it != maker.end())
      return emit(it->second, end);
    return emitOutside(n, end);
  }

  LogicalResult emitOutside(int n, Operation *end) {
    Operation *op = graph.ops[n];
    if (!placed.insert(op).second)
      return success();
    for (const Edge &edge : graph.nodes[n].operands)
      if (failed(require(edge.node, end)))
        return failure();
    if (op == end)
      return success();
    op->moveBefore(end);
    for (OpOperand &operand : op->getOpOperands())
      operand.set(current(operand.get()));
    return success();
  }

  Value current(Value value) const {
    auto it = replaced.find(value);
    return it == replaced.end() ? value : it->second;
  }

  LogicalResult emit(int k, Operation *end) {
    if (std::exchange(emitted[k], 1))
      return success();
    const fusion::Kernel &kernel = plan.kernels[k];
    DenseSet<int> inside(kernel.nodes.begin(), kernel.nodes.end());
    llvm::SetVector<Value> inputs;
    for (int n : kernel.nodes) {
      for (const Edge &edge : graph.nodes[n].operands)
        if (!inside.contains(edge.node) && failed(require(edge.node, end)))
          return failure();
      if (failed(collectInputs(graph.ops[n], inside, inputs)))
        return failure();
    }
    SmallVector<Value> outputs;
    SmallVector<Location> locations;
    for (int n : kernel.outputs) {
      llvm::append_range(outputs, resultsRead(n, inside));
      locations.push_back(graph.ops[n]->getLoc());
    }
    OpBuilder b(end);
    auto fused = exec::FusedOp::create(
        b, b.getFusedLoc(locations), ValueRange(outputs).getTypes(),
        llvm::map_to_vector(inputs, [&](Value v) { return current(v); }), nullptr, nullptr);
    Block *body = b.createBlock(&fused.getBody());
    IRMapping mapping;
    for (Value input : inputs)
      mapping.map(input, body->addArgument(input.getType(), input.getLoc()));
    for (int n : kernel.nodes) {
      copySplatsInto(b.clone(*graph.ops[n], mapping));
    }
    SmallVector<Value> yields;
    for (Value output : outputs)
      yields.push_back(mapping.lookup(output));
    exec::YieldOp::create(b, fused.getLoc(), yields);
    for (auto [output, result] : llvm::zip(outputs, fused.getResults())) {
      replaced[output] = result;
      output.replaceUsesWithIf(result,
                               [&](OpOperand &use) { return isReadOutside(use.getOwner()); });
    }
    placed.insert(fused);
    return success();
  }

  // The results of node n that its kernel writes. What a reduction computes beside the one that is
  // asked for (the products of a scan's gates, the largest of what argmax numbers) stays inside.
  SmallVector<Value> resultsRead(int n, const DenseSet<int> &inside) const {
    Operation *op = graph.ops[n];
    SmallVector<Value> read(op->getResults());
    if (!isa<ReduceOp, ReduceWindowOp>(op))
      return read;
    auto isOutside = [&](Operation *user) {
      auto it = graph.numbers.find(block.findAncestorOpInBlock(*user));
      return it == graph.numbers.end() || !inside.contains(it->second) ||
             staysOutside(it->second) || kernelsWith[it->second] > 1;
    };
    llvm::erase_if(read, [&](Value result) { return llvm::none_of(result.getUsers(), isOutside); });
    return read.empty() ? SmallVector<Value>(op->getResults()) : read;
  }

  // Whether `op` is, or is inside, an op of this block that stays.
  bool isReadOutside(Operation *op) const {
    Operation *ancestor = block.findAncestorOpInBlock(*op);
    auto it = graph.numbers.find(ancestor);
    return it != graph.numbers.end() && staysOutside(it->second);
  }

  LogicalResult collectInputs(Operation *op, const DenseSet<int> &inside,
                              llvm::SetVector<Value> &inputs) {
    auto isInside = [&](Value value) {
      Operation *def = value.getDefiningOp();
      auto it = def ? graph.numbers.find(def) : graph.numbers.end();
      return it != graph.numbers.end() && inside.contains(it->second);
    };
    for (Value operand : op->getOperands())
      if (!isInside(operand))
        inputs.insert(operand);
    WalkResult walked = WalkResult::advance();
    for (Region &region : op->getRegions()) {
      walked = region.walk([&](Operation *inner) -> WalkResult {
        for (Value operand : inner->getOperands()) {
          if (region.isAncestor(operand.getParentRegion()) || isInside(operand))
            continue;
          Operation *def = operand.getDefiningOp();
          if (!def || !isSplat(def))
            return op->emitError("the computation in this operation's region reads a value from "
                                 "outside it; pass it as "
                                 "an operand instead");
        }
        return WalkResult::advance();
      });
      if (walked.wasInterrupted())
        return failure();
    }
    return success();
  }

  // Splats that the op's regions read are copied into them.
  static void copySplatsInto(Operation *op) {
    for (Region &region : op->getRegions())
      region.walk([&](Operation *inner) {
        for (OpOperand &operand : inner->getOpOperands()) {
          Operation *def = operand.get().getDefiningOp();
          if (def && !region.isAncestor(def->getParentRegion()) &&
              def->getBlock() != op->getBlock())
            operand.set(OpBuilder(inner).clone(*def)->getResult(0));
        }
      });
  }

  Block &block;
  const BlockGraph &graph;
  const fusion::Plan &plan;
  std::vector<bool> isView;
  std::vector<int> kernelsWith; // by node: a cheap one may be in several
  std::vector<SmallVector<int, 1>> readyAt;
  DenseMap<int, int> maker; // node -> kernel that yields it
  std::vector<char> emitted;
  DenseSet<Operation *> placed;
  DenseMap<Value, Value> replaced;
};

} // namespace

static LogicalResult formKernels(Block &block, const fusion::RowLimits &rows) {
  copyInitialSplats(block);
  separateOperands(block);
  BlockGraph graph = fuse::graphOf(block, rows);
  fusion::Plan plan = fusion::planKernels(graph.nodes, graph.sums);
  return Emitter(block, graph, plan).run();
}

static LogicalResult formKernels(ModuleOp module) {
  bool isFormed = true;
  fusion::RowLimits rows = isForGpu(module) ? fusion::kGpuRows : fusion::RowLimits();
  fuse::forEachBlock(module, [&](Block &block) {
    isFormed = isFormed && succeeded(tessera::formKernels(block, rows));
  });
  return success(isFormed);
}

LogicalResult fuse::formAllKernels(ModuleOp module) {
  copyCheap(module);
  formAttention(module, /*saysWhy=*/false);
  formGroupedProducts(module);
  splitColumnSums(module);
  splitWholeSums(module);
  formFirstRows(module);
  if (failed(tessera::formKernels(module)))
    return failure();
  reduceTogether(module);
  return success();
}

namespace {
struct FormKernels : impl::FormKernelsBase<FormKernels> {
  void runOnOperation() override {
    if (failed(tessera::formKernels(getOperation())))
      signalPassFailure();
  }
};
} // namespace
} // namespace tessera
