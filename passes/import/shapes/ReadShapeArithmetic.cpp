#include "passes/import/shapes/ReadShapeArithmetic.h"

#include "dialects/stablehlo/StablehloOps.h"
#include "dialects/stablehlo/TensorTypes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Matchers.h"

namespace tessera {
using namespace mlir;
using namespace tessera::stablehlo;

namespace {

bool isForeign(Operation *op) {
  StringRef dialect = op->getName().getDialectNamespace();
  return dialect == "arith" || dialect == "tensor" || dialect == "shape";
}

// Scalars are tensors of rank 0, and sizes i64.
Type written(Type type) {
  auto element = [](Type t) {
    return isa<IndexType>(t) ? IntegerType::get(t.getContext(), 64) : t;
  };
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    return tensor.clone(element(tensor.getElementType()));
  return type.isIntOrIndexOrFloat() ? Type(RankedTensorType::get({}, element(type))) : Type();
}

class Reader {
public:
  explicit Reader(OpBuilder builder) : b(builder) {}

  LogicalResult read(Block &block) {
    for (Operation &op : llvm::make_early_inc_range(block))
      if (failed(isForeign(&op) ? translate(&op) : adopt(&op)))
        return failure();
    return success();
  }

  void eraseRead() {
    for (Operation *op : llvm::reverse(done)) {
      op->dropAllUses();
      op->erase();
    }
  }

private:
  Value get(Value value) {
    auto found = values.find(value);
    return found == values.end() ? value : found->second;
  }

  LogicalResult adopt(Operation *op) {
    for (OpOperand &operand : op->getOpOperands())
      operand.set(get(operand.get()));
    for (Region &region : op->getRegions())
      for (Block &block : region)
        if (failed(read(block)))
          return failure();
    return success();
  }

  template <typename Op> Value make(Type type, ValueRange operands) {
    OperationState state(loc, Op::getOperationName());
    state.addTypes(type);
    state.addOperands(operands);
    return b.create(state)->getResult(0);
  }

  Value numbers(RankedTensorType type, ArrayRef<int64_t> values) {
    unsigned width = type.getElementTypeBitWidth();
    SmallVector<APInt> elements;
    for (int64_t value : values)
      elements.push_back(APInt(width, value, /*isSigned=*/true, /*implicitTrunc=*/true));
    return ConstantOp::create(b, loc, DenseElementsAttr::get(type, elements));
  }

  Value constant(Attribute value) {
    if (auto elements = dyn_cast<DenseIntElementsAttr>(value);
        elements && elements.getElementType().isIndex()) {
      SmallVector<int64_t> sizes;
      for (const APInt &size : elements.getValues<APInt>())
        sizes.push_back(size.getSExtValue());
      return numbers(cast<RankedTensorType>(written(elements.getType())), sizes);
    }
    if (auto elements = dyn_cast<ElementsAttr>(value))
      return ConstantOp::create(b, loc, elements);
    auto typed = dyn_cast<TypedAttr>(value);
    auto type = typed ? cast_or_null<RankedTensorType>(written(typed.getType())) : nullptr;
    if (!type)
      return {};
    if (auto number = dyn_cast<IntegerAttr>(value))
      return ConstantOp::create(b, loc,
                                DenseElementsAttr::get(type, number.getValue().sextOrTrunc(
                                                                 type.getElementTypeBitWidth())));
    if (auto number = dyn_cast<FloatAttr>(value))
      return ConstantOp::create(b, loc, DenseElementsAttr::get(type, number.getValue()));
    return {};
  }

  Value size(Value tensor, int64_t dim) {
    Value narrow =
        GetDimensionSizeOp::create(b, loc, RankedTensorType::get({}, b.getI32Type()), tensor, dim);
    return make<ConvertOp>(RankedTensorType::get({}, b.getI64Type()), narrow);
  }

  Value vector(ValueRange scalars, RankedTensorType type) {
    auto one = RankedTensorType::get({1}, type.getElementType());
    SmallVector<Value> parts;
    for (Value scalar : scalars)
      parts.push_back(make<ReshapeOp>(one, scalar));
    if (parts.empty())
      return numbers(type, {});
    auto flat = RankedTensorType::get({int64_t(parts.size())}, type.getElementType());
    Value all = ConcatenateOp::create(b, loc, flat, parts, 0);
    return type == flat ? all : make<ReshapeOp>(type, all);
  }

  // Two shapes as long as the longer: the shorter has ones before it.
  std::pair<Value, Value> aligned(Value x, Value y) {
    int64_t rank = std::max(typeOf(x).getDimSize(0), typeOf(y).getDimSize(0));
    for (Value *shape : {&x, &y}) {
      RankedTensorType type = typeOf(*shape);
      int64_t missing = rank - type.getDimSize(0);
      if (missing == 0)
        continue;
      auto ones = RankedTensorType::get({missing}, type.getElementType());
      Value parts[] = {numbers(ones, SmallVector<int64_t>(missing, 1)), *shape};
      *shape = ConcatenateOp::create(b, loc, RankedTensorType::get({rank}, type.getElementType()),
                                     ValueRange(parts), 0);
    }
    return {x, y};
  }

  Value equal(Value x, Value y) {
    return CompareOp::create(b, loc, x, y, ComparisonDirection::EQ, ComparisonType::SIGNED);
  }

  Value onesLike(Value shape) {
    return numbers(typeOf(shape), SmallVector<int64_t>(typeOf(shape).getDimSize(0), 1));
  }

  // Sizes of 1 yield to the other shape's.
  Value broadcast(Value x, Value y) {
    std::tie(x, y) = aligned(x, y);
    return SelectOp::create(b, loc, equal(x, onesLike(x)), y, x);
  }

  void assertBroadcastable(Value x, Value y) {
    std::tie(x, y) = aligned(x, y);
    Value ones = onesLike(x);
    auto type = RankedTensorType::get(typeOf(x).getShape(), b.getI1Type());
    Value fits =
        make<OrOp>(type, {equal(x, y), make<OrOp>(type, {equal(x, ones), equal(y, ones)})});
    for (int64_t d = 0; d < type.getDimSize(0); ++d) {
      Value one =
          SliceOp::create(b, loc, RankedTensorType::get({1}, b.getI1Type()), fits,
                          ArrayRef<int64_t>{d}, ArrayRef<int64_t>{d + 1}, ArrayRef<int64_t>{1});
      Value holds = make<ReshapeOp>(RankedTensorType::get({}, b.getI1Type()), one);
      OperationState state(loc, CustomCallOp::getOperationName());
      state.addOperands(holds);
      state.addAttribute("call_target_name", b.getStringAttr("shape_assertion"));
      state.addAttribute("has_side_effect", b.getBoolAttr(true));
      state.addAttribute("error_message",
                         b.getStringAttr("the sizes of dimension " + std::to_string(d) +
                                         " of two shapes don't go together"));
      b.create(state);
    }
  }

  Value floorDivide(Value x, Value y, Type type) {
    Value quotient = make<DivOp>(type, {x, y}), rest = make<RemOp>(type, {x, y});
    auto flags = RankedTensorType::get(typeOf(x).getShape(), b.getI1Type());
    Value zero = numbers(typeOf(x), SmallVector<int64_t>(typeOf(x).getNumElements(), 0));
    auto negative = [&](Value v) -> Value {
      return CompareOp::create(b, loc, v, zero, ComparisonDirection::LT, ComparisonType::SIGNED);
    };
    Value uneven = make<NotOp>(flags, equal(rest, zero));
    Value below = make<AndOp>(flags, {uneven, make<XorOp>(flags, {negative(rest), negative(y)})});
    return make<SubtractOp>(type, {quotient, make<ConvertOp>(type, below)});
  }

  Value compare(Operation *op, Value x, Value y) {
    using D = ComparisonDirection;
    static constexpr D directions[] = {D::EQ, D::NE, D::LT, D::LE, D::GT,
                                       D::GE, D::LT, D::LE, D::GT, D::GE};
    int64_t predicate = op->getAttrOfType<IntegerAttr>("predicate").getInt();
    if (predicate >= 6) // unsigned
      return {};
    return CompareOp::create(b, loc, x, y, directions[predicate], ComparisonType::SIGNED);
  }

  Value operation(Operation *op, Type type, ArrayRef<Value> in) {
    StringRef name = op->getName().getStringRef();
    if (name == "arith.constant")
      return constant(op->getAttr("value"));
    if (name == "shape.const_shape")
      return constant(op->getAttr("shape"));
    if (name == "arith.addi" || name == "arith.addf")
      return make<AddOp>(type, in);
    if (name == "arith.subi" || name == "arith.subf")
      return make<SubtractOp>(type, in);
    if (name == "arith.muli" || name == "arith.mulf")
      return make<MulOp>(type, in);
    if (name == "arith.divsi" || name == "arith.divf")
      return make<DivOp>(type, in);
    if (name == "arith.remsi")
      return make<RemOp>(type, in);
    if (name == "arith.floordivsi")
      return floorDivide(in[0], in[1], type);
    if (name == "arith.ceildivsi")
      return make<NegOp>(type, floorDivide(make<NegOp>(type, in[0]), in[1], type));
    if (name == "arith.maxsi")
      return make<MaxOp>(type, in);
    if (name == "arith.minsi")
      return make<MinOp>(type, in);
    if (name == "arith.andi")
      return make<AndOp>(type, in);
    if (name == "arith.ori")
      return make<OrOp>(type, in);
    if (name == "arith.xori")
      return make<XorOp>(type, in);
    if (name == "arith.select")
      return make<SelectOp>(type, in);
    if (name == "arith.cmpi")
      return compare(op, in[0], in[1]);
    if (name == "arith.index_cast" || name == "arith.extsi" || name == "arith.trunci" ||
        name == "arith.sitofp" || name == "arith.fptosi" || name == "arith.extf" ||
        name == "arith.truncf")
      return in[0].getType() == type ? in[0] : make<ConvertOp>(type, in);
    if (name == "tensor.cast")
      return in[0];
    if (name == "tensor.from_elements")
      return vector(in, cast<RankedTensorType>(type));
    if (name == "tensor.dim") {
      APInt dim;
      if (!matchPattern(in[1], m_ConstantInt(&dim)) || dim.uge(typeOf(in[0]).getRank()))
        return {};
      return size(in[0], dim.getZExtValue());
    }
    if (name == "tensor.extract") {
      SmallVector<int64_t> ones(typeOf(in[0]).getRank(), 1);
      Value one = in[0];
      if (!ones.empty())
        one = DynamicSliceOp::create(b, loc,
                                     RankedTensorType::get(ones, typeOf(one).getElementType()), one,
                                     in.drop_front(), ones);
      return make<ReshapeOp>(type, one);
    }
    if (name == "shape.shape_of") {
      SmallVector<Value> sizes;
      for (int64_t d = 0; d < typeOf(in[0]).getRank(); ++d)
        sizes.push_back(size(in[0], d));
      return vector(sizes, RankedTensorType::get({int64_t(sizes.size())}, b.getI64Type()));
    }
    if (name == "shape.broadcast") {
      Value all = in[0];
      for (Value next : in.drop_front())
        all = broadcast(all, next);
      return all;
    }
    return {};
  }

  LogicalResult translate(Operation *op) {
    loc = op->getLoc();
    b.setInsertionPoint(op);
    done.push_back(op);
    SmallVector<Value> in;
    for (Value operand : op->getOperands())
      in.push_back(get(operand));
    StringRef name = op->getName().getStringRef();
    if (name == "shape.cstr_broadcastable") {
      for (size_t i = 1; i < in.size(); ++i)
        assertBroadcastable(in[0], in[i]);
      return success();
    }
    if (name == "shape.assuming_all" || name == "shape.const_witness")
      return success();
    if (name == "shape.assuming_yield") {
      done.pop_back(); // goes with the region that it ends
      return success();
    }
    if (name == "shape.assuming") {
      done.pop_back();
      return inlined(op);
    }
    Type type = op->getNumResults() == 1 ? written(op->getResult(0).getType()) : Type();
    Value value = type ? operation(op, type, in) : Value();
    if (!value)
      return op->emitError()
             << "'" << name << "' is not arithmetic on sizes that Tessera reads; "
             << "export the program with static shapes, or with other arithmetic on them";
    values[op->getResult(0)] = value;
    return success();
  }

  LogicalResult inlined(Operation *op) {
    Block &body = op->getRegion(0).front();
    if (failed(read(body)))
      return failure();
    Operation *yield = body.getTerminator();
    for (auto [result, value] : llvm::zip(op->getResults(), yield->getOperands()))
      result.replaceAllUsesWith(get(value));
    yield->erase();
    op->getBlock()->getOperations().splice(op->getIterator(), body.getOperations());
    op->erase();
    return success();
  }

  OpBuilder b;
  Location loc = b.getUnknownLoc();
  DenseMap<Value, Value> values;
  SmallVector<Operation *> done;
};

} // namespace

LogicalResult readShapeArithmetic(func::FuncOp function) {
  bool any = function
                 .walk([](Operation *op) {
                   return isForeign(op) ? WalkResult::interrupt() : WalkResult::advance();
                 })
                 .wasInterrupted();
  if (!any || !function.getBody().hasOneBlock())
    return success();
  Reader reader{OpBuilder(function.getContext())};
  if (failed(reader.read(function.getBody().front())))
    return failure();
  reader.eraseRead();
  return success();
}

} // namespace tessera
