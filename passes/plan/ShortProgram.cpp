#include "passes/plan/ShortProgram.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/MapVector.h"

namespace tessera {

using namespace mlir;

namespace {

constexpr char kLends[] = "tf.aliasing_output";

using Hash = OperationEquivalence;

// Of all but the values that it reads and makes.
llvm::hash_code hashOf(Operation &op) {
  llvm::hash_code hash =
      Hash::computeHash(&op, Hash::ignoreHashValue, Hash::ignoreHashValue, Hash::IgnoreLocations);
  for (Type type : op.getOperandTypes())
    hash = llvm::hash_combine(hash, type);
  for (Region &region : op.getRegions())
    for (Block &block : region)
      for (Operation &inner : block)
        hash = llvm::hash_combine(hash, hashOf(inner));
  return hash;
}

bool joinsScalars(Operation &op) {
  if (op.getNumOperands() != 2 || op.getNumResults() != 1 || op.getNumRegions())
    return false;
  auto type = dyn_cast<RankedTensorType>(op.getResult(0).getType());
  return type && type.getRank() == 0 &&
         llvm::all_of(op.getOperandTypes(), [&](Type each) { return each == type; });
}

DictionaryAttr withoutLending(Builder &builder, DictionaryAttr attributes) {
  NamedAttrList list(attributes);
  list.erase(kLends);
  return list.getDictionary(builder.getContext());
}

} // namespace

plan::Line lineOf(func::FuncOp main) {
  plan::Line line;
  Builder builder(main.getContext());
  DenseMap<std::pair<Type, Attribute>, int32_t> valueKinds;
  llvm::DenseMap<size_t, int32_t> opKinds;
  DenseMap<Value, int32_t> numbers;
  auto add = [&](Value value, Attribute attributes) {
    numbers[value] = int32_t(line.valueKinds.size());
    line.valueKinds.push_back(
        valueKinds.try_emplace({value.getType(), attributes}, int32_t(valueKinds.size()))
            .first->second);
  };
  line.arguments = int32_t(main.getNumArguments());
  for (BlockArgument argument : main.getArguments())
    add(argument, withoutLending(builder, main.getArgAttrDict(argument.getArgNumber())));
  for (Operation &op : main.front()) {
    plan::LineOp &made = line.ops.emplace_back();
    size_t hash = hashOf(op) & ~(size_t(3) << 62); // not one of the map's own
    made.kind = opKinds.try_emplace(hash, int32_t(opKinds.size())).first->second;
    made.joinsScalars = joinsScalars(op);
    op.walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (auto it = numbers.find(operand); it != numbers.end())
          made.operands.push_back(it->second);
    });
    for (Value result : op.getResults()) {
      made.results.push_back(int32_t(line.valueKinds.size()));
      add(result, Attribute());
    }
  }
  return line;
}

OwningOpRef<ModuleOp> shortened(ModuleOp module, const plan::Line &line,
                                const plan::FewerLayers &fewer) {
  auto whole = module.lookupSymbol<func::FuncOp>("main");
  OwningOpRef<ModuleOp> made(ModuleOp::create(module.getLoc(), module.getName()));
  (*made)->setAttrs(module->getAttrDictionary());
  OpBuilder builder(made->getBodyRegion());
  func::FuncOp main;
  for (Operation &op : *module.getBody())
    if (&op == whole.getOperation())
      main = cast<func::FuncOp>(builder.cloneWithoutRegions(op));
    else
      builder.clone(op);

  std::vector<int64_t> resultAt; // that each result becomes; -1: none
  int64_t results = 0;
  for (int32_t v : line.ops.back().operands)
    resultAt.push_back(fewer.instead[v] >= 0 ? results++ : -1);
  SmallVector<Type> argumentTypes, resultTypes;
  SmallVector<DictionaryAttr> argumentAttributes, resultAttributes;
  IRMapping mapping;
  std::vector<Value> values; // of the module, by number
  auto *block = new Block;
  main.getBody().push_back(block);
  for (BlockArgument argument : whole.getArguments()) {
    unsigned number = argument.getArgNumber();
    values.push_back(argument);
    if (!fewer.takes[number])
      continue;
    NamedAttrList attributes(whole.getArgAttrDict(number));
    if (auto lends = dyn_cast_or_null<IntegerAttr>(attributes.get(kLends))) {
      int64_t at = resultAt[lends.getInt()];
      if (at < 0)
        return nullptr;
      attributes.set(kLends, IntegerAttr::get(lends.getType(), at));
    }
    argumentTypes.push_back(argument.getType());
    argumentAttributes.push_back(attributes.getDictionary(module.getContext()));
    mapping.map(argument, block->addArgument(argument.getType(), argument.getLoc()));
  }
  for (auto [number, at] : llvm::enumerate(resultAt)) {
    if (at < 0)
      continue;
    resultTypes.push_back(whole.getResultTypes()[number]);
    resultAttributes.push_back(whole.getResultAttrDict(unsigned(number)));
  }
  main.setFunctionType(builder.getFunctionType(argumentTypes, resultTypes));
  main.setAllArgAttrs(argumentAttributes);
  main.setAllResultAttrs(resultAttributes);

  builder.setInsertionPointToEnd(block);
  for (auto [number, each] : llvm::enumerate(whole.front())) {
    const plan::LineOp &op = line.ops[number];
    llvm::append_range(values, each.getResults());
    bool isLast = number + 1 == line.ops.size();
    if (!isLast && !fewer.keeps[number])
      continue;
    SmallVector<Value> given;
    for (int32_t v : op.operands) {
      int32_t read = fewer.instead[v];
      if (read < 0)
        continue; // of the last
      Value there = mapping.lookup(values[read]);
      mapping.map(values[v], there); // as others read it that are kept
      given.push_back(there);
    }
    if (isLast)
      func::ReturnOp::create(builder, each.getLoc(), given);
    else
      builder.clone(each, mapping);
  }
  return made;
}

} // namespace tessera
