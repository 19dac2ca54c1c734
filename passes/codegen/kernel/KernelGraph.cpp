#include "passes/codegen/kernel/KernelGraph.h"

#include "llvm/ADT/STLExtras.h"

namespace tessera::codegen {

KernelGraph::KernelGraph(const KernelSource &kernel, const SplitTable &splits)
    : builder(graph, splits) {
  graph.mostScratch = kernel.mostScratch;
  for (auto [i, argument] : llvm::enumerate(kernel.body->getArguments())) {
    BufferInfo buffer;
    buffer.position = i;
    if (auto type = elementType(argument.getType())) {
      buffer.kind = type->kind;
      buffer.elements = mlir::cast<mlir::ShapedType>(argument.getType()).getNumElements() *
                        (type->complex ? 2 : 1);
    }
    graph.buffers.push_back(buffer);
    builder.bindBuffer(argument, i);
  }
}

} // namespace tessera::codegen
