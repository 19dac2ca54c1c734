#include "dialects/tessera/Marks.h"

#include "dialects/comm/CommOps.h"
#include "dialects/sdy/PlainData.h"
#include "dialects/tessera/GpuTarget.h"
#include "dialects/tessera/ScratchMarks.h"
#include "dialects/tessera/SumMarks.h"
#include "lib/cost/GpuTime.h"
#include "lib/cost/Topology.h"

#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tessera {
namespace {

// --- The table ---

constexpr StringLiteral kTopology = "tessera.topology", kTarget = "tessera.target",
                        kExplain = "tessera.explain", kShape = "tessera.shape",
                        kGlobal = "tessera.global", kTripCount = "tessera.trip_count",
                        kPartial = "tessera.partial", kBoundary = "tessera.boundary",
                        kOrigin = "tessera.origin", kConflict = "tessera.conflict",
                        kAskedFor = "tessera.asked_for", kSchedule = "tessera.schedule",
                        kMemory = "tessera.memory", kParts = "tessera.parts",
                        kScratch = "tessera.scratch";

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
bool isStaticTensor(Attribute attribute) {
  auto type = dyn_cast<TypeAttr>(attribute);
  auto tensor = type ? dyn_cast<RankedTensorType>(type.getValue()) : RankedTensorType();
  return tensor && tensor.hasStaticShape();
}
bool isModule(Operation *op) { return isa<ModuleOp>(op); }
bool isNamed(Operation *op, StringRef name) { return op->getName().getStringRef() == name; }
bool isLoop(Operation *op) { return isNamed(op, "stablehlo.while"); }
bool isModuleOrLoop(Operation *op) { return isModule(op) || isLoop(op); }
bool isCall(Operation *op) { return isNamed(op, "stablehlo.custom_call"); }
bool isReduction(Operation *op) {
  return isNamed(op, "stablehlo.reduce_window") || isNamed(op, "stablehlo.reduce");
}
bool isKernel(Operation *op) { return isNamed(op, "exec.fused"); }
bool isBytes(Attribute attribute) {
  auto bytes = dyn_cast<IntegerAttr>(attribute);
  return bytes && bytes.getType().isInteger(64) && bytes.getInt() >= 0;
}
bool isReshard(Operation *op) { return isNamed(op, "sdy.reshard"); }
bool hasResults(Operation *op) { return op->getNumResults(); }

constexpr Mark kMarks[] = {
    {kTopology, is<TopologyAttr>, "a #tessera.topology", OfOperation, isModule, "the module"},
    {kSchedule, is<ScheduleAttr>, "a #tessera.schedule", OfOperation, isModuleOrLoop,
     "the module or stablehlo.while"},
    {kTarget, is<TargetAttr>, "a #tessera.target", OfOperation, isModule, "the module"},
    {kTripCount, is<TripCountAttr>, "a #tessera.trip_count", OfOperation, isLoop,
     "stablehlo.while"},
    {kPartial, is<PartialAttr>, "a #tessera.partial", OfOperation, hasResults,
     "an operation with results"},
    {kExplain, is<UnitAttr>, "a unit", OfOperation, isModule, "the module"},
    {kShape, isStaticTensor, "a tensor of static shape", OfArgument, nullptr,
     "an argument of a function"},
    {kGlobal, isStaticTensor, "a tensor of static shape", OfArgument | OfResult, nullptr,
     "an argument or result of a function"},
    {kMemory, is<comm::SpaceAttr>, "a #comm<space ..>", OfArgument | OfResult, nullptr,
     "an argument or result of a function"},
    {kBoundary, is<BoundaryAttr>, "a #tessera.boundary", OfOperation, isCall,
     "stablehlo.custom_call"},
    {kOrigin, is<OriginAttr>, "a #tessera.origin", OfOperation | OfArgument, nullptr,
     "an operation or an argument of a function"},
    {kConflict, is<ConflictAttr>, "a #tessera.conflict", OfOperation, nullptr, "an operation"},
    {kParts, is<IntegerAttr>, "a number of terms", OfOperation, isReduction,
     "stablehlo.reduce_window or stablehlo.reduce"},
    {kScratch, isBytes, "a number of bytes in i64", OfOperation, isKernel, "exec.fused"},
    {kAskedFor, is<UnitAttr>, "a unit", OfOperation, isReshard, "sdy.reshard"},
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

// A unit: there or not.
static void setUnit(Operation *op, StringRef name, bool there) {
  if (there)
    op->setDiscardableAttr(name, UnitAttr::get(op->getContext()));
  else
    op->removeDiscardableAttr(name);
}

// An attribute: there or, where it is null, not.
static void setOrDrop(Operation *op, StringRef name, Attribute value) {
  if (value)
    op->setDiscardableAttr(name, value);
  else
    op->removeDiscardableAttr(name);
}

template <typename Attr> static Attr getIn(DictionaryAttr attributes, StringRef name) {
  return attributes ? attributes.getAs<Attr>(name) : Attr();
}

// --- The machine ---

cost::Topology topologyOf(ModuleOp module) {
  auto topology = module->getAttrOfType<TopologyAttr>(kTopology);
  if (!topology)
    return cost::defaultTopology();
  cost::Topology machine = topology.toTopology();
  if (cost::isGpu(machine.device) && !isForGpu(module))
    machine.device.processors = 0;
  return machine;
}

void setTopology(ModuleOp module, TopologyAttr topology) { setOrDrop(module, kTopology, topology); }

// --- The schedule ---

cost::ScheduleOptions scheduleOf(ModuleOp module) {
  cost::ScheduleOptions options;
  if (auto schedule = module->getAttrOfType<ScheduleAttr>(kSchedule))
    options = {schedule.getOverlap(), schedule.getMemory(), schedule.getScratchWithin(),
               schedule.getSmallAttention()};
  if (int64_t bytes = topologyOf(module).deviceBytes(); bytes && !options.memory)
    options.memory = bytes;
  return options;
}

std::optional<cost::Overlap> overlapOf(Operation *loop) {
  auto schedule = loop->getAttrOfType<ScheduleAttr>(kSchedule);
  return schedule ? std::optional(schedule.getOverlap()) : std::nullopt;
}

void setOverlap(Operation *loop, cost::Overlap overlap) {
  loop->setAttr(kSchedule,
                ScheduleAttr::get(loop->getContext(), overlap, std::nullopt, std::nullopt,
                                  /*small_attention=*/false));
}

void setSchedule(ModuleOp module, const cost::ScheduleOptions &options) {
  bool isDefault = options == cost::ScheduleOptions();
  setOrDrop(module, kSchedule,
            isDefault ? ScheduleAttr()
                      : ScheduleAttr::get(module.getContext(), options.overlap, options.memory,
                                          options.scratchWithin, options.smallAttention));
}

// --- Sums in two stages ---

int64_t getSummed(Operation *op) {
  auto terms = op->getAttrOfType<IntegerAttr>(kParts);
  return terms ? terms.getInt() : 0;
}

void setSummed(Operation *op, int64_t terms) {
  setOrDrop(op, kParts, terms ? Builder(op).getI64IntegerAttr(terms) : IntegerAttr());
}

// --- Scratch ---

int64_t getScratchBytes(Operation *fused) {
  auto bytes = fused->getAttrOfType<IntegerAttr>(kScratch);
  return bytes ? bytes.getInt() : 0;
}

void setScratchBytes(Operation *fused, int64_t bytes) {
  setOrDrop(fused, kScratch, bytes ? Builder(fused).getI64IntegerAttr(bytes) : IntegerAttr());
}

// --- The target ---

TargetAttr getTarget(ModuleOp module) { return module->getAttrOfType<TargetAttr>(kTarget); }

void setTarget(ModuleOp module, TargetAttr target) {
  if (target)
    module->setDiscardableAttr(kTarget, target);
  else
    module->removeDiscardableAttr(kTarget);
}

FailureOr<TargetAttr> ensureTarget(ModuleOp module, StringRef target, StringRef processors) {
  if (TargetAttr known = getTarget(module))
    return known;
  llvm::Expected<target::Choice> choice = target::choose(target, processors);
  if (!choice)
    return module.emitError(llvm::toString(choice.takeError()));
  auto made = TargetAttr::of(module.getContext(), *choice);
  setTarget(module, made);
  return made;
}

// --- Signatures ---

static RankedTensorType typeIn(DictionaryAttr attributes, StringRef name) {
  auto type = getIn<TypeAttr>(attributes, name);
  return type ? dyn_cast<RankedTensorType>(type.getValue()) : RankedTensorType();
}

RankedTensorType getGivenShape(DictionaryAttr argument) { return typeIn(argument, kShape); }
void setGivenShape(sdy::SignatureAttributes &signature, unsigned argument, RankedTensorType type) {
  signature.setArgument(argument, kShape, TypeAttr::get(type));
}
void dropGivenShape(sdy::SignatureAttributes &signature, unsigned argument) {
  signature.removeArgument(argument, kShape);
}

RankedTensorType getGlobalType(DictionaryAttr argumentOrResult) {
  return typeIn(argumentOrResult, kGlobal);
}
void setGlobalTypeOfArgument(sdy::SignatureAttributes &signature, unsigned argument, Type type) {
  signature.setArgument(argument, kGlobal, TypeAttr::get(type));
}
void setGlobalTypeOfResult(sdy::SignatureAttributes &signature, unsigned result, Type type) {
  signature.setResult(result, kGlobal, TypeAttr::get(type));
}

comm::Space getMemory(DictionaryAttr argumentOrResult) {
  auto memory = getIn<comm::SpaceAttr>(argumentOrResult, kMemory);
  return memory ? memory.getValue() : comm::Space::Device;
}
// The device's memory is where values lie of which nothing is said.
void setMemoryOfArgument(sdy::SignatureAttributes &signature, unsigned argument,
                         comm::Space space) {
  if (space == comm::Space::Device)
    return signature.removeArgument(argument, kMemory);
  MLIRContext *context = signature.context();
  signature.setArgument(argument, kMemory, comm::SpaceAttr::get(context, space));
}
void setMemoryOfResult(sdy::SignatureAttributes &signature, unsigned result, comm::Space space) {
  if (space == comm::Space::Device)
    return signature.removeResult(result, kMemory);
  signature.setResult(result, kMemory, comm::SpaceAttr::get(signature.context(), space));
}

// --- Loops ---

std::optional<int64_t> getTripCount(Operation *loop) {
  if (auto trips = loop->getAttrOfType<TripCountAttr>(kTripCount))
    return trips.getTrips();
  return std::nullopt;
}

void setTripCount(Operation *loop, std::optional<int64_t> trips) {
  setOrDrop(loop, kTripCount,
            trips ? TripCountAttr::get(loop->getContext(), *trips) : TripCountAttr());
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

sharding::ReductionKind getPartialKind(Value value) {
  sdy::TensorShardingAttr said = sdy::getSharding(value);
  if (said && said.getReductionOp() != sdy::ReductionOp::SUM)
    return sdy::toKind(said.getReductionOp());
  return getPartialKind(value.getDefiningOp());
}

void setPartialKind(Operation *op, sharding::ReductionKind kind) {
  bool isSum = kind == sharding::ReductionKind::Sum;
  setOrDrop(op, kPartial, isSum ? PartialAttr() : PartialAttr::get(op->getContext(), kind));
}

// --- Boundaries of manual regions ---

BoundaryAttr getBoundary(Operation *call) { return call->getAttrOfType<BoundaryAttr>(kBoundary); }
void setBoundary(Operation *call, BoundaryAttr boundary) {
  call->setDiscardableAttr(kBoundary, boundary);
}

// --- Explanations ---

bool wantsReasons(ModuleOp module) { return module->hasAttr(kExplain); }
void setWantsReasons(ModuleOp module, bool wants) { setUnit(module, kExplain, wants); }

OriginAttr getOrigin(Operation *op) { return op->getAttrOfType<OriginAttr>(kOrigin); }
OriginAttr getOrigin(DictionaryAttr argument) { return getIn<OriginAttr>(argument, kOrigin); }
void setOrigin(Operation *op, OriginAttr origin) { setOrDrop(op, kOrigin, origin); }
void setOrigin(sdy::SignatureAttributes &signature, unsigned argument, OriginAttr origin) {
  if (origin)
    signature.setArgument(argument, kOrigin, origin);
  else
    signature.removeArgument(argument, kOrigin);
}

ConflictAttr getConflict(Operation *op) { return op->getAttrOfType<ConflictAttr>(kConflict); }
void setConflict(Operation *op, ConflictAttr conflict) { setOrDrop(op, kConflict, conflict); }

bool isAskedFor(Operation *reshard) { return reshard->hasAttr(kAskedFor); }
void setAskedFor(Operation *reshard, bool asked) { setUnit(reshard, kAskedFor, asked); }

bool speaksOfGlobalValues(StringAttr name) { return name == kPartial; }

} // namespace tessera
