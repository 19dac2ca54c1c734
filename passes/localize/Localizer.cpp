#include "passes/localize/Localizer.h"

#include "dialects/sdy/PlainData.h"
#include "dialects/stablehlo/TensorTypes.h"
#include "dialects/tessera/Marks.h"
#include "passes/localize/ExpandReshard.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tessera::localize {
namespace {

AxisRefs withoutUnitAxes(ArrayRef<sharding::AxisRef> axes) {
  AxisRefs kept;
  for (const sharding::AxisRef &axis : axes)
    if (axis.size > 1)
      kept.push_back(axis);
  return sharding::normalized(kept);
}

// Of truth values the sum is the disjunction.
bool combinesAlike(Value value, ReductionKind a, ReductionKind b) {
  auto orSum = [](ReductionKind kind) {
    return kind == ReductionKind::Or || kind == ReductionKind::Sum;
  };
  return a == b || (getElementTypeOrSelf(value.getType()).isInteger(1) && orSum(a) && orSum(b));
}

bool sameAxes(const LocalLayout &a, const LocalLayout &b) {
  return llvm::all_of(llvm::zip_equal(a.dims, b.dims),
                      [](auto pair) { return std::get<0>(pair).axes == std::get<1>(pair).axes; });
}

bool speaksOfShardings(StringAttr attribute) {
  return isa_and_nonnull<sdy::SdyDialect>(attribute.getReferencedDialect()) ||
         speaksOfGlobalValues(attribute);
}

} // namespace

AxisRefs commonAxes(ArrayRef<sharding::AxisRef> a, ArrayRef<sharding::AxisRef> b) {
  AxisRefs common;
  for (const sharding::AxisRef &axis : a)
    if (sharding::overlap(ArrayRef(axis), b))
      common.push_back(axis);
  return common;
}

void keepParts(LocalLayout &operand, LocalLayout &result) {
  operand.partial = result.partial = commonAxes(operand.partial, result.partial);
  result.reduction = operand.reduction;
}

void addAxes(AxisRefs &axes, ArrayRef<sharding::AxisRef> more) {
  for (const sharding::AxisRef &axis : more)
    if (!llvm::is_contained(axes, axis))
      axes.push_back(axis);
}

Localizer::Localizer(ModuleOp module, const sharding::Mesh &mesh, const cost::Topology &topology,
                     const HandlerTable &handlers)
    : b(module.getContext()), loc(module.getLoc()), planner(mesh, topology), handlers(handlers) {}

LocalLayout Localizer::whole(Value global) {
  LocalLayout layout;
  for (int64_t size : shapeOf(global))
    layout.dims.push_back(wholeDim(size));
  return layout;
}

LocalLayout Localizer::layoutOf(sdy::TensorShardingAttr attr, ArrayRef<int64_t> shape) {
  LocalLayout layout;
  for (int64_t size : shape)
    layout.dims.push_back(wholeDim(size));
  if (!attr)
    return layout;
  sharding::TensorSharding sharding = sdy::toSharding(attr, getMesh());
  if (sharding.dims.size() == layout.dims.size())
    for (auto [dim, annotation, size] : llvm::zip_equal(layout.dims, sharding.dims, shape)) {
      dim.axes = withoutUnitAxes(annotation.axes);
      dim.tile = llvm::divideCeil(size, sharding::shardCount(dim.axes));
    }
  layout.partial = withoutUnitAxes(sharding.unreduced);
  layout.reduction = sdy::toKind(attr.getReductionOp());
  return layout;
}

LocalLayout Localizer::annotated(Value global) {
  LocalLayout layout = layoutOf(sdy::getSharding(global), shapeOf(global));
  layout.reduction = getPartialKind(global);
  return layout;
}

LocalLayout Localizer::annotatedLike(Value global, const LocalLayout &found) {
  LocalLayout layout = annotated(global);
  if (found.dims.size() == layout.dims.size())
    for (auto [dim, other] : llvm::zip_equal(layout.dims, found.dims))
      if (dim.axes == other.axes)
        dim.tile = other.tile;
  return layout;
}

RankedTensorType Localizer::localType(Value global, const LocalLayout &layout) {
  return cast<RankedTensorType>(global.getType()).clone(sharding::localShape(layout));
}

const LocalValue &Localizer::local(Value global) {
  auto it = values.find(global);
  assert(it != values.end() && "operands are visited before their uses");
  return it->second;
}

Value Localizer::get(Value global, const LocalLayout &want) {
  LocalValue from = local(global);
  LocalLayout to = want;
  to.partial = commonAxes(from.layout.partial, want.partial);
  to.reduction = from.layout.reduction;
  return move(from, shapeOf(global), to);
}

Value Localizer::move(LocalValue from, ArrayRef<int64_t> globalShape, const LocalLayout &to) {
  if (!from.layout.partial.empty() && !to.partial.empty() &&
      from.layout.reduction != to.reduction) {
    LocalLayout reduced = to; // a maximum of the parts is no sum of them
    reduced.partial.clear();
    from = {move(from, globalShape, reduced), reduced};
  }
  if (from.layout.dims == to.dims && from.layout.partial == to.partial)
    return from.value;
  return expandReshard(*this, planner, std::move(from), globalShape, to);
}

void Localizer::bind(Value global, Value value, LocalLayout layout) {
  LocalLayout want = annotatedLike(global, layout);
  AxisRefs kept = commonAxes(layout.partial, want.partial);
  if (!layout.partial.empty())
    want.reduction = layout.reduction;
  // Users count on parts where parts are marked: what each device has whole becomes the part of
  // one, unless repeating it changes nothing.
  bool repeats = want.reduction != ReductionKind::Sum && want.reduction != ReductionKind::Product;
  for (const sharding::AxisRef &axis : want.partial)
    if (!repeats && !sharding::overlap(ArrayRef(axis), layout.partial))
      kept.push_back(axis);
  bool stays = sameAxes(layout, want) && kept == layout.partial;
  if (!stays) {
    want.partial = kept;
    value = move({value, layout}, shapeOf(global), want);
    layout = want;
  }
  values[global] = {value, std::move(layout)};
}

// Scalar constants that a computation on scalars reads from outside: made again before `made`.
static void mapConstants(Operation *made, Region &from, IRMapping &mapping) {
  from.walk([&](Operation *inner) {
    for (Value operand : inner->getOperands()) {
      auto constant = operand.getDefiningOp<stablehlo::ConstantOp>();
      if (constant && constant.getType().getRank() == 0 && !mapping.contains(operand) &&
          !from.isAncestor(constant->getParentRegion())) {
        OpBuilder b(made);
        mapping.map(operand,
                    stablehlo::ConstantOp::create(b, constant.getLoc(), constant.getValue()));
      }
    }
  });
}

Operation *Localizer::copy(Operation *op, ValueRange operands, TypeRange types) {
  NamedAttrList attributes;
  for (NamedAttribute attribute : op->getDiscardableAttrs())
    if (!speaksOfShardings(attribute.getName()))
      attributes.push_back(attribute);
  Operation *made = Operation::create(op->getLoc(), op->getName(), types, operands,
                                      attributes.getDictionary(op->getContext()),
                                      op->getPropertiesStorage(), {}, op->getNumRegions());
  b.insert(made);
  for (auto [from, to] : llvm::zip_equal(op->getRegions(), made->getRegions())) {
    IRMapping mapping;
    mapConstants(made, from, mapping);
    from.cloneInto(&to, mapping);
    to.walk([](Operation *inner) {
      SmallVector<StringAttr> drop;
      for (NamedAttribute attribute : inner->getDiscardableAttrs())
        if (speaksOfShardings(attribute.getName()))
          drop.push_back(attribute.getName());
      for (StringAttr name : drop)
        inner->removeDiscardableAttr(name);
    });
  }
  return made;
}

comm::AxesAttr Localizer::axesAttr(ArrayRef<sharding::AxisRef> axes) {
  return comm::AxesAttr::get(b.getContext(), getMesh(), axes);
}

Handler Localizer::handlerOf(Operation *op) const {
  if (Handler handler = handlers.lookup(op->getName()))
    return handler;
  std::optional<Localization> localization = localizationOf(op);
  if (!localization)
    return nullptr;
  switch (*localization) {
  case Localization::Elementwise:
    return localizeElementwise;
  case Localization::ByRule:
    return localizeByRule;
  }
  return nullptr;
}

LogicalResult Localizer::visit(Operation *op) {
  loc = op->getLoc();
  Handler handler = handlerOf(op);
  if (!handler)
    return op->emitError() << "cannot be partitioned: localize has no rule for '" << op->getName()
                           << "'; please report the program";
  if (failed(handler(*this, op)))
    return failure();
  for (OpResult result : op->getResults())
    if (auto made = values.find(result); made != values.end())
      if (const LocalLayout &layout = made->second.layout;
          !layout.partial.empty() &&
          !combinesAlike(result, layout.reduction, getPartialKind(result)))
        return op->emitError() << "localize combines parts of '" << op->getName()
                               << "' in another way than reshard; please report the program";
  return success();
}

LogicalResult Localizer::visitBlock(Block &global) {
  for (Operation &op : global.without_terminator())
    if (failed(visit(&op)))
      return failure();
  return success();
}

} // namespace tessera::localize
