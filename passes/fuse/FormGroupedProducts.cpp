// Finds products that are selected by groups, and puts them into kernels with what selects them. Which
// ops belong together is read off the program here; whether the kernel multiplies by groups is decided on
// its graph (kernel/GroupedProduct.h, kernel/TermRange.h). Passes.td shows an example.
#include "passes/fuse/FormGroupedProducts.h"

#include "dialects/stablehlo/StablehloOps.h"
#include "dialects/stablehlo/TensorTypes.h"
#include "passes/codegen/kernel/GroupedProduct.h"
#include "passes/codegen/kernel/SelectedProduct.h"
#include "passes/codegen/kernel/TermRange.h"
#include "passes/fuse/BlockGraph.h"
#include "passes/fuse/OutlinedOps.h"
#include "passes/fuse/Passes.h"

#include "mlir/IR/Diagnostics.h"

namespace tessera::fuse {

using namespace mlir;
using namespace tessera::stablehlo;
using fusion::NodeKind;

// What a value is selected by or repeated from, as far as that costs little where it is read.
static void addSelection(OutlinedOps &kernel, Value value) {
  Operation *op = kernel.inBlock(value);
  if (!op || kernel.inside.contains(op))
    return;
  switch (fusionKindOf(op)) {
  case NodeKind::Constant:
  case NodeKind::Pointwise:
  case NodeKind::Convert:
  case NodeKind::Broadcast:
  case NodeKind::Transpose:
  case NodeKind::Reshape:
    break;
  default:
    return;
  }
  bool isSelecting =
      fusionKindOf(op) != NodeKind::Pointwise || isa<SelectOp, CompareOp, AndOp, AddOp, MulOp>(op);
  auto element = typeOf(value).getElementType();
  if (!isSelecting || (isa<AddOp, MulOp>(op) && !isa<IntegerType>(element)))
    return;
  kernel.inside.insert(op);
  for (Value operand : op->getOperands())
    addSelection(kernel, operand);
}

// What else only narrows the result.
static Value withNarrowing(OutlinedOps &kernel, Value result) {
  while (result.hasOneUse()) {
    auto convert = dyn_cast<ConvertOp>(*result.getUsers().begin());
    if (!convert || convert->getBlock() != &kernel.block)
      break;
    kernel.inside.insert(convert);
    result = convert.getResult();
  }
  return result;
}

static bool isGrouped(exec::FusedOp fused, bool isOfRows) {
  ScopedDiagnosticHandler silent(fused.getContext(), [](Diagnostic &) { return success(); });
  codegen::KernelSource kernel{"", fused.getBlock(), {}};
  unsigned output = 0;
  codegen::NestGraph nest(kernel, output, /*update=*/false);
  if (!nest.build())
    return false;
  if (isOfRows)
    return codegen::findGroupedProduct(nest).has_value();
  std::optional<codegen::ContractionLoops> loops = codegen::findContraction(nest);
  if (!loops || loops->isTurned)
    return false;
  std::optional<codegen::TermRange> terms = codegen::rangeOfTerms(nest.g->graph, *loops);
  return terms && terms->low && terms->high && terms->low->deps && terms->high->deps;
}

static void form(OutlinedOps &kernel, Value result, bool isOfRows) {
  kernel.addResult(withNarrowing(kernel, result));
  Operation *last = kernel.results.front().value.getDefiningOp();
  bool isLast = llvm::all_of(
      kernel.inside, [&](Operation *op) { return op == last || op->isBeforeInBlock(last); });
  if (!isLast)
    return;
  OpBuilder b(last);
  exec::FusedOp fused = kernel.outline(b, last->getLoc());
  if (isGrouped(fused, isOfRows)) {
    b.setInsertionPointAfter(last);
    kernel.replaceWith(b, fused.getResults());
  } else {
    fused.erase();
  }
}

static void formOfRows(Block &block, ReduceOp sum) {
  DotGeneralOp product = codegen::selectedProduct(sum);
  OutlinedOps kernel(block);
  if (!product || product->getBlock() != &block || !product->hasOneUse())
    return;
  kernel.inside.insert(sum);
  kernel.inside.insert(product);
  for (Value operand : sum->getOperands())
    addSelection(kernel, operand);
  form(kernel, sum->getResult(0), /*isOfRows=*/true);
}

static bool isSelected(Value value) {
  while (auto convert = value.getDefiningOp<ConvertOp>())
    value = convert.getOperand();
  return value.getDefiningOp<SelectOp>() != nullptr;
}

static void formOfTerms(Block &block, DotGeneralOp product) {
  if (!llvm::all_of(product->getOperands(), isSelected))
    return;
  OutlinedOps kernel(block);
  kernel.inside.insert(product);
  for (Value operand : product->getOperands())
    addSelection(kernel, operand);
  form(kernel, product->getResult(0), /*isOfRows=*/false);
}

void formGroupedProducts(ModuleOp module) {
  forEachBlock(module, [&](Block &block) {
    for (auto sum : llvm::to_vector(block.getOps<ReduceOp>()))
      formOfRows(block, sum);
    for (auto product : llvm::to_vector(block.getOps<DotGeneralOp>()))
      formOfTerms(block, product);
  });
}

} // namespace tessera::fuse

namespace tessera {
#define GEN_PASS_DEF_FORMGROUPEDPRODUCTS
#include "passes/fuse/Passes.h.inc"

namespace {
struct FormGroupedProducts : impl::FormGroupedProductsBase<FormGroupedProducts> {
  void runOnOperation() override { fuse::formGroupedProducts(getOperation()); }
};
} // namespace
} // namespace tessera
