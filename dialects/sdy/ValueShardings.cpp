// Where each value keeps its sharding.
#include "dialects/sdy/KeepSharding.h"
#include "dialects/sdy/PlainData.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tessera::sdy {
namespace {

// The loop result that a block argument of a loop goes with; null for other values.
Value carriedResult(BlockArgument argument) {
  Operation *parent = argument.getOwner()->getParentOp();
  if (parent && parent->getName().getStringRef() == "stablehlo.while" &&
      argument.getArgNumber() < parent->getNumResults())
    return parent->getResult(argument.getArgNumber());
  return {};
}

TensorShardingAttr at(TensorShardingPerValueAttr shardings, unsigned index) {
  return shardings && index < shardings.getShardings().size() ? shardings.getShardings()[index]
                                                              : TensorShardingAttr();
}

TensorShardingAttr ofResult(OpResult result) {
  Operation *op = result.getOwner();
  unsigned index = result.getResultNumber();
  if (!isa<SdyDialect>(op->getDialect()))
    return at(op->getAttrOfType<TensorShardingPerValueAttr>(kShardingAttr), index);
  return TypeSwitch<Operation *, TensorShardingAttr>(op)
      .Case<ShardingConstraintOp, ReshardOp>([](auto op) { return op.getSharding(); })
      .Case([](DataFlowEdgeOp op) { return op.getSharding().value_or(TensorShardingAttr()); })
      .Case([&](ManualComputationOp op) { return at(op.getOutShardings(), index); })
      .Case(
          [&](NamedComputationOp op) { return at(op.getOutShardings().value_or(nullptr), index); })
      .Default([&](Operation *op) {
        if (auto out = op->getAttrOfType<TensorShardingAttr>("out_sharding"))
          return out;
        return at(op->getAttrOfType<TensorShardingPerValueAttr>(kShardingAttr), index);
      });
}

// As good as none, on the mesh of `other`.
TensorShardingAttr open(Type type, TensorShardingAttr other) {
  MLIRContext *context = other.getContext();
  auto shaped = dyn_cast<ShapedType>(type);
  SmallVector<DimensionShardingAttr> dims(shaped && shaped.hasRank() ? shaped.getRank() : 0,
                                          DimensionShardingAttr::get(context, {}, false));
  return other.withAxes(dims, {}, {});
}

// `said` of each value, what `old` says where that is null, and else open.
TensorShardingPerValueAttr replaced(TensorShardingPerValueAttr old, ValueRange values,
                                    ArrayRef<TensorShardingAttr> said) {
  TensorShardingAttr any = *llvm::find_if(said, [](TensorShardingAttr each) { return each; });
  SmallVector<TensorShardingAttr> all(said);
  for (auto [i, sharding, value] : llvm::enumerate(all, values)) {
    if (!sharding)
      sharding = at(old, i);
    if (!sharding)
      sharding = open(value.getType(), any);
  }
  return TensorShardingPerValueAttr::get(any.getContext(), all);
}

TensorShardingPerValueAttr replaced(TensorShardingPerValueAttr old, ValueRange values,
                                    unsigned index, TensorShardingAttr sharding) {
  SmallVector<TensorShardingAttr> said(values.size());
  said[index] = sharding;
  return replaced(old, values, said);
}

void setResult(OpResult result, TensorShardingAttr sharding) {
  Operation *op = result.getOwner();
  unsigned index = result.getResultNumber();
  auto per = [&](TensorShardingPerValueAttr old) {
    return replaced(old, op->getResults(), index, sharding);
  };
  TypeSwitch<Operation *>(op)
      .Case<ShardingConstraintOp, ReshardOp, DataFlowEdgeOp>(
          [&](auto op) { op.setShardingAttr(sharding); })
      .Case([&](ManualComputationOp op) { op.setOutShardingsAttr(per(op.getOutShardings())); })
      .Case([&](NamedComputationOp op) {
        op.setOutShardingsAttr(per(op.getOutShardings().value_or(nullptr)));
      })
      .Default([&](Operation *op) {
        if (isa<SdyDialect>(op->getDialect()) && op->hasAttr("out_sharding"))
          op->setAttr("out_sharding", sharding);
        else
          op->setAttr(kShardingAttr,
                      per(op->getAttrOfType<TensorShardingPerValueAttr>(kShardingAttr)));
      });
}

} // namespace

TensorShardingAttr getSharding(Value value) {
  if (auto result = dyn_cast<OpResult>(value))
    return ofResult(result);
  auto argument = cast<BlockArgument>(value);
  if (Value result = carriedResult(argument))
    return getSharding(result);
  unsigned index = argument.getArgNumber();
  return TypeSwitch<Operation *, TensorShardingAttr>(argument.getOwner()->getParentOp())
      .Case([&](FunctionOpInterface op) {
        return argument.getOwner()->isEntryBlock()
                   ? op.getArgAttrOfType<TensorShardingAttr>(index, kShardingAttr)
                   : TensorShardingAttr();
      })
      .Case([&](ManualComputationOp op) {
        TensorShardingAttr sharding = at(op.getInShardings(), index);
        return sharding ? insideManual(sharding, op.getManualAxes()) : sharding;
      })
      .Case([&](NamedComputationOp op) { return at(op.getInShardings().value_or(nullptr), index); })
      .Default([](Operation *) { return TensorShardingAttr(); });
}

void setSharding(Value value, TensorShardingAttr sharding) {
  if (auto result = dyn_cast<OpResult>(value))
    return setResult(result, sharding);
  auto argument = cast<BlockArgument>(value);
  if (Value result = carriedResult(argument))
    return setSharding(result, sharding);
  unsigned index = argument.getArgNumber();
  if (auto function = dyn_cast<FunctionOpInterface>(argument.getOwner()->getParentOp()))
    function.setArgAttr(index, kShardingAttr, sharding);
  else if (auto named = dyn_cast<NamedComputationOp>(argument.getOwner()->getParentOp()))
    named.setInShardingsAttr(
        replaced(named.getInShardings().value_or(nullptr), named.getOperands(), index, sharding));
}

void keepSharding(ValueRange from, ValueRange to) {
  llvm::MapVector<Operation *, SmallVector<TensorShardingAttr>> said; // of each result
  for (auto [old, made] : llvm::zip_equal(from, to)) {
    auto source = dyn_cast<OpResult>(old), target = dyn_cast<OpResult>(made);
    if (!source || !target || isa<SdyDialect>(source.getOwner()->getDialect()) ||
        isa<SdyDialect>(target.getOwner()->getDialect()))
      continue;
    TensorShardingAttr sharding = ofResult(source);
    if (!sharding)
      continue;
    Operation *op = target.getOwner();
    auto [it, fresh] = said.try_emplace(op, op->getNumResults());
    it->second[target.getResultNumber()] = sharding;
  }
  for (auto &[op, shardings] : said)
    op->setAttr(kShardingAttr,
                replaced(op->getAttrOfType<TensorShardingPerValueAttr>(kShardingAttr),
                         op->getResults(), shardings));
}

} // namespace tessera::sdy
