#include "passes/codegen/kernel/OutputNests.h"

#include "dialects/stablehlo/StablehloOps.h"
#include "dialects/stablehlo/TensorTypes.h"
#include "passes/codegen/kernel/ColumnSums.h"
#include "passes/codegen/kernel/KeptRows.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>

namespace tessera::codegen {

llvm::SmallVector<llvm::SmallVector<unsigned>> outputNests(const KernelSource &kernel,
                                                           llvm::ArrayRef<unsigned> outputs) {
  bool isShared = kernel.sharesBuffers();
  auto typeOf = [&](unsigned output) {
    return mlir::cast<mlir::ShapedType>(kernel.outputs()[output].getType());
  };
  std::optional<KeptRows> rows = keptRows(kernel);
  std::optional<ColumnSums> sums = columnSumsOf(kernel);
  auto isPart = [&](unsigned output) { return sums && isPartOf(*sums, kernel.outputs()[output]); };
  auto hasRows = [&](unsigned output) {
    return (isPart(output) ? llvm::ArrayRef(sums->shape) : shapeOf(kernel.outputs()[output])) ==
           llvm::ArrayRef(rows->shape);
  };
  bool anyRows = rows && llvm::any_of(outputs, hasRows);
  llvm::SmallVector<llvm::SmallVector<unsigned>> nests;
  // Parts of sums come with what they are sums of, if that is there; what has an element for each row
  // with the rows.
  llvm::SmallVector<unsigned> ordered;
  auto comesLater = [&](unsigned output) {
    return anyRows && !isPart(output) && !hasRows(output) &&
           hasOneForEachRow(*rows, kernel.outputs()[output]);
  };
  llvm::copy_if(outputs, std::back_inserter(ordered), [&](unsigned o) { return !comesLater(o); });
  std::stable_partition(ordered.begin(), ordered.end(),
                        [&](unsigned output) { return !isPart(output); });
  for (unsigned output : ordered) {
    auto it = llvm::find_if(nests, [&](const auto &nest) {
      if (isPart(output))
        return isPart(nest[0]) || shapeOf(kernel.outputs()[nest[0]]) == llvm::ArrayRef(sums->shape);
      auto first = typeOf(nest[0]), type = typeOf(output);
      return first.getShape() == type.getShape() ||
             (isShared && first.getNumElements() == type.getNumElements());
    });
    if (it == nests.end())
      nests.push_back({output});
    else
      it->push_back(output);
  }
  for (unsigned output : outputs)
    if (comesLater(output))
      llvm::find_if(nests, [&](const auto &nest) { return hasRows(nest[0]); })->push_back(output);
  return nests;
}

std::optional<int64_t> updatedInput(const KernelSource &kernel, unsigned output) {
  auto op = kernel.outputs()[output].getDefiningOp<stablehlo::DynamicUpdateSliceOp>();
  int64_t input = op ? kernel.sharedInput(output, op->getOperand(0)) : -1;
  return input < 0 ? std::nullopt : std::optional(input);
}

} // namespace tessera::codegen
