#include "passes/codegen/gpu/Unsupported.h"

#include "passes/codegen/kernel/GraphBuilder.h"

namespace tessera::codegen::gpu {

// Whether a GPU has no code for an operation on elements of a kind.
static bool lacks(Op op, ElementKind kind) {
  switch (op) {
  case Op::Exp:
  case Op::Expm1:
  case Op::Log:
  case Op::Log1p:
  case Op::Logistic:
  case Op::Sin:
  case Op::Cos:
  case Op::Tan:
  case Op::Tanh:
  case Op::Erf:
  case Op::Erfc:
  case Op::Cbrt:
  case Op::Pow:
  case Op::Atan2: // of f64: the C library's
    return kind == ElementKind::F64 || kind == ElementKind::F8E8M0FNU;
  default:
    return false;
  }
}

// The operation of the body that a node came from, by what it computes; else the body's last.
static mlir::Operation *sourceOf(const KernelSource &kernel, const Node *node) {
  for (mlir::Operation &op : *kernel.body)
    if (elementwiseOp(&op) == node->op)
      return &op;
  return kernel.body->getTerminator();
}

bool refusesNode(const KernelSource &kernel, llvm::ArrayRef<Node *> roots) {
  for (Node *node : Graph::reachable(roots)) {
    if (node->op == Op::Reduced && refusesNode(kernel, node->reduction->results))
      return true;
    if (!lacks(node->op, node->kind))
      continue;
    mlir::Operation *op = sourceOf(kernel, node);
    op->emitError("'") << op->getName() << "' of "
                       << (node->kind == ElementKind::F64 ? "f64" : "floats")
                       << " has no code for --target=cuda yet (docs/limits.md)";
    return true;
  }
  return false;
}

} // namespace tessera::codegen::gpu
