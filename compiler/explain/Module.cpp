#include "compiler/explain/Module.h"

#include "compiler/source/SourcePlaces.h"
#include "dialects/sdy/DataFlow.h"
#include "dialects/sdy/SignatureAttributes.h"
#include "dialects/stablehlo/StablehloOps.h"
#include "dialects/tessera/Marks.h"
#include "passes/propagate/Origins.h"
#include "passes/reshard/Movement.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/raw_ostream.h"

namespace tessera {

using namespace mlir;
using explain::Value;
using sharding::TensorSharding;

namespace {

template <typename T> std::string printed(T &&what) {
  std::string text;
  llvm::raw_string_ostream(text) << what;
  return text;
}

// `[{"x"}, {}]` of `#sdy.sharding<@mesh, [{"x"}, {}]>`
std::string shardingText(sdy::TensorShardingAttr sharding) {
  if (!sharding)
    return "whole";
  std::string text = printed(sharding);
  StringRef inner = StringRef(text).split(", ").second;
  return inner.drop_back(1).str();
}

std::string quoted(const sharding::Mesh &mesh, ArrayRef<sharding::AxisRef> axes) {
  std::string text;
  for (const sharding::AxisRef &axis : axes)
    text += (text.empty() ? "\"" : ", \"") + mesh.axes[axis.axis].name + "\"";
  return text;
}

class Explainer {
public:
  Explainer(ModuleOp module, const sharding::Mesh &mesh)
      : mesh(mesh), shardings(mesh, module.getContext()), topology(topologyOf(module)),
        planner(mesh, topology) {}

  ExplainedModule take(func::FuncOp main) {
    {
      sdy::SignatureAttributes signature(main);
      for (BlockArgument argument : main.getArguments())
        addArgument(main, argument, signature);
    }
    addBlock(main.getBody().front());
    for (auto &[result, sources] : later) // what loops and branches return
      for (mlir::Value source : sources)
        if (numbers.contains(source))
          all.values[result].operands.push_back(numbers[source]);
    for (sdy::ReshardOp op : reshards)
      explainReshard(op);
    return std::move(all);
  }

private:
  int32_t add(mlir::Value value, Value entry) {
    entry.type = printed(value.getType());
    entry.sharding = shardingText(sdy::getSharding(value));
    numbers[value] = all.values.size();
    all.values.push_back(std::move(entry));
    return numbers[value];
  }

  static void describe(Value &entry, Location location) {
    SourcePlace place = placeOf(location);
    entry.name = place.name;
    entry.scope = place.scope;
    entry.frames = std::move(place.frames);
  }

  void addArgument(func::FuncOp main, BlockArgument argument, sdy::SignatureAttributes &signature) {
    Value entry;
    SourcePlace place = placeOf(argument.getLoc());
    entry.name = argumentName(place, argument.getArgNumber());
    entry.frames = std::move(place.frames);
    entry.op = "argument";
    unsigned index = argument.getArgNumber();
    if (OriginAttr origin = getOrigin(signature.ofArgument(index)))
      entry.origins = textOf(origin.getLines().front());
    setOrigin(signature, index, {});
    add(argument, std::move(entry));
  }

  static std::vector<std::string> textOf(ArrayAttr lines) {
    std::vector<std::string> text;
    for (auto line : lines.getAsRange<StringAttr>())
      text.push_back(line.str());
    return text;
  }

  void addBlock(Block &block) {
    for (Operation &op : block)
      addOp(&op);
  }

  void addOp(Operation *op) {
    if (op->hasTrait<OpTrait::IsTerminator>())
      return;
    int32_t number = count++;
    setNumber(op, NumberedAfter::Reshard, number);
    bool holds = sdy::holdsProgram(op);
    if (holds) // what enters a region is known there by its name outside
      for (const sdy::DataFlowEdge &edge : sdy::dataFlowEdges(op))
        for (mlir::Value target : edge.targets)
          if (isa<BlockArgument>(target) && !edge.sources.empty() &&
              numbers.contains(edge.sources[0]))
            numbers[target] = numbers[edge.sources[0]];
    OriginAttr origin = getOrigin(op);
    ConflictAttr conflict = getConflict(op);
    setOrigin(op, {});
    setConflict(op, {});
    Cause cause;
    if (holds)
      for (Region &region : op->getRegions())
        addBlock(region.front());
    for (OpResult result : op->getResults()) {
      if (!isa<RankedTensorType>(result.getType()))
        continue;
      Value entry;
      describe(entry, op->getLoc());
      if (entry.name.empty())
        entry.name = "%~" + std::to_string(number);
      if (op->getNumResults() > 1)
        entry.name += "#" + std::to_string(result.getResultNumber());
      entry.op = op->getName().stripDialect().str();
      if (origin && result.getResultNumber() < origin.getLines().size())
        entry.origins = textOf(origin.getLines()[result.getResultNumber()]);
      if (conflict)
        entry.conflicts = textOf(conflict.getLines());
      if (auto reshard = dyn_cast<sdy::ReshardOp>(op)) {
        if (numbers.contains(reshard.getInput()))
          entry.name = all.values[numbers[reshard.getInput()]].name;
        entry.origins = {"moved from " + shardingText(sdy::getSharding(reshard.getInput()))};
      }
      if (!holds)
        for (mlir::Value operand : op->getOperands())
          if (numbers.contains(operand))
            entry.operands.push_back(numbers[operand]);
      int32_t index = add(result, std::move(entry));
      if (cause.value < 0)
        cause.value = index;
    }
    if (holds)
      for (const sdy::DataFlowEdge &edge : sdy::dataFlowEdges(op))
        if (isa<OpResult>(edge.targets[0]) && numbers.contains(edge.targets[0]))
          later.push_back({numbers[edge.targets[0]], edge.sources});
    if (auto reshard = dyn_cast<sdy::ReshardOp>(op))
      reshards.push_back(reshard);
    else
      cause.text = isa<sdy::SdyDialect>(op->getDialect()) || op->getNumOperands() == 0
                       ? "the program asks for it"
                       : "rows cross the boundaries of shards inside of " + describeOp(op);
    all.causes[number] = std::move(cause);
  }

  std::string describeOp(Operation *op) const {
    if (op->getNumResults() && numbers.contains(op->getResult(0))) {
      const Value &value = all.values[numbers.lookup(op->getResult(0))];
      std::string place = explain::placeOf(value);
      return value.name + " = " + value.op + (place.empty() ? "" : " at " + place);
    }
    return op->getName().stripDialect().str();
  }

  std::string nameOf(mlir::Value value) const {
    return numbers.contains(value) ? all.values[numbers.lookup(value)].name : "a value";
  }

  void explainReshard(sdy::ReshardOp op) {
    Cause &cause = all.causes[placeOf(op.getLoc()).number];
    TensorSharding from = shardings.of(op.getInput()), to = shardings.of(op.getResult());
    if (planOf(op, shardings, planner).wireBytes == 0)
      return;
    if (!from.unreduced.empty())
      cause.text = whyPartial(op.getInput(), from.unreduced);
    else
      cause.text = whyMoved(op, from, to);
    setAskedFor(op, false);
  }

  // Back to the op that contracts along `axes`.
  std::string whyPartial(mlir::Value value, ArrayRef<sharding::AxisRef> axes) {
    Operation *op = value.getDefiningOp();
    for (int hops = 0; op && hops < 50; ++hops) {
      std::optional<sharding::FactorRule> rule = sdy::getRule(op);
      std::string text;
      if (rule)
        for (OpOperand &operand : op->getOpOperands()) {
          const sharding::TensorFactors &factors = rule->operands[operand.getOperandNumber()];
          TensorSharding lies = shardings.of(operand.get());
          for (auto [d, dim] : llvm::enumerate(lies.dims))
            if (overlap(dim.axes, axes) && llvm::any_of(factors[d], [&](int32_t f) {
                  return rule->factors[f].kind == sharding::FactorKind::Reduction;
                }))
              text += "; " + nameOf(operand.get()) + " is split along dimension " +
                      std::to_string(d) + originOf(operand.get(), axes);
        }
      if (!text.empty())
        return describeOp(op) + " combines over what " + quoted(mesh, axes) + " splits" + text;
      Operation *next = nullptr;
      for (mlir::Value operand : op->getOperands())
        if (!next && overlap(shardings.of(operand).unreduced, axes))
          next = operand.getDefiningOp();
      if (!next && isa<stablehlo::WhileOp>(op))
        next = cast<stablehlo::WhileOp>(op)
                   .getBody()
                   .front()
                   .getTerminator()
                   ->getOperand(cast<OpResult>(value).getResultNumber())
                   .getDefiningOp();
      op = next;
    }
    return nameOf(value) + " is a partial result over " + quoted(mesh, axes);
  }

  // " ("x" from argument 0, through 2 ops)"
  std::string originOf(mlir::Value value, ArrayRef<sharding::AxisRef> axes) const {
    if (!numbers.contains(value))
      return "";
    for (const std::string &line : all.values[numbers.lookup(value)].origins)
      for (const sharding::AxisRef &axis : axes)
        if (StringRef(line).starts_with("\"" + mesh.axes[axis.axis].name + "\""))
          return " (" + StringRef(line).split(": ").first.str() + ")";
    return "";
  }

  std::string whyMoved(sdy::ReshardOp op, const TensorSharding &from, const TensorSharding &to) {
    std::string what = nameOf(op.getInput()) + " lies as " +
                       shardingText(sdy::getSharding(op.getInput())) + originOf(op, from) +
                       " and is needed as " + shardingText(op.getSharding());
    if (isAskedFor(op))
      return what + ", as the program's constraint asks";
    Operation *definition = op.getInput().getDefiningOp();
    if (definition && op->getPrevNode() == definition && !isa<sdy::ReshardOp>(definition))
      return describeOp(definition) + " is computed as " +
             shardingText(sdy::getSharding(op.getInput())) +
             ", where its operands lie, and is to be " + shardingText(op.getSharding()) +
             conflictsOf(definition);
    if (op->use_empty())
      return what;
    Operation *user = *op->user_begin();
    what += isa<func::ReturnOp>(user)        ? ", as a result of the program"
            : isa<stablehlo::ReturnOp>(user) ? ", as the loop or branch around it carries it"
                                             : " by " + describeOp(user);
    return what + conflictsOf(user);
  }

  std::string originOf(sdy::ReshardOp op, const TensorSharding &from) const {
    sharding::AxisRefs axes;
    for (const sharding::DimSharding &dim : from.dims)
      axes.append(dim.axes);
    return originOf(op.getInput(), axes);
  }

  std::string conflictsOf(Operation *op) const {
    if (!op->getNumResults() || !numbers.contains(op->getResult(0)))
      return "";
    std::string text;
    for (const std::string &line : all.values[numbers.lookup(op->getResult(0))].conflicts)
      text += "; " + line;
    return text;
  }

  const sharding::Mesh &mesh;
  ValueShardings shardings;
  cost::Topology topology;
  sharding::ReshardPlanner planner;
  ExplainedModule all;
  DenseMap<mlir::Value, int32_t> numbers;
  std::vector<std::pair<int32_t, SmallVector<mlir::Value, 4>>> later;
  std::vector<sdy::ReshardOp> reshards;
  int32_t count = 0;
};

} // namespace

void markReshardsAskedFor(ModuleOp module) {
  module.walk([](sdy::ReshardOp op) { setAskedFor(op, true); });
}

ExplainedModule explainModule(ModuleOp module) {
  sdy::MeshTable meshes(module);
  auto main = module.lookupSymbol<func::FuncOp>("main");
  if (!meshes.main() || !main)
    return ExplainedModule();
  return Explainer(module, *meshes.main()).take(main);
}

} // namespace tessera
