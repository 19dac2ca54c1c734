#include "passes/fuse/BlockGraph.h"

#include "dialects/comm/CommOps.h"
#include "dialects/exec/ExecOps.h"
#include "dialects/interfaces/OpInterfaces.h"
#include "dialects/stablehlo/StablehloOps.h"
#include "dialects/stablehlo/TensorTypes.h"
#include "dialects/tessera/SumMarks.h"
#include "passes/codegen/kernel/ColumnSums.h"
#include "passes/fuse/GatheredElements.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <map>

namespace tessera {

using namespace mlir;
using namespace tessera::stablehlo;
using fuse::BlockGraph;
using fuse::isSplat;
using fusion::Node;
using fusion::NodeKind;
using fusion::Use;
using ShapeKey = std::vector<int64_t>;

bool fuse::isSplat(Operation *op) {
  auto constant = dyn_cast<ConstantOp>(op);
  return constant && isa<SplatElementsAttr>(constant.getValue());
}

// The dimensions of `array`, of more than one element, that a reduction folds or a broadcast fills
// with the same.
static ShapeKey keyOf(RankedTensorType array, llvm::function_ref<bool(int64_t)> isFolded) {
  ShapeKey key(array.getShape());
  key.push_back(-1);
  for (int64_t dim = 0; dim < array.getRank(); ++dim)
    if (array.getDimSize(dim) != 1 && isFolded(dim))
      key.push_back(dim);
  return key;
}

// The first of the dimensions that a key of `keyOf` has; all of them where it has none.
static int firstOf(const ShapeKey &key, RankedTensorType array) {
  return key.size() > size_t(array.getRank() + 1) ? int(key[array.getRank() + 1])
                                                  : int(array.getRank());
}

// Whether what reads `op` is cut into pieces. The indices of a gather that are joined of one array for each
// dimension are not: it reads each of them at a place that is known.
static bool cutsItsReader(Operation *op) {
  auto join = dyn_cast<ConcatenateOp>(op);
  if (!join)
    return isa<PadOp>(op);
  return !llvm::all_of(op->getUses(), [&](OpOperand &use) {
    auto gather = dyn_cast<GatherOp>(use.getOwner());
    return gather && use.getOperandNumber() == 1 &&
           gather.getDimensionNumbers().getIndexVectorDim() == int64_t(join.getDimension());
  });
}

// What makes the parts of sums over columns goes over the operand's elements.
static fusion::SumParts describeParts(ReduceWindowOp window, Node &node,
                                      llvm::function_ref<uint32_t(ShapeKey)> number) {
  RankedTensorType from = typeOf(window->getOperand(0));
  ShapeKey key(from.getShape());
  node.elements = from.getNumElements();
  node.space = number(key);
  key.push_back(-2);
  llvm::append_range(key, window.getWindowDimensions());
  return {number(std::move(key)), static_cast<int>(codegen::columnsFrom(window))};
}

static ShapeKey foldedBy(ReduceOp reduce) {
  return keyOf(typeOf(reduce.getInputs().front()),
               [&](int64_t dim) { return llvm::is_contained(reduce.getDimensions(), dim); });
}

// Of rows of which a gather takes one element each; else empty.
static ShapeKey rowsTakenOf(GatherOp gather) {
  std::optional<fuse::GatheredElements> elements = fuse::gatheredElements(gather);
  RankedTensorType from = typeOf(gather.getOperand());
  int64_t rows = 1;
  for (int64_t dim = 0; elements && dim < from.getRank(); ++dim)
    rows *= elements->resultDims[dim] < 0 ? 1 : from.getDimSize(dim);
  if (!elements || typeOf(gather.getResult()).getNumElements() != rows)
    return {};
  return keyOf(from, [&](int64_t dim) { return elements->resultDims[dim] < 0; });
}

// What a broadcast fills with one element of its operand each, where these are rows that a kernel may
// keep; else empty.
static ShapeKey rowsFilledBy(BroadcastInDimOp broadcast, const fusion::RowLimits &limits) {
  RankedTensorType array = typeOf(broadcast->getResult(0)), from = typeOf(broadcast.getOperand());
  auto dims = broadcast.getBroadcastDimensions();
  if (!llvm::is_sorted(dims) || array.getNumElements() == 0)
    return {};
  auto isFilled = [&](int64_t dim) {
    const auto *at = llvm::find(dims, dim);
    return at == dims.end() || from.getDimSize(at - dims.begin()) == 1;
  };
  fusion::Rows rows{.count = from.getNumElements(),
                    .elements = array.getNumElements() / from.getNumElements(),
                    .bytes = byteSize(array) / from.getNumElements()};
  int64_t inner = 1; // of the last dimensions, as long as they are filled
  for (int64_t dim = array.getRank(); dim-- > 0 && (array.getDimSize(dim) == 1 || isFilled(dim));)
    inner *= array.getDimSize(dim);
  if (inner != rows.elements || !fusion::rowsStay(rows, limits))
    return {};
  return keyOf(array, isFilled);
}

BlockGraph fuse::graphOf(Block &block, const fusion::RowLimits &limits) {
  BlockGraph graph;
  std::map<ShapeKey, uint32_t> shapes;
  DenseMap<Value, int> outside; // arrays from there
  auto number = [&](ShapeKey key) {
    return shapes.try_emplace(std::move(key), shapes.size() + 1).first->second;
  };
  auto numberOutside = [&](Value value) {
    return outside.try_emplace(value, static_cast<int>(outside.size())).first->second;
  };
  for (Operation &op : block) {
    int n = graph.ops.size();
    graph.ops.push_back(&op);
    graph.numbers[&op] = n;
    Node node;
    bool makesParts = isa<ReduceWindowOp>(op) && getSummed(&op);
    node.kind = fusionKindOf(&op);
    auto addEdge = [&](Value value, Use use) {
      Operation *def = value.getDefiningOp();
      if (def && def->getBlock() == &block)
        node.operands.push_back({graph.numbers.lookup(def), use});
      else if (use == Use::Once || use == Use::Reduced)
        graph.sums.arrays[n].push_back(numberOutside(value));
      else if (use == Use::Whole && node.kind == NodeKind::Update)
        graph.sums.updated[n] = numberOutside(value);
    };
    for (OpOperand &operand : op.getOpOperands())
      addEdge(operand.get(), !makesParts ? operandUse(&op, operand.getOperandNumber())
                             : operand.getOperandNumber() == 0 ? Use::Reduced
                                                               : Use::Reread);
    if (node.kind == NodeKind::Outside) {
      node.collective = isa<comm::CommDialect>(op.getDialect()) && op.getNumOperands();
      for (Region &region : op.getRegions())
        region.walk([&](Operation *inner) {
          for (Value value : inner->getOperands())
            addEdge(value, Use::Whole);
        });
    } else {
      RankedTensorType type = typeOf(op.getResult(0));
      node.expensive = isExpensive(&op);
      node.cuts = node.kind == NodeKind::Movement && cutsItsReader(&op);
      node.elements = type.getNumElements();
      if (isa<ComplexType>(type.getElementType()))
        graph.sums.paired.insert(n);
      node.narrows =
          isa<ConvertOp, CompareOp>(op) && byteSize(type) < byteSize(typeOf(op.getOperand(0)));
      node.space = number(ShapeKey(type.getShape()));
      node.free = isSplat(&op) && byteSize(type) <= 1024;
      RankedTensorType folded = type;
      ShapeKey rows;
      if (auto reduce = dyn_cast<ReduceOp>(op)) {
        rows = foldedBy(reduce);
        folded = typeOf(op.getOperand(0));
      } else if (auto broadcast = dyn_cast<BroadcastInDimOp>(op)) {
        rows = rowsFilledBy(broadcast, limits);
      } else if (auto gather = dyn_cast<GatherOp>(op)) {
        folded = typeOf(op.getOperand(0));
        rows = rowsTakenOf(gather);
      }
      if (!rows.empty()) {
        int first = firstOf(rows, folded);
        node.reduced = number(std::move(rows));
        graph.sums.rowsFrom[node.reduced] = first;
      }
      if (makesParts)
        graph.sums.parts[n] = describeParts(cast<ReduceWindowOp>(op), node, number);
    }
    graph.nodes.push_back(std::move(node));
  }
  return graph;
}

static void forEachBlock(Region &region, llvm::function_ref<void(Block &)> fn) {
  for (Block &block : region) {
    fn(block);
    for (Operation &op : block)
      if (!isa<exec::FusedOp>(op))
        for (Region &inner : op.getRegions())
          forEachBlock(inner, fn);
  }
}

void fuse::forEachBlock(ModuleOp module, llvm::function_ref<void(Block &)> fn) {
  for (auto function : module.getOps<func::FuncOp>())
    tessera::forEachBlock(function.getBody(), fn);
}

} // namespace tessera
