#include "passes/plan/PlanProgram.h"

#include "dialects/interfaces/OpInterfaces.h"
#include "dialects/sdy/PlainData.h"
#include "dialects/stablehlo/TensorTypes.h"
#include "dialects/tessera/Marks.h"
#include "lib/plan/Together.h"
#include "passes/propagate/Passes.h"

#include "mlir/Pass/PassManager.h"
#include <map>

namespace tessera {

using namespace mlir;
using plan::OpFacts;
using plan::ValueFacts;
using sharding::PropagatedOp;

namespace {

// Ops of the copy remember which op of the module they are by this, through passes that copy
// constants.
constexpr llvm::StringLiteral kNumber = "plan_number";

std::string textOf(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

Type elementTypeOf(Value value) {
  auto type = dyn_cast<ShapedType>(value.getType());
  return type ? type.getElementType() : value.getType();
}

} // namespace

// Equal layers are at equal places, but for the numbers of their ops.
const std::string &PlanProgram::lineOf(Location location) {
  while (auto fused = dyn_cast<FusedLoc>(location)) {
    if (fused.getLocations().size() != 1)
      break;
    location = fused.getLocations().front();
  }
  auto [known, isNew] = lines.try_emplace(location);
  std::string &text = known->second;
  if (!isNew)
    return text;
  location->walk([&](Location inner) {
    if (auto line = dyn_cast<FileLineColLoc>(inner); line && text.empty())
      text = (line.getFilename().getValue() + ":" + Twine(line.getLine())).str();
    return text.empty() ? WalkResult::advance() : WalkResult::interrupt();
  });
  return text;
}

static std::string nameOf(Location location) {
  if (auto name = dyn_cast<NameLoc>(location))
    return name.getName().str();
  return {};
}

static Block *blockOf(Value value) { return value.getParentBlock(); }

PlanProgram::PlanProgram(ModuleOp module) : given(module), copy(module.clone()) {
  Builder builder(module.getContext());
  module.walk<WalkOrder::PreOrder>([&](Operation *op) { originals.push_back(op); });
  int32_t number = 0;
  copy->walk<WalkOrder::PreOrder>(
      [&](Operation *op) { op->setAttr(kNumber, builder.getI32IntegerAttr(number++)); });
  PassManager passes(module.getContext());
  passes.enableVerifier(false); // the phases verify themselves
  passes.addPass(createNormalizeShardings());
  passes.addPass(createSplitConstants());
  passes.addPass(createApplyConstraints());
  passes.addPass(createCheckGroups({.refuses = true}));
  if (failed(passes.run(*copy)))
    return;
  graph = std::make_unique<ModuleGraph>(*copy);
  if (!graph->allMeshes().empty())
    annotated = graph->allMeshes().front();
  program.graph = std::move(graph->graph); // what is left knows the IR behind its numbers
  program.ops.resize(program.graph.ops.size());
  program.values.resize(program.graph.values.size());
  describeOps();
  describeValues();
  findDistantReads();
  findArguments();
  findKernels();
  findLifetimes();
  shareMemory();
  runEarly();
  plan::findTogether(program);
}

Operation *PlanProgram::original(Operation *op) const {
  auto number = op->getAttrOfType<IntegerAttr>(kNumber);
  return number ? originals[number.getInt()] : nullptr;
}

Operation *PlanProgram::opAt(int32_t op) const { return original(graph->opAt(op)); }

Value PlanProgram::valueAt(int32_t value) const {
  Value here = graph->valueAt(value);
  if (!here)
    return {};
  if (auto argument = dyn_cast<BlockArgument>(here)) {
    Operation *owner = original(argument.getOwner()->getParentOp());
    unsigned region = argument.getOwner()->getParent()->getRegionNumber();
    return owner ? Value(owner->getRegion(region).getArgument(argument.getArgNumber())) : Value();
  }
  Operation *owner = original(here.getDefiningOp());
  return owner ? Value(owner->getResult(cast<OpResult>(here).getResultNumber())) : Value();
}

// The number of a block; those around it have lower ones.
int32_t PlanProgram::numberOf(Block *block) {
  auto it = blockNumbers.find(block);
  if (it != blockNumbers.end())
    return it->second;
  Operation *owner = block->getParentOp();
  bool isOutermost = !owner || isa<func::FuncOp>(owner);
  int32_t around = isOutermost ? -1 : numberOf(owner->getBlock());
  if (isOutermost && blockNumbers.empty())
    program.blockAround.clear();
  auto number = int32_t(program.blockAround.size());
  program.blockAround.push_back(around);
  return blockNumbers[block] = number;
}

// How often a block is executed in a step.
double PlanProgram::timesOf(Block *block) {
  auto [it, isNew] = times.try_emplace(block, 1);
  if (isNew && !block->empty()) {
    double trips = double(tripsAround(&block->front()));
    times[block] = trips;
    return trips;
  }
  return it->second;
}

void PlanProgram::describeOps() {
  llvm::DenseMap<Type, std::string> types; // few
  for (size_t index = 0; index < program.ops.size(); ++index) {
    const PropagatedOp &op = program.graph.ops[index];
    OpFacts &facts = program.ops[index];
    Operation *ir = graph->opAt(int32_t(index));
    facts.times = double(tripsAround(ir));
    facts.block = numberOf(ir->getBlock());
    facts.location = lineOf(ir->getLoc());
    SmallVector<sdy::DataFlowEdge> edges = sdy::dataFlowEdges(ir);
    facts.moves = !edges.empty() || isa<func::ReturnOp>(ir) ||
                  isa<sdy::ShardingConstraintOp, sdy::PropagationBarrierOp>(ir);
    SmallVector<Value> operands(ir->getOperands());
    Value target = graph->valueAt(op.results[0]);
    for (sdy::DataFlowEdge &edge : edges)
      if (edge.targets[0] == target)
        operands.assign(edge.sources.begin(), edge.sources.end());
    for (size_t i = 0; i < op.operands.size(); ++i) {
      Value value =
          operands.size() == op.operands.size() ? operands[i] : graph->valueAt(op.operands[i]);
      facts.operandTimes.push_back(value ? timesOf(blockOf(value)) : facts.times);
    }
    // Products run at the rate of what they multiply.
    if (operands.empty())
      continue;
    auto [type, isNew] = types.try_emplace(elementTypeOf(operands[0]));
    if (isNew)
      type->second = textOf(type->first);
    facts.elementType = type->second;
  }
}

void PlanProgram::describeValues() {
  for (size_t v = 0; v < program.values.size(); ++v) {
    ValueFacts &facts = program.values[v];
    Value value = graph->valueAt(int32_t(v));
    if (!value)
      continue;
    facts.times = timesOf(blockOf(value));
    facts.block = numberOf(blockOf(value));
    facts.location = lineOf(value.getLoc());
    for (Operation *around = blockOf(value)->getParentOp(); around; around = around->getParentOp())
      if (auto manual = dyn_cast<sdy::ManualComputationOp>(around))
        for (StringAttr axis : manual.getManualAxes().getValue())
          facts.manualAxes.push_back(axis.str());
  }
  // Ops that have no rule take their operands whole.
  llvm::DenseSet<Operation *> ruled;
  for (size_t index = 0; index < program.ops.size(); ++index)
    ruled.insert(graph->opAt(int32_t(index)));
  copy->walk([&](Operation *op) {
    if (ruled.contains(op) || isa<sdy::SdyDialect>(op->getDialect()) ||
        op->hasTrait<OpTrait::IsTerminator>() || sdy::holdsProgram(op) ||
        !sdy::holdsProgram(op->getParentOp() ? op->getParentOp() : op) || sdy::getRule(op))
      return;
    for (Value operand : op->getOperands())
      if (int32_t v = graph->find(operand); v >= 0 && !shapeOf(operand).empty())
        program.values[v].wholeTimes += timesOf(blockOf(operand));
  });
}

namespace {

// Of a result the argument of its shape from which it is made element by element in the fewest steps:
// a weight and its update.
int32_t stateOf(const plan::Program &program, int32_t result, llvm::ArrayRef<int32_t> maker,
                const llvm::DenseMap<int32_t, int32_t> &free) {
  constexpr size_t kMostSteps = 400;
  const auto &values = program.graph.values;
  std::vector<int32_t> queue{result};
  llvm::DenseSet<int32_t> seen{result};
  for (size_t at = 0; at < queue.size() && at < kMostSteps; ++at) {
    int32_t v = queue[at];
    if (free.contains(v))
      return v;
    int32_t op = maker[v];
    if (op < 0 || !(program.graph.ops[op].elementwise || program.ops[op].moves))
      continue;
    for (int32_t operand : program.graph.ops[op].operands)
      if (values[operand].shape == values[result].shape && seen.insert(operand).second)
        queue.push_back(operand);
  }
  return -1;
}

} // namespace

void PlanProgram::findArguments() {
  std::vector<int32_t> maker(program.values.size(), -1);
  for (size_t index = 0; index < program.graph.ops.size(); ++index)
    for (int32_t v : program.graph.ops[index].results)
      maker[v] = int32_t(index);
  auto functions = copy->getOps<func::FuncOp>();
  for (func::FuncOp function : functions) {
    if (function.isExternal() || function.isPrivate())
      continue;
    llvm::DenseMap<int32_t, int32_t> unpaired; // value, number of arguments that have state
    for (BlockArgument argument : function.getArguments()) {
      int32_t v = graph->find(argument);
      if (v < 0)
        continue;
      ValueFacts &facts = program.values[v];
      unsigned number = argument.getArgNumber();
      facts.argument = int32_t(number);
      facts.name = nameOf(argument.getLoc());
      if (auto alias = function.getArgAttrOfType<IntegerAttr>(number, "tf.aliasing_output")) {
        facts.donatedTo = int32_t(alias.getInt());
        facts.donated = true;
      } else {
        unpaired[v] = int32_t(number);
        facts.donated = bool(function.getArgAttr(number, "jax.buffer_donor"));
      }
    }
    // Returns stand in the order of results.
    Operation *terminator = function.getBody().front().getTerminator();
    std::vector<int32_t> results;
    for (size_t index = 0; index < program.graph.ops.size(); ++index)
      if (graph->opAt(int32_t(index)) == terminator)
        results.push_back(program.graph.ops[index].results[0]);
    size_t next = 0;
    for (OpOperand &operand : terminator->getOpOperands()) {
      if (!isa<RankedTensorType>(operand.get().getType()))
        continue;
      int32_t v = results[next++];
      program.values[v].result = int32_t(operand.getOperandNumber());
      if (auto info = function.getResultAttrOfType<StringAttr>(operand.getOperandNumber(),
                                                               "jax.result_info"))
        program.values[v].name = info.str();
    }
    llvm::DenseSet<int32_t> taken;
    for (const ValueFacts &facts : program.values)
      if (facts.donatedTo >= 0)
        taken.insert(facts.donatedTo);
    for (int32_t result : results) {
      const ValueFacts &facts = program.values[result];
      if (taken.contains(facts.result) || program.graph.values[result].shape.empty())
        continue;
      int32_t state = stateOf(program, result, maker, unpaired);
      if (state < 0 ||
          program.graph.values[state].elementBytes != program.graph.values[result].elementBytes)
        continue;
      program.values[state].donatedTo = facts.result;
      unpaired.erase(state);
    }
  }
}

} // namespace tessera
