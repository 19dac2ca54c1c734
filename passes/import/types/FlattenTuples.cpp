// Takes tuples and tokens out of a program: a tuple is its parts, and order needs no tokens where
// nothing has effects. Passes.td shows an example.
#include "passes/import/Passes.h"

#include "dialects/stablehlo/StablehloOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "passes/import/gspmd/GspmdSharding.h"
#include "passes/import/types/DropValues.h"

namespace tessera {
#define GEN_PASS_DEF_FLATTENTUPLES
#include "passes/import/Passes.h.inc"

using namespace mlir;

namespace {

bool isToken(Type type) { return isa<stablehlo::TokenType>(type); }
bool isTuple(Type type) { return isa<TupleType>(type); }

// Values without tuples: the parts of each tuple in its place.
void appendParts(OpBuilder &b, Location loc, Value value, SmallVectorImpl<Value> &parts) {
  auto tuple = dyn_cast<TupleType>(value.getType());
  if (!tuple) {
    parts.push_back(value);
    return;
  }
  if (auto made = value.getDefiningOp<stablehlo::TupleOp>()) {
    for (Value part : made->getOperands())
      appendParts(b, loc, part, parts);
    return;
  }
  for (auto [i, type] : llvm::enumerate(tuple.getTypes()))
    appendParts(b, loc,
                stablehlo::GetTupleElementOp::create(b, loc, type, value, static_cast<int32_t>(i)),
                parts);
}

// The value of `type` whose parts come from the front of `parts`.
Value assemble(OpBuilder &b, Location loc, Type type, ValueRange &parts) {
  auto tuple = dyn_cast<TupleType>(type);
  if (!tuple) {
    Value part = parts.front();
    parts = parts.drop_front();
    return part;
  }
  SmallVector<Value> made;
  for (Type each : tuple.getTypes())
    made.push_back(assemble(b, loc, each, parts));
  return stablehlo::TupleOp::create(b, loc, type, made);
}

SmallVector<Type> flatTypes(TypeRange types) {
  SmallVector<Type> flat;
  for (Type type : types)
    if (auto tuple = dyn_cast<TupleType>(type))
      tuple.getFlattenedTypes(flat);
    else
      flat.push_back(type);
  return flat;
}

// `op`, a barrier or a call, on the parts.
void flatten(Operation *op) {
  OpBuilder b(op);
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    appendParts(b, op->getLoc(), operand, operands);
  Operation *made =
      Operation::create(op->getLoc(), op->getName(), flatTypes(op->getResultTypes()), operands,
                        op->getDiscardableAttrDictionary(), op->getPropertiesStorage(), {}, 0);
  b.insert(made);
  if (auto call = dyn_cast<stablehlo::CustomCallOp>(made))
    call.removeOutputOperandAliasesAttr();
  ValueRange parts = made->getResults();
  for (Value result : op->getResults())
    result.replaceAllUsesWith(assemble(b, op->getLoc(), result.getType(), parts));
  op->erase();
}

// What is said of each part of a tuple of the signature: its sharding string.
SmallVector<DictionaryAttr> attributesOfParts(Attribute sharding, size_t count, Builder &b) {
  SmallVector<DictionaryAttr> attributes(count, b.getDictionaryAttr({}));
  auto text = dyn_cast_or_null<StringAttr>(sharding);
  if (!text)
    return attributes;
  SmallVector<StringRef> parts = import::tupleParts(text);
  for (auto [i, each] : llvm::enumerate(attributes))
    if (parts.size() == count || parts.size() == 1)
      each = b.getDictionaryAttr(b.getNamedAttr(
          "mhlo.sharding", b.getStringAttr(parts.size() == 1 ? parts[0] : parts[i])));
  return attributes;
}

// The entry's tuples become arguments one by one. All at once: each change of a signature makes a
// new list of all its attributes.
void flattenArguments(func::FuncOp function) {
  OpBuilder b = OpBuilder::atBlockBegin(&function.getBody().front());
  SmallVector<unsigned> places;
  SmallVector<Type> types;
  SmallVector<DictionaryAttr> attributes;
  SmallVector<Location> locations;
  for (BlockArgument argument : function.getArguments()) {
    auto tuple = dyn_cast<TupleType>(argument.getType());
    if (!tuple)
      continue;
    tuple.getFlattenedTypes(types);
    unsigned i = argument.getArgNumber();
    size_t count = types.size() - places.size();
    places.append(count, i + 1);
    attributes.append(attributesOfParts(function.getArgAttr(i, "mhlo.sharding"), count, b));
    locations.append(count, argument.getLoc());
  }
  SmallVector<BlockArgument> before(function.getArguments());
  (void)function.insertArguments(places, types, attributes, locations);
  BitVector tuples(function.getNumArguments());
  for (BlockArgument argument : before) {
    auto tuple = dyn_cast<TupleType>(argument.getType());
    if (!tuple)
      continue;
    SmallVector<Type> flat;
    tuple.getFlattenedTypes(flat);
    ValueRange parts = function.getArguments().slice(argument.getArgNumber() + 1, flat.size());
    argument.replaceAllUsesWith(assemble(b, argument.getLoc(), tuple, parts));
    tuples.set(argument.getArgNumber());
  }
  (void)function.eraseArguments(tuples);
}

// The same of its results.
void flattenResults(func::FuncOp function) {
  Operation *end = function.getBody().front().getTerminator();
  OpBuilder b(end);
  SmallVector<unsigned> places;
  SmallVector<Type> types;
  SmallVector<DictionaryAttr> attributes;
  SmallVector<Value> returned;
  BitVector tuples; // of the results with the parts among them
  for (auto [i, value] : llvm::enumerate(end->getOperands())) {
    tuples.push_back(isTuple(value.getType()));
    if (!isTuple(value.getType())) {
      returned.push_back(value);
      continue;
    }
    SmallVector<Value> parts;
    appendParts(b, end->getLoc(), value, parts);
    llvm::append_range(types, ValueRange(parts).getTypes());
    places.append(parts.size(), i + 1);
    attributes.append(
        attributesOfParts(function.getResultAttr(i, "mhlo.sharding"), parts.size(), b));
    tuples.resize(tuples.size() + parts.size());
    returned.append(parts);
  }
  end->setOperands(returned);
  (void)function.insertResults(places, types, attributes);
  (void)function.eraseResults(tuples);
}

// Arguments and results that are tokens go; what aliases a later output follows it.
void dropTokensOfSignature(func::FuncOp function) {
  BitVector arguments(function.getNumArguments()), results(function.getNumResults());
  SmallVector<int64_t> place;
  int64_t stays = 0;
  for (auto [i, type] : llvm::enumerate(function.getResultTypes())) {
    results[i] = isToken(type);
    place.push_back(stays);
    stays += !isToken(type);
  }
  Builder b(function.getContext());
  for (auto [i, type] : llvm::enumerate(function.getArgumentTypes())) {
    arguments[i] = isToken(type);
    auto alias = function.getArgAttrOfType<IntegerAttr>(i, "tf.aliasing_output");
    if (alias && alias.getInt() >= 0 && alias.getInt() < static_cast<int64_t>(place.size()))
      function.setArgAttr(i, "tf.aliasing_output",
                          IntegerAttr::get(alias.getType(), place[alias.getInt()]));
  }
  Operation *end = function.getBody().front().getTerminator();
  SmallVector<Value> returned;
  for (Value value : end->getOperands())
    if (!isToken(value.getType()))
      returned.push_back(value);
  end->setOperands(returned);
  (void)function.eraseResults(results);
  (void)function.eraseArguments(arguments);
}

LogicalResult refuseHostTransfers(func::FuncOp function) {
  WalkResult result = function.walk([](Operation *op) -> WalkResult {
    if (isa<stablehlo::InfeedOp>(op))
      return op->emitError("infeed reads from the host while the program runs, which Tessera's "
                           "programs cannot; pass the data as an argument of @main");
    if (isa<stablehlo::OutfeedOp>(op))
      return op->emitError("outfeed writes to the host while the program runs, which Tessera's "
                           "programs cannot; return the data from @main");
    if (isa<stablehlo::SendOp, stablehlo::RecvOp>(op))
      return op->emitError("'") << op->getName()
                                << "' speaks with another program or the host, which Tessera's "
                                   "programs cannot; use collectives between devices, or "
                                   "arguments and results of @main";
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

struct FlattenTuplesPass : impl::FlattenTuplesBase<FlattenTuplesPass> {
  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (function.isExternal())
        continue;
      if (failed(refuseHostTransfers(function)))
        return signalPassFailure();
      flattenValues(function);
      bool hasTokens = llvm::any_of(function.getArgumentTypes(), isToken);
      function.walk(
          [&](Operation *op) { hasTokens |= llvm::any_of(op->getResultTypes(), isToken); });
      if (!hasTokens)
        continue;
      // One token stands for all until nothing is left that takes one.
      OpBuilder b = OpBuilder::atBlockBegin(&function.getBody().front());
      Type type = stablehlo::TokenType::get(&getContext());
      auto token = stablehlo::CreateTokenOp::create(b, function.getLoc(), type);
      import::dropValues(function, isToken,
                         [&](OpBuilder &, Location, Type) -> Value { return token.getResult(); });
      dropTokensOfSignature(function);
      function.walk([](stablehlo::CreateTokenOp unused) {
        if (unused->use_empty())
          unused.erase();
      });
    }
  }

  static void flattenValues(func::FuncOp function) {
    if (llvm::any_of(function.getArgumentTypes(), isTuple))
      flattenArguments(function);
    if (llvm::any_of(function.getResultTypes(), isTuple))
      flattenResults(function);
    SmallVector<Operation *> holders;
    function.walk([&](Operation *op) {
      if (isa<stablehlo::OptimizationBarrierOp, stablehlo::CustomCallOp>(op) &&
          (llvm::any_of(op->getOperandTypes(), isTuple) ||
           llvm::any_of(op->getResultTypes(), isTuple)))
        holders.push_back(op);
    });
    for (Operation *op : holders)
      flatten(op);
    function.walk([](stablehlo::GetTupleElementOp element) {
      if (auto made = element.getOperand().getDefiningOp<stablehlo::TupleOp>()) {
        element.replaceAllUsesWith(made->getOperand(element.getIndex()));
        element.erase();
      }
    });
    SmallVector<Operation *> unused;
    function.walk([&](stablehlo::TupleOp tuple) { unused.push_back(tuple); });
    for (Operation *op : llvm::reverse(unused))
      if (op->use_empty())
        op->erase();
  }
};

} // namespace
} // namespace tessera
