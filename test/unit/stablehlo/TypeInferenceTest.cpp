// The types of results that follow from the rest of an op are those that programs give it: of each
// op in the texts of test/dialects/stablehlo, which between them have every variant.
#include "dialects/stablehlo/StablehloOps.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Quant/IR/Quant.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/MemoryBuffer.h"
#include <gtest/gtest.h>
#include <set>

namespace tessera::stablehlo {
namespace {

using namespace mlir;

struct Inference : testing::Test {
  Inference() {
    context.loadDialect<func::FuncDialect, quant::QuantDialect, StablehloDialect>();
    context.allowUnregisteredDialects();
  }
  MLIRContext context;
};

std::string text(TypeRange types) {
  std::string result;
  llvm::raw_string_ostream stream(result);
  llvm::interleaveComma(types, stream);
  return result;
}

// Shapes exactly, elements but for a product's, which may be wider than its operands'.
bool fits(Operation *op, TypeRange inferred) {
  if (inferred.size() != op->getNumResults())
    return false;
  bool isProduct = isa<DotGeneralOp, DotOp, ConvolutionOp>(op);
  return llvm::all_of(llvm::zip(inferred, op->getResultTypes()), [&](auto pair) {
    auto [a, b] = pair;
    auto x = dyn_cast<RankedTensorType>(a), y = dyn_cast<RankedTensorType>(b);
    return isProduct && x && y ? x.getShape() == y.getShape() : typesAgree(a, b);
  });
}

void check(Operation *op, std::set<std::string> &names) {
  auto inference = dyn_cast<InferTypeOpInterface>(op);
  if (!inference)
    return;
  SmallVector<Type> types;
  names.insert(op->getName().getStringRef().str());
  bool given = succeeded(inference.inferReturnTypes(
      op->getContext(), op->getLoc(), op->getOperands(), op->getDiscardableAttrDictionary(),
      op->getPropertiesStorage(), op->getRegions(), types));
  EXPECT_TRUE(given && fits(op, types))
      << op->getName().getStringRef().str() << " has " << text(op->getResultTypes())
      << ", inferred " << text(types);
}

TEST_F(Inference, GivesWhatProgramsSay) {
  std::set<std::string> names;
  for (const char *family : {"collective", "contraction", "control-flow", "data-movement",
                             "elementwise", "linear-algebra", "reduction", "quantized"}) {
    std::string file = std::string(TESSERA_TEXTS) + "/" + family + "-ops.mlir";
    auto buffer = llvm::MemoryBuffer::getFile(file);
    ASSERT_TRUE(bool(buffer)) << file;
    SmallVector<StringRef> parts;
    (*buffer)->getBuffer().split(parts, "// -----\n");
    for (StringRef part : parts) {
      auto module = parseSourceString<ModuleOp>(part, &context);
      ASSERT_TRUE(module) << file;
      module->walk([&](Operation *op) { check(op, names); });
    }
  }
  for (const char *name : {"all_gather",
                           "all_reduce",
                           "all_to_all",
                           "batch_norm_grad",
                           "batch_norm_inference",
                           "batch_norm_training",
                           "broadcast",
                           "case",
                           "cholesky",
                           "collective_broadcast",
                           "collective_permute",
                           "concatenate",
                           "convolution",
                           "dot",
                           "dot_general",
                           "dynamic_slice",
                           "dynamic_update_slice",
                           "fft",
                           "gather",
                           "get_dimension_size",
                           "get_tuple_element",
                           "if",
                           "map",
                           "optimization_barrier",
                           "pad",
                           "partition_id",
                           "reduce",
                           "reduce_scatter",
                           "reduce_window",
                           "replica_id",
                           "reverse",
                           "rng",
                           "scatter",
                           "select_and_scatter",
                           "slice",
                           "sort",
                           "transpose",
                           "triangular_solve",
                           "tuple",
                           "while"})
    EXPECT_TRUE(names.count(std::string("stablehlo.") + name)) << name;
}

// Builders that are given no types.
TEST_F(Inference, MakesOps) {
  OpBuilder b(&context);
  Location loc = b.getUnknownLoc();
  auto module = ModuleOp::create(loc);
  b.setInsertionPointToEnd(module.getBody());
  auto zeros = [&](ArrayRef<int64_t> shape, Type element) -> Value {
    auto type = RankedTensorType::get(shape, element);
    return ConstantOp::create(b, loc, DenseElementsAttr::get(type, b.getZeroAttr(element)));
  };
  Type f32 = b.getF32Type(), i32 = b.getI32Type();
  Value x = zeros({4, 6}, f32), one = zeros({}, f32), index = zeros({}, i32);
  auto is = [&](Value value, ArrayRef<int64_t> shape, Type element) {
    EXPECT_EQ(value.getType(), RankedTensorType::get(shape, element)) << text(value.getType());
  };
  using Numbers = ArrayRef<int64_t>;
  is(TransposeOp::create(b, loc, x, Numbers{1, 0}), {6, 4}, f32);
  is(SliceOp::create(b, loc, x, Numbers{1, 0}, Numbers{4, 6}, Numbers{2, 5}), {2, 2}, f32);
  is(PadOp::create(b, loc, x, one, Numbers{1, -2}, Numbers{0, 3}, Numbers{2, 0}), {11, 7}, f32);
  is(DynamicSliceOp::create(b, loc, x, ValueRange{index, index}, Numbers{2, 3}), {2, 3}, f32);
  is(ConcatenateOp::create(b, loc, ValueRange{x, x}, 1), {4, 12}, f32);
  is(FftOp::create(b, loc, x, FftType::RFFT, Numbers{6}), {4, 4}, ComplexType::get(f32));
  auto numbers = DotDimensionNumbersAttr::get(&context, {}, {}, {1}, {1});
  is(DotGeneralOp::create(b, loc, x, x, numbers, ArrayAttr(), DotAlgorithmAttr()), {4, 4}, f32);
  // A reduction's elements are its initial value's while it has no region, then what that computes.
  auto reduce = ReduceOp::create(b, loc, ValueRange{x}, ValueRange{one}, Numbers{0});
  is(reduce->getResult(0), {6}, f32);
  module.erase();
}

} // namespace
} // namespace tessera::stablehlo
