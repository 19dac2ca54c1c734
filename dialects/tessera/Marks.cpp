#include "dialects/tessera/Marks.h"

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tessera {
namespace {

// --- The table ---

constexpr StringLiteral kTopology = "tessera.topology", kTripCount = "tessera.trip_count",
                        kPartial = "tessera.partial";

// What a mark stands on: some of these.
enum On : unsigned { OfOperation = 1, OfArgument = 2, OfResult = 4 };

struct Mark {
  StringLiteral name;
  bool (*isOfType)(Attribute);
  StringLiteral type;
  unsigned on;
  bool (*fits)(Operation *); // null: any
  StringLiteral place;
};

template <typename Attr> bool is(Attribute attribute) { return isa<Attr>(attribute); }
bool isModule(Operation *op) { return isa<ModuleOp>(op); }
bool isLoop(Operation *op) { return op->getName().getStringRef() == "stablehlo.while"; }
bool hasResults(Operation *op) { return op->getNumResults(); }

constexpr Mark kMarks[] = {
    {kTopology, is<TopologyAttr>, "a #tessera.topology", OfOperation, isModule, "the module"},
    {kTripCount, is<TripCountAttr>, "a #tessera.trip_count", OfOperation, isLoop,
     "stablehlo.while"},
    {kPartial, is<PartialAttr>, "a #tessera.partial", OfOperation, hasResults,
     "an operation with results"},
    {"tessera.explain", is<UnitAttr>, "a unit", OfOperation, isModule, "the module"},
    {"tessera.origin", is<ArrayAttr>, "an array", OfOperation | OfArgument, nullptr,
     "an operation or argument"},
    {"tessera.conflict", is<ArrayAttr>, "an array", OfOperation | OfArgument, nullptr,
     "an operation or argument"},
    {"tessera.shape", is<TypeAttr>, "a type", OfArgument, nullptr, "an argument"},
    {"tessera.global", is<TypeAttr>, "a type", OfArgument | OfResult, nullptr,
     "an argument or result"},
    {"tessera.copy_of", is<FlatSymbolRefAttr>, "a symbol", OfOperation, nullptr, "a function"},
    {"tessera.copy_number", is<IntegerAttr>, "a number", OfOperation, nullptr, "a function"},
    {"tessera.crosses", is<Attribute>, "a sharding", OfOperation, nullptr, "a custom call"},
    {"tessera.manual_axes", is<Attribute>, "axes", OfOperation, nullptr, "a custom call"},
    {"tessera.asked_for", is<UnitAttr>, "a unit", OfOperation, nullptr, "sdy.reshard"},
};

LogicalResult verifyMark(Operation *op, NamedAttribute attribute, On on) {
  const Mark *found = llvm::find_if(
      kMarks, [&](const Mark &mark) { return mark.name == attribute.getName().getValue(); });
  auto error = [&] { return op->emitError() << "'" << attribute.getName().getValue() << "' "; };
  if (found == std::end(kMarks))
    return error() << "is no mark of the tessera dialect";
  if (!found->isOfType(attribute.getValue()))
    return error() << "must be " << found->type << ", not " << attribute.getValue();
  if (!(found->on & on) || (found->fits && !found->fits(op)))
    return error() << "goes on " << found->place;
  return success();
}

} // namespace

LogicalResult TesseraDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  return verifyMark(op, attribute, OfOperation);
}

LogicalResult TesseraDialect::verifyRegionArgAttribute(Operation *op, unsigned, unsigned,
                                                       NamedAttribute attribute) {
  return verifyMark(op, attribute, OfArgument);
}

LogicalResult TesseraDialect::verifyRegionResultAttribute(Operation *op, unsigned, unsigned,
                                                          NamedAttribute attribute) {
  return verifyMark(op, attribute, OfResult);
}

bool speaksOfGlobalValues(StringAttr name) { return name == kPartial; }

// --- The machine ---

cost::Topology topologyOf(ModuleOp module) {
  auto topology = module->getAttrOfType<TopologyAttr>(kTopology);
  return topology ? topology.toTopology() : cost::defaultTopology();
}

void setTopology(ModuleOp module, TopologyAttr topology) {
  module->setDiscardableAttr(kTopology, topology);
}

// --- Loops ---

std::optional<int64_t> getTripCount(Operation *loop) {
  if (auto trips = loop->getAttrOfType<TripCountAttr>(kTripCount))
    return trips.getTrips();
  return std::nullopt;
}

void setTripCount(Operation *loop, std::optional<int64_t> trips) {
  if (trips)
    loop->setDiscardableAttr(kTripCount, TripCountAttr::get(loop->getContext(), *trips));
  else
    loop->removeDiscardableAttr(kTripCount);
}

int64_t tripsAround(Operation *op, Operation *ancestor) {
  int64_t trips = 1;
  for (Operation *parent = op->getParentOp(); parent != ancestor; parent = parent->getParentOp())
    if (std::optional<int64_t> count = getTripCount(parent))
      if (llvm::MulOverflow(trips, *count, trips))
        return std::numeric_limits<int64_t>::max();
  return trips;
}

// --- Partial values ---

sharding::ReductionKind getPartialKind(Operation *op) {
  auto partial = op ? op->getAttrOfType<PartialAttr>(kPartial) : PartialAttr();
  return partial ? partial.getKind() : sharding::ReductionKind::Sum;
}

void setPartialKind(Operation *op, sharding::ReductionKind kind) {
  if (kind == sharding::ReductionKind::Sum)
    op->removeDiscardableAttr(kPartial);
  else
    op->setDiscardableAttr(kPartial, PartialAttr::get(op->getContext(), kind));
}

} // namespace tessera
