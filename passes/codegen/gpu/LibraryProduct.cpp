#include "passes/codegen/gpu/LibraryProduct.h"

#include "dialects/interfaces/OpInterfaces.h"
#include "dialects/stablehlo/StablehloOps.h"
#include "lib/target/GpuArchitectures.h"
#include "passes/codegen/kernel/ContractionLoops.h"
#include "passes/codegen/kernel/ContractionWork.h"
#include "passes/codegen/kernel/InnerProducts.h"
#include "passes/codegen/kernel/NestGraph.h"
#include "passes/codegen/kernel/OutputNests.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVectorExtras.h"

#include <cmath>
#include <numbers>

namespace tessera::codegen::gpu {

using library::Product;

namespace {

std::optional<Product::Type> typeOf(ElementKind kind) {
  switch (kind) {
  case ElementKind::F32:
    return Product::F32;
  case ElementKind::F64:
    return Product::F64;
  case ElementKind::BF16:
    return Product::BF16;
  case ElementKind::F16:
    return Product::F16;
  default:
    return std::nullopt;
  }
}

double evaluate(Op op, llvm::ArrayRef<double> of) {
  switch (op) {
  case Op::Add:
    return of[0] + of[1];
  case Op::Sub:
    return of[0] - of[1];
  case Op::Mul:
    return of[0] * of[1];
  case Op::Div:
    return of[0] / of[1];
  case Op::Max:
    return std::max(of[0], of[1]);
  case Op::Pow:
    return std::pow(of[0], of[1]);
  case Op::Neg:
    return -of[0];
  case Op::Tanh:
    return std::tanh(of[0]);
  default:
    return NAN;
  }
}

// What a node is where `variable` has a value: NaN where it is no function of that alone, or something is
// rounded on the way.
double valueAt(Node *node, Node *variable, double value) {
  llvm::DenseMap<Node *, double> values;
  for (Node *each : Graph::reachable({node})) {
    double &result = values[each] = NAN;
    if (each == variable)
      result = value;
    else if (each->kind == variable->kind && each->op == Op::Constant)
      result = numberOf(each);
    else if (each->kind == variable->kind)
      result = evaluate(each->op, llvm::map_to_vector(each->operands, [&](Node *operand) {
                          return values.lookup(operand);
                        }));
  }
  return values.lookup(node);
}

double relu(double x) { return std::max(x, 0.0); }
// Hendrycks and Gimpel 2016, "Gaussian error linear units".
double gelu(double x) {
  return 0.5 * x * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
}

// By its values: programs write these functions in several ways. GELU's constants are rounded.
std::optional<Product::Function> functionOf(Node *node, Node *variable) {
  if (node == variable)
    return Product::None;
  constexpr double places[] = {-7.25, -2.5, -1, -0.375, -0.0625, 0, 0.125, 0.5, 1.75, 3, 6.5};
  auto is = [&](double (*function)(double), double error) {
    return llvm::all_of(places, [&](double at) {
      return std::abs(valueAt(node, variable, at) - function(at)) <= error * std::abs(at);
    });
  };
  if (is(relu, 0))
    return Product::Relu;
  if (is(gelu, 1e-6))
    return Product::Gelu;
  return std::nullopt;
}

// One nest that is a contraction, read as a product of the library's.
class Reader {
public:
  Reader(const NestGraph &nest, const ContractionLoops &loops)
      : nest(nest), loops(loops), graph(nest.g->graph), root(nest.roots.front()) {}

  std::optional<Product> read() {
    if (!readSizes() || !readTypes() || !readFactors() || !readResult())
      return std::nullopt;
    return product;
  }

private:
  bool readSizes() {
    if (loops.isTurned || loops.k.size() != 1 || loops.outer.size() > 1 ||
        !loops.product->reduction->blockEnds.empty())
      return false;
    product.batch = loops.outerCount;
    product.m = loops.mSize;
    product.n = loops.nSize;
    product.k = loops.kSize;
    return true;
  }

  bool readTypes() {
    ElementKind a = unwidened(loops.a)->kind, b = unwidened(loops.b)->kind;
    std::optional<Product::Type> factors = typeOf(a), result = typeOf(root.kind);
    bool isDouble = a == ElementKind::F64;
    if (a != b || !factors || !result ||
        loops.product->kind != (isDouble ? ElementKind::F64 : ElementKind::F32) ||
        (*result != *factors && (isDouble || *result != Product::F32)))
      return false;
    product.factors = *factors;
    product.result = *result;
    return true;
  }

  bool readFactors() {
    return readMatrix(unwidened(loops.a), Side::Rows, Side::Terms, product.x) &&
           readMatrix(unwidened(loops.b), Side::Terms, Side::Columns, product.y);
  }

  bool readResult() {
    if (!place(root.offset, Side::Rows, Side::Columns, product.d))
      return false;
    product.d.operand = nest.kernel.body->getNumArguments();
    // What is rounded to the result's type is rounded once, as it is stored.
    Node *value = root.value.re;
    if (value->op == Op::Convert && value->kind == root.kind)
      value = value->operands[0];
    Node *sum = addTerms(Graph::reachable({value}));
    std::optional<Product::Function> function = functionOf(value, sum);
    // How near the library's GELU comes is not said: to f16 or bf16, as others' too.
    if (!function || (*function == Product::Gelu && product.result == Product::F32) ||
        (*function != Product::None && product.factors == Product::F64))
      return false;
    product.function = *function;
    return true;
  }

  // The product with what is added to it before anything else is made of it.
  Node *addTerms(llvm::ArrayRef<Node *> live) {
    Node *sum = loops.product;
    for (;;) {
      Node *user = nullptr;
      for (Node *node : live)
        if (llvm::is_contained(node->operands, sum)) {
          if (user)
            return sum;
          user = node;
        }
      if (!user || user->op != Op::Add || user->kind != sum->kind ||
          user->operands[0] == user->operands[1] ||
          !addTerm(user->operands[user->operands[0] == sum]))
        return sum;
      sum = user;
    }
  }

  // The bias or a matrix that is added, in the result's type.
  bool addTerm(Node *term) {
    Node *load = unwidened(term);
    if (load->kind != root.kind || !isOperand(load))
      return false;
    Product::Matrix matrix;
    if (product.bias < 0 && place(load->index, Side::Rows, Side::Columns, matrix) &&
        matrix.perRow == 0 && matrix.perColumn == 1 && matrix.perBatch == 0) {
      product.bias = graph.buffers[load->buffer()].position;
      return true;
    }
    return product.c.operand < 0 && readMatrix(load, Side::Rows, Side::Columns, product.c);
  }

  enum class Side { Rows, Columns, Terms };

  std::optional<int64_t> strideAlong(Index index, Side side) {
    return side == Side::Rows      ? strideOfRows(loops, graph, index)
           : side == Side::Columns ? strideOf(index, loops.n)
                                   : strideOf(index, loops.k.front());
  }

  bool isOperand(const Node *node) const {
    return node->op == Op::Load && !node->mask && node->operands.empty() &&
           graph.buffers[node->buffer()].source == BufferInfo::Argument;
  }

  bool place(Index index, Side rows, Side columns, Product::Matrix &matrix) {
    std::optional<int64_t> perRow = strideAlong(index, rows),
                           perColumn = strideAlong(index, columns);
    if (!perRow || !perColumn || !index->nodes.empty() || index->constant != 0)
      return false;
    matrix.perRow = *perRow;
    matrix.perColumn = *perColumn;
    matrix.perBatch = loops.outer.empty() ? 0 : strideOf(index, loops.outer.front()).value_or(-1);
    return true;
  }

  bool readMatrix(Node *load, Side rows, Side columns, Product::Matrix &matrix) {
    if (!isOperand(load) || !place(load->index, rows, columns, matrix))
      return false;
    matrix.operand = graph.buffers[load->buffer()].position;
    return true;
  }

  const NestGraph &nest;
  const ContractionLoops &loops;
  const Graph &graph;
  const Root &root;
  Product product;
};

} // namespace

static bool mayBeProduct(const KernelSource &kernel) {
  return kernel.outputs().size() == 1 && llvm::count_if(*kernel.body, [](mlir::Operation &op) {
                                           return mlir::isa<stablehlo::DotGeneralOp>(op);
                                         }) == 1;
}

static std::vector<int64_t> operandBytes(const KernelSource &kernel) {
  std::vector<int64_t> bytes;
  auto add = [&](mlir::Type type) {
    bytes.push_back(tessera::byteSize(mlir::cast<mlir::RankedTensorType>(type)));
  };
  llvm::for_each(kernel.body->getArgumentTypes(), add);
  llvm::for_each(kernel.outputs().getTypes(), add);
  return bytes;
}

std::optional<Product> libraryProductOf(const KernelSource &kernel) {
  if (!mayBeProduct(kernel) || updatedInput(kernel, 0))
    return std::nullopt;
  mlir::ScopedDiagnosticHandler ignore(kernel.body->getParentOp()->getContext(),
                                       [](mlir::Diagnostic &) { return mlir::success(); });
  const unsigned output = 0;
  NestGraph nest(kernel, output, /*update=*/false);
  if (!nest.build() || nest.roots.size() != 1 || nest.roots.front().value.im)
    return std::nullopt;
  std::optional<ContractionLoops> loops = findContraction(nest);
  if (!loops)
    return std::nullopt;
  std::optional<Product> found = Reader(nest, *loops).read();
  if (!found || found->flops() < kLeastLibraryFlops)
    return std::nullopt;
  // The result may be where the added matrix is, as it lies there, and nowhere else.
  int64_t shared = kernel.inplaceOf(0);
  if (shared >= 0 &&
      (shared != found->c.operand || found->c.perRow != found->d.perRow ||
       found->c.perColumn != found->d.perColumn || found->c.perBatch != found->d.perBatch))
    return std::nullopt;
  Product checked;
  return Product::read(found->numbers(), operandBytes(kernel), checked) ? found : std::nullopt;
}

std::optional<Product> libraryProductOf(const KernelSource &kernel, TargetAttr target) {
  bool isAsked = llvm::any_of(target.getProcessors(), [](ProcessorAttr processor) {
    return llvm::is_contained(processor.toProcessor().features, target::kCublasLt);
  });
  return isAsked ? libraryProductOf(kernel) : std::nullopt;
}

} // namespace tessera::codegen::gpu
