#include "passes/propagate/ModuleGraph.h"

#include "dialects/sdy/SignatureAttributes.h"
#include "dialects/stablehlo/StablehloOps.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tessera::sdy;
using tessera::sharding::OpClass;
using tessera::sharding::PropagatedOp;

#include <map>

namespace tessera {
namespace {

OpClass classOf(Operation *op) {
  using namespace tessera::stablehlo;
  if (isa<ElementwiseOpInterface, ReshapeOp, TransposeOp, ShardingConstraintOp>(op))
    return OpClass::PassThrough;
  if (isa<DynamicSliceOp, DynamicUpdateSliceOp>(op))
    return OpClass::Slice;
  if (isa<BroadcastInDimOp>(op))
    return OpClass::Broadcast;
  return OpClass::Other;
}

bool hasSingleUseOperands(Operation *op) {
  return llvm::all_of(op->getOperands(), [](Value operand) {
    auto type = dyn_cast<RankedTensorType>(operand.getType());
    return !type || type.getRank() == 0 || operand.hasOneUse();
  });
}

sharding::FactorRule identity(ArrayRef<int64_t> shape, size_t sources) {
  sharding::FactorRule rule;
  sharding::TensorFactors dims;
  for (auto [d, size] : llvm::enumerate(shape)) {
    rule.factors.push_back({size});
    dims.push_back({static_cast<int32_t>(d)});
  }
  rule.operands.assign(sources, dims);
  rule.results.push_back(dims);
  return rule;
}

int64_t bytesOf(Type element) {
  if (auto complex = dyn_cast<ComplexType>(element))
    return 2 * bytesOf(complex.getElementType());
  return element.isIntOrFloat() ? (element.getIntOrFloatBitWidth() + 7) / 8 : 1;
}

sharding::Flow flowOf(PropagationDirection direction) {
  return static_cast<sharding::Flow>(direction);
}

} // namespace

ModuleGraph::ModuleGraph(ModuleOp module) : meshes(module) {
  for (auto function : module.getOps<func::FuncOp>()) {
    if (function.isExternal() || function.isPrivate())
      continue; // what custom calls name
    reserve(function);
    for (BlockArgument argument : function.getArguments())
      addBoundary(numberOf(argument), argument.getType(), /*isResult=*/false);
    addRegion(function.getBody());
    addReturns(function);
  }
  for (auto [i, op] : llvm::enumerate(graph.ops)) {
    auto note = [&, index = static_cast<int32_t>(i)](ArrayRef<int32_t> values) {
      for (int32_t v : values)
        if (auto &ops = graph.values[v].ops; ops.empty() || ops.back() != index)
          ops.push_back(index);
    };
    note(op.operands);
    note(op.results);
  }
  // Of a loop's value those outside come before those in its regions.
  for (auto [number, value] : llvm::enumerate(graph.values))
    if (Operation *owner = !valueOf[number] ? nullptr
                           : isa<BlockArgument>(valueOf[number])
                               ? valueOf[number].getParentBlock()->getParentOp()
                               : valueOf[number].getDefiningOp();
        owner && owner->getNumRegions())
      value.outside =
          std::stable_partition(value.ops.begin(), value.ops.end(),
                                [&](int32_t op) { return !owner->isProperAncestor(opOf[op]); }) -
          value.ops.begin();
}

// Values and ops are large: they are not moved again and again while there come more.
void ModuleGraph::reserve(func::FuncOp function) {
  size_t values = function.getNumArguments() + function.getNumResults();
  size_t ops = function.getNumResults();
  for (Operation &op :
       function.getBody().front()) { // what has many results mostly has an edge for each
    values += op.getNumResults();
    ops += std::max(op.getNumResults(), 1u);
  }
  graph.values.reserve(graph.values.size() + values);
  graph.ops.reserve(graph.ops.size() + ops);
}

int32_t ModuleGraph::newValue(Value value, Type type, TensorShardingAttr attr) {
  sharding::PropagatedValue &entry = graph.values.emplace_back();
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (tensor) {
    entry.sharding.dims.resize(tensor.getRank(), {{}, /*closed=*/false, std::nullopt});
    entry.shape.assign(tensor.getShape().begin(), tensor.getShape().end());
    entry.elementBytes = bytesOf(tensor.getElementType());
    entry.free = value && value.getDefiningOp() && constants.contains(value.getDefiningOp());
  }
  if (const sharding::Mesh *mesh = attr ? meshes.lookup(attr) : nullptr; mesh && tensor) {
    if (attr.getRank() == tensor.getRank())
      entry.sharding = toSharding(attr, *mesh);
    auto at = llvm::find(meshOf, mesh);
    entry.mesh = at - meshOf.begin();
    if (at == meshOf.end())
      meshOf.push_back(mesh);
  }
  valueOf.push_back(value);
  return graph.values.size() - 1;
}

int32_t ModuleGraph::numberOf(Value value) {
  auto it = numbers.find(value);
  if (it != numbers.end())
    return it->second;
  int32_t number = newValue(value, value.getType(), getSharding(value));
  numbers[value] = number;
  return number;
}

int32_t ModuleGraph::ruleNumber(sharding::FactorRule rule) {
  std::vector<int64_t> key;
  for (const sharding::Factor &factor : rule.factors)
    key.insert(key.end(), {factor.size, static_cast<int64_t>(factor.kind)});
  for (const auto *tensors : {&rule.operands, &rule.results}) {
    key.push_back(-1);
    for (const sharding::TensorFactors &tensor : *tensors) {
      key.push_back(-2);
      for (const sharding::DimFactors &dim : tensor) {
        key.push_back(-3);
        key.insert(key.end(), dim.begin(), dim.end());
      }
    }
  }
  auto [it, isNew] = ruleNumbers.insert({std::move(key), graph.rules.size()});
  if (isNew)
    graph.rules.push_back(std::move(rule));
  return it->second;
}

int32_t ModuleGraph::identityRule(Type type, size_t sources) {
  return ruleNumber(identity(cast<RankedTensorType>(type).getShape(), sources));
}

void ModuleGraph::append(Operation *op, PropagatedOp entry) {
  graph.ops.push_back(std::move(entry));
  opOf.push_back(op);
}

sharding::ManualView ModuleGraph::viewOf(TensorShardingAttr attr, ManualAxesAttr manual) {
  sharding::ManualView view;
  const sharding::Mesh *mesh = meshes.lookup(attr);
  auto isManual = [&](const sharding::AxisRef &axis) {
    return llvm::any_of(manual.getValue(), [&](StringAttr name) {
      return mesh->axisIndex(name.getValue()) == axis.axis;
    });
  };
  auto manualOf = [&](const sharding::AxisRefs &axes) {
    sharding::AxisRefs kept;
    llvm::copy_if(axes, std::back_inserter(kept), isManual);
    return kept;
  };
  if (!mesh)
    return view;
  sharding::TensorSharding sharding = toSharding(attr, *mesh);
  for (const sharding::DimSharding &dim : sharding.dims)
    view.dims.push_back(manualOf(dim.axes));
  view.replicated = manualOf(sharding.replicated);
  view.unreduced = manualOf(sharding.unreduced);
  return view;
}

void ModuleGraph::addEdge(Operation *op, const DataFlowEdge &edge) {
  Value owner = edge.targets[0];
  int32_t target = numberOf(owner);
  for (Value other : edge.targets)
    numbers[other] = target;
  auto type = dyn_cast<RankedTensorType>(edge.sources.empty() ? owner.getType()
                                                              : edge.sources[0].getType());
  if (!type)
    return;
  PropagatedOp entry;
  entry.opClass = OpClass::PassThrough;
  entry.singleUse = true;
  for (Value source : edge.sources)
    entry.operands.push_back(numberOf(source));
  entry.results.push_back(target);
  if (auto manual = dyn_cast<ManualComputationOp>(op)) {
    auto side = edge.entersRegion ? manual.getInShardings() : manual.getOutShardings();
    entry.view = viewOf(side.getShardings()[edge.index], manual.getManualAxes());
    entry.viewed = edge.entersRegion ? 1 : 0;
    type = cast<RankedTensorType>(edge.entersRegion ? edge.sources[0].getType() : owner.getType());
    if (entry.view.dims.size() != static_cast<size_t>(type.getRank()))
      return; // a mesh without axes
    if (edge.entersRegion)
      manualArguments.push_back({manual, edge.index, target, entry.view});
  }
  entry.rule = identityRule(type, entry.operands.size());
  append(op, std::move(entry));
}

void ModuleGraph::addRegion(Region &region) {
  for (Block &block : region)
    for (Operation &op : block)
      addOp(&op);
}

void ModuleGraph::addOp(Operation *op) {
  constants.add(op);
  SmallVector<DataFlowEdge> edges = dataFlowEdges(op);
  if (edges.empty() && !holdsProgram(op))
    return addRuled(op);
  // Values that share a number get it before the regions that use them are looked at.
  for (const DataFlowEdge &edge : edges) {
    int32_t target = numberOf(edge.targets[0]);
    for (Value other : edge.targets)
      numbers[other] = target;
    if (edge.entersRegion)
      addEdge(op, edge);
  }
  for (Region &region : op->getRegions())
    addRegion(region);
  for (const DataFlowEdge &edge : edges)
    if (!edge.entersRegion)
      addEdge(op, edge);
}

void ModuleGraph::addRuled(Operation *op) {
  if (auto group = dyn_cast<ShardingGroupOp>(op)) {
    int32_t value = numberOf(group.getInput());
    // A value in two groups makes them one.
    int32_t number =
        groupNumbers.try_emplace(group.getGroupId(), groupNumbers.size()).first->second;
    int32_t old = graph.values[value].group;
    if (old >= 0 && old != number) {
      for (auto &entry : groupNumbers)
        if (entry.second == number)
          entry.second = old;
      for (sharding::PropagatedValue &other : graph.values)
        if (other.group == number)
          other.group = old;
      number = old;
    }
    graph.values[value].group = number;
    return;
  }
  PropagatedOp entry;
  entry.opClass = classOf(op);
  std::optional<sharding::FactorRule> rule;
  if (auto constraint = dyn_cast<ShardingConstraintOp>(op)) {
    if (auto type = dyn_cast<RankedTensorType>(constraint.getType()))
      rule = identity(type.getShape(), 1);
  } else if (auto barrier = dyn_cast<PropagationBarrierOp>(op)) {
    rule = identity(cast<RankedTensorType>(barrier.getType()).getShape(), 1);
    entry.opClass = OpClass::Fixed;
    entry.flow = flowOf(barrier.getAllowedDirection());
  } else if (!isa<SdyDialect>(op->getDialect())) {
    rule = getRule(op);
  }
  if (!rule || rule->factors.empty())
    return;
  entry.rule = ruleNumber(std::move(*rule));
  entry.elementwise = isa<ElementwiseOpInterface>(op);
  entry.flops = flopsOf(op);
  entry.singleUse = hasSingleUseOperands(op);
  for (int64_t factor : blockedFactors(op))
    entry.blocked.push_back(factor);
  for (Value operand : op->getOperands())
    entry.operands.push_back(numberOf(operand));
  for (Value result : op->getResults())
    entry.results.push_back(numberOf(result));
  append(op, std::move(entry));
}

void ModuleGraph::addReturns(func::FuncOp function) {
  for (Block &block : function.getFunctionBody()) {
    auto terminator = dyn_cast<func::ReturnOp>(block.getTerminator());
    if (!terminator)
      continue;
    for (auto [i, value] : llvm::enumerate(terminator.getOperands())) {
      if (!isa<RankedTensorType>(value.getType()))
        continue;
      auto attr = function.getResultAttrOfType<TensorShardingAttr>(i, kShardingAttr);
      PropagatedOp entry;
      entry.opClass = OpClass::Return;
      entry.rule = identityRule(value.getType(), 1);
      entry.operands.push_back(numberOf(value));
      entry.results.push_back(newValue(Value(), value.getType(), attr));
      functionResults.push_back({function, static_cast<unsigned>(i), entry.results[0]});
      addBoundary(entry.results[0], value.getType(), /*isResult=*/true);
      append(terminator, std::move(entry));
    }
  }
}

void ModuleGraph::addBoundary(int32_t value, Type type, bool isResult) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return;
  Boundary boundary{value, isResult, tensor.getShape(), {}};
  for (const sharding::DimSharding &dim : graph.values[value].sharding.dims)
    boundary.annotated.push_back(dim.axes.size());
  boundaries.push_back(std::move(boundary));
}

// Of what propagation added to an input or output, whole axes that divide the dimension stay:
// callers hold plain, equal shards unless they ask for others. Who asked for an argument in unequal
// shards gets results of its shape that lie so as they lie: a step's state stays as it is.
void ModuleGraph::evenBoundaries() {
  auto isEven = [&](const Boundary &boundary, size_t d, size_t count) {
    const sharding::PropagatedValue &value = graph.values[boundary.value];
    ArrayRef<sharding::AxisRef> axes = value.sharding.dims[d].axes;
    int64_t shards = 1;
    for (const sharding::AxisRef &axis : axes.take_front(count))
      shards *= axis.size;
    return boundary.shape[d] % shards == 0;
  };
  DenseMap<ArrayRef<int64_t>, SmallVector<const Boundary *>> unequal; // as annotated, by shape
  for (const Boundary &boundary : boundaries)
    for (auto [d, count] : llvm::enumerate(boundary.annotated))
      if (!isEven(boundary, d, count)) {
        unequal[boundary.shape].push_back(&boundary);
        break;
      }
  auto liesAs = [&](const Boundary &boundary, const Boundary *other) {
    const sharding::PropagatedValue &value = graph.values[boundary.value];
    const sharding::PropagatedValue &asked = graph.values[other->value];
    return value.mesh == asked.mesh &&
           llvm::all_of(llvm::enumerate(other->annotated), [&](auto entry) {
             auto [d, count] = entry;
             ArrayRef<sharding::AxisRef> axes = value.sharding.dims[d].axes;
             ArrayRef<sharding::AxisRef> wanted = asked.sharding.dims[d].axes;
             return axes.size() >= count && axes.take_front(count) == wanted.take_front(count);
           });
  };
  for (const Boundary &boundary : boundaries) {
    sharding::PropagatedValue &value = graph.values[boundary.value];
    SmallVector<size_t> kept = boundary.annotated;
    if (auto others = unequal.find(boundary.shape); boundary.isResult && others != unequal.end())
      for (const Boundary *other : others->second)
        if (liesAs(boundary, other))
          for (auto [count, more] : llvm::zip(kept, other->annotated))
            count = std::max(count, more);
    for (auto [d, dim] : llvm::enumerate(value.sharding.dims))
      for (size_t i = kept[d]; i < dim.axes.size(); ++i)
        if (!isWhole(*meshOf[value.mesh], dim.axes[i]) || !isEven(boundary, d, i + 1)) {
          dim.axes.truncate(i);
          break;
        }
  }
}

void ModuleGraph::decideByCost(const cost::Topology &topology) {
  conflictCost = std::make_unique<sharding::ConflictCost>(graph, meshOf, topology);
  graph.seconds = [this](int32_t op, int32_t mesh, ArrayRef<sharding::TensorSharding> tensors) {
    return conflictCost->seconds(op, mesh, tensors);
  };
}

// State is an argument of a public function that one of its results has the type and annotation of.
bool ModuleGraph::postponeState() {
  DenseMap<std::tuple<Operation *, Type, Attribute>, SmallVector<int32_t>> results;
  for (FunctionResult &result : functionResults)
    if (auto attr = result.function.getResultAttr(result.index, kShardingAttr))
      results[{result.function, result.function.getResultTypes()[result.index], attr}].push_back(
          result.value);
  auto isSharded = [](const sharding::PropagatedValue &value) {
    return llvm::any_of(value.sharding.dims,
                        [](const sharding::DimSharding &dim) { return !dim.axes.empty(); });
  };
  auto postpone = [&](int32_t number) {
    sharding::PropagatedValue &value = graph.values[number];
    value.last = value.group < 0 && isSharded(value);
    return value.last;
  };
  bool any = false;
  for (auto [number, ir] : llvm::enumerate(valueOf)) {
    auto argument = dyn_cast_if_present<BlockArgument>(ir);
    auto function = argument ? dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp()) : nullptr;
    if (!function)
      continue;
    auto alike = results.find({function, argument.getType(), getSharding(argument)});
    if (alike == results.end() || !postpone(number))
      continue;
    any = true;
    llvm::for_each(alike->second, postpone);
  }
  return any && llvm::any_of(graph.values, [&](const sharding::PropagatedValue &value) {
           return !value.last && isSharded(value);
         });
}

TensorShardingAttr ModuleGraph::attrOf(const sharding::PropagatedValue &value, MLIRContext *context,
                                       TensorShardingAttr said) const {
  TensorShardingAttr attr = toAttr(context, *meshOf[value.mesh], value.sharding);
  return said ? attr.withReduction(said.getReductionOp()) : attr;
}

void ModuleGraph::writeBack() {
  evenBoundaries();
  std::map<Operation *, SignatureAttributes> signatures;
  auto signatureOf = [&](FunctionOpInterface function) -> SignatureAttributes & {
    return signatures.try_emplace(function, function).first->second;
  };
  for (auto [number, value] : llvm::enumerate(graph.values)) {
    Value ir = valueOf[number];
    if (!ir || value.mesh < 0 || !isa<RankedTensorType>(ir.getType()))
      continue;
    if (auto argument = dyn_cast<BlockArgument>(ir))
      if (isa<ManualComputationOp>(argument.getOwner()->getParentOp()))
        continue; // below, as seen from outside
    for (auto [dim, size] :
         llvm::zip(value.sharding.dims, cast<RankedTensorType>(ir.getType()).getShape()))
      if (size == 0) // nothing to shard
        dim.axes.clear();
    TensorShardingAttr said = getSharding(ir), attr = attrOf(value, ir.getContext(), said);
    if (attr == said)
      continue;
    auto argument = dyn_cast<BlockArgument>(ir);
    if (auto function = argument ? dyn_cast<FunctionOpInterface>(argument.getOwner()->getParentOp())
                                 : FunctionOpInterface())
      signatureOf(function).setArgument(argument.getArgNumber(), kShardingAttr, attr);
    else
      setSharding(ir, attr);
  }
  for (ManualArgument &argument : manualArguments) {
    const sharding::PropagatedValue &value = graph.values[argument.value];
    if (value.mesh < 0)
      continue;
    SmallVector<TensorShardingAttr> all(argument.op.getInShardings().getShardings());
    MLIRContext *context = argument.op.getContext();
    all[argument.index] =
        toAttr(context, *meshOf[value.mesh], seenThrough(argument.view, value.sharding))
            .withReduction(all[argument.index].getReductionOp());
    argument.op.setInShardingsAttr(TensorShardingPerValueAttr::get(context, all));
  }
  for (FunctionResult &result : functionResults)
    if (const sharding::PropagatedValue &value = graph.values[result.value]; value.mesh >= 0)
      signatureOf(result.function)
          .setResult(result.index, kShardingAttr,
                     attrOf(value, result.function.getContext(),
                            result.function.getResultAttrOfType<TensorShardingAttr>(
                                result.index, kShardingAttr)));
}

} // namespace tessera
