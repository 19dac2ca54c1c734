// bitcast_convert between any widths: the bits of several narrow elements, the first one least
// significant, are those of a wide one.
//
//   tensor<3xf32>          -> tensor<3x8xi4>           every four bits
//   tensor<5x2xi16>        -> tensor<5xf32>            every two elements
//   tensor<2xcomplex<f32>> -> tensor<complex<f64>>     real and imaginary part: elements side by side
#include "passes/codegen/kernel/GraphBuilder.h"

#include "dialects/stablehlo/StablehloOps.h"

namespace tessera::codegen {

using Indices = llvm::SmallVector<Index, 6>;

// What was only moved keeps its bits, also where it would be computed with in f32.
static Node *reinterpret(Graph &graph, Node *node, ElementKind kind) {
  if (node->kind == kind)
    return node;
  if (Node *bits = graph.movedBits(node))
    return reinterpret(graph, bits, kind);
  return graph.make(Op::Bitcast, kind, {node});
}

// `count` bits of an unsigned integer from `shift` on, as a number of `kind`.
static Node *extract(Graph &graph, Node *whole, Node *shift, ElementKind kind) {
  Node *part = graph.make(Op::ShrL, whole->kind, {whole, shift});
  ElementKind bits = bitsKind(bitWidth(kind));
  if (bits == ElementKind::I1) // converting asks whether any bit is set
    part = graph.make(Op::And, whole->kind, {part, graph.constant(whole->kind, 1)});
  return reinterpret(graph, graph.convert(part, bits), kind);
}

// Unsigned integers, the first one least significant, as one number of `kind`.
static Node *concatenateBits(Graph &graph, llvm::ArrayRef<Node *> parts, ElementKind kind) {
  ElementKind wide = bitsKind(bitWidth(kind));
  unsigned width = bitWidth(parts[0]->kind);
  Node *whole = nullptr;
  for (auto [i, part] : llvm::enumerate(parts)) {
    Node *bits = graph.convert(part, wide);
    if (i)
      bits = graph.make(Op::Shl, wide, {bits, graph.constant(wide, i * width)});
    whole = whole ? graph.make(Op::Or, wide, {whole, bits}) : bits;
  }
  return reinterpret(graph, whole, kind);
}

Element GraphBuilder::bitcast(mlir::Operation *op, IndexRange index, Node *mask) {
  mlir::Value operand = op->getOperand(0);
  ElementType from = *elementType(operand.getType());
  ElementType to = *elementType(op->getResult(0).getType());
  unsigned fromWidth = bitWidth(from.kind), toWidth = bitWidth(to.kind);
  if (fromWidth == toWidth) {
    Element element = at(operand, index, mask);
    if (!element)
      return {};
    return {reinterpret(graph, element.re, to.kind),
            element.im ? reinterpret(graph, element.im, to.kind) : nullptr};
  }
  ElementKind fromBits = bitsKind(fromWidth);
  if (fromWidth > toWidth) { // the result has one dimension more, the parts
    Element whole = at(operand, index.drop_back(), mask);
    if (!whole)
      return {};
    Node *re = reinterpret(graph, whole.re, fromBits);
    if (!to.complex) {
      Node *shift = graph.iota(fromBits, graph.multiply(index.back(), toWidth));
      return {extract(graph, re, shift, to.kind)};
    }
    // complex<f64> to two complex<f32>: first the halves of the real part.
    Node *im = reinterpret(graph, whole.im, fromBits);
    Node *first = graph.compare(EQ, graph.iota(ElementKind::I64, index.back()),
                                graph.constant(ElementKind::I64, 0));
    Node *half = graph.select(first, re, im);
    return {extract(graph, half, graph.constant(fromBits, 0), to.kind),
            extract(graph, half, graph.constant(fromBits, toWidth), to.kind)};
  }
  llvm::SmallVector<Node *> parts;
  for (unsigned part = 0; part < toWidth / fromWidth; ++part) {
    Indices partIndex(index);
    partIndex.push_back(graph.constant(part));
    Element element = at(operand, partIndex, mask);
    if (!element)
      return {};
    parts.push_back(reinterpret(graph, element.re, fromBits));
    if (element.im)
      parts.push_back(reinterpret(graph, element.im, fromBits));
  }
  llvm::ArrayRef<Node *> all = parts;
  if (!to.complex)
    return {concatenateBits(graph, all, to.kind)};
  size_t half = all.size() / 2;
  return {concatenateBits(graph, all.take_front(half), to.kind),
          concatenateBits(graph, all.drop_front(half), to.kind)};
}

} // namespace tessera::codegen
