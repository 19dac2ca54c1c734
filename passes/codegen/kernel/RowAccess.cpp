// Values of rows that stay: stored by the pass of one reduction, loaded by the others.
#include "dialects/stablehlo/StablehloOps.h"
#include "dialects/stablehlo/TensorTypes.h"
#include "passes/codegen/kernel/GraphBuilder.h"

#include "llvm/ADT/STLExtras.h"

namespace tessera::codegen {

using Indices = llvm::SmallVector<Index, 6>;

void GraphBuilder::bindRows(const KeptRows &kept, llvm::ArrayRef<Index> index, int64_t offset) {
  rows = &kept;
  rowIndex.assign(index.begin(), index.end());
  for (auto &[value, slot] : kept.slots) {
    BufferInfo buffer;
    buffer.source = BufferInfo::Scratch;
    buffer.position = offset + slot.offset;
    buffer.kind = elementType(value.getType())->kind;
    buffer.elements = kept.elements();
    keptValues.insert({value, {slot.filler, static_cast<int>(graph.buffers.size())}});
    graph.buffers.push_back(buffer);
  }
}

llvm::SmallVector<mlir::Value> GraphBuilder::unfilledRows() const {
  llvm::SmallVector<mlir::Value> values;
  for (auto &[value, kept] : keptValues)
    if (kept.isRead && !kept.isFilled)
      values.push_back(value);
  return values;
}

bool GraphBuilder::isThisRow(IndexRange index) const {
  for (unsigned dim = 0; dim < rows->outer; ++dim)
    if (rows->shape[dim] != 1 && index[dim] != rowIndex[dim])
      return false;
  return true;
}

void GraphBuilder::notePass(mlir::Operation *reduce, IndexRange index, Node *mask) {
  if (rows && !mask && shapeOf(reduce->getOperand(0)) == llvm::ArrayRef(rows->shape) &&
      isThisRow(index))
    passIndex[reduce].assign(index.begin(), index.end());
}

Element GraphBuilder::keptAt(mlir::Value value, IndexRange index, Node *mask) {
  auto it = keptValues.find(value);
  if (it == keptValues.end() || mask || !isThisRow(index))
    return {};
  int buffer = it->second.buffer;
  mlir::Operation *fold = it->second.filler;
  ElementKind kind = graph.buffers[buffer].kind;
  Index offset = graph.linearise(index.drop_front(rows->outer),
                                 llvm::ArrayRef(rows->shape).drop_front(rows->outer));
  auto pass = passIndex.find(fold);
  if (pass != passIndex.end() && IndexRange(pass->second) == index) {
    Element element = compute(value, index, mask);
    if (!element)
      return {};
    keptValues.find(value)->second.isFilled = true;
    return {graph.keep(element.re, buffer, offset)};
  }
  Indices at;
  for (auto [dim, size] : llvm::enumerate(rows->shape))
    if (!llvm::is_contained(mlir::cast<stablehlo::ReduceOp>(fold).getDimensions(),
                            static_cast<int64_t>(dim)))
      at.push_back(dim < rows->outer ? rowIndex[dim] : graph.constant(0));
  bool known = true;
  Element filler = reduction(fold, 0, at, nullptr, known);
  if (!filler) // which reads this very value elsewhere in the row
    return {};
  keptValues.find(value)->second.isRead = true;
  return {graph.loadKept(kind, buffer, offset, filler.re)};
}

} // namespace tessera::codegen
