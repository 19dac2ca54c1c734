#include "compiler/source/InputCheck.h"

#include "dialects/comm/CommOps.h"
#include "dialects/exec/ExecOps.h"
#include "dialects/sdy/SdyOps.h"
#include "dialects/stablehlo/Combiner.h"
#include "dialects/stablehlo/ShapeInference.h"
#include "dialects/stablehlo/StablehloOps.h"
#include "dialects/tessera/SumMarks.h"
#include "dialects/tessera/TesseraDialect.h"
#include "include/tessera/container.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;

namespace tessera {
namespace {

// Of all devices together; localize asks what each of them holds. Leaves room for what phases make larger
// (shards' padding, one copy for each device) below 2^63.
constexpr int64_t kMostBytes = int64_t(1) << 50;

// Bytes of a tensor, each dynamic dimension counted as 1; more than kMostBytes for all that are
// larger. Narrow elements take a byte.
int64_t saturatedBytes(RankedTensorType type) {
  Type element = type.getElementType();
  int64_t bytes = 8;
  if (auto complex = dyn_cast<ComplexType>(element))
    bytes = complex.getElementType().isF64() ? 16 : 8;
  else if (element.isIntOrFloat())
    bytes = std::max<int64_t>(1, (int64_t(element.getIntOrFloatBitWidth()) + 7) / 8);
  bool empty = false;
  for (int64_t size : type.getShape()) {
    if (ShapedType::isDynamic(size))
      continue;
    if (size > kMostBytes) // also of an empty array: its index arithmetic has to fit
      return kMostBytes + 1;
    empty |= size == 0;
    if (size && bytes > kMostBytes / size)
      return kMostBytes + 1;
    bytes *= std::max<int64_t>(size, 1);
  }
  return empty ? 0 : bytes;
}

// A window of terms that lie beside each other, each in one window: what makes the parts of a sum.
bool isPartsOfASum(stablehlo::ReduceWindowOp op) {
  auto type = dyn_cast<RankedTensorType>(op->getOperand(0).getType());
  if (op->getNumOperands() != 2 || !type ||
      stablehlo::combinerOf(op.getBody()) != sharding::ReductionKind::Sum)
    return false;
  auto areOnes = [](auto numbers) {
    return !numbers || llvm::all_of(*numbers, [](int64_t n) { return n == 1; });
  };
  auto result = cast<RankedTensorType>(op->getResult(0).getType()).getShape();
  ArrayRef<int64_t> window = op.getWindowDimensions();
  auto padding = stablehlo::paddingOf(op.getPadding(), type.getRank());
  if (op.getWindowStrides() != window || !areOnes(op.getBaseDilations()) ||
      !areOnes(op.getWindowDilations()))
    return false;
  for (auto [dim, size] : llvm::enumerate(type.getShape()))
    if (padding[2 * dim] || result[dim] != (size + window[dim] - 1) / window[dim])
      return false;
  return true;
}

// Whether import writes these axes in a manual computation: they are of its mesh, and tell no devices apart along
// free ones, which hold the same. A table of groups is asked by the position on the whole mesh.
bool areOfManualComputation(comm::AxesAttr axes, Operation *op) {
  auto manual = op->getParentOfType<sdy::ManualComputationOp>();
  StringRef mesh = axes.getMesh().getValue();
  for (auto shardings : {manual.getInShardings(), manual.getOutShardings()})
    for (sdy::TensorShardingAttr sharding : shardings.getShardings())
      if (!sharding.getMeshName().empty() && sharding.getMeshName() != mesh)
        return false;
  if (auto symbol = SymbolTable::lookupNearestSymbolFrom<sdy::MeshOp>(op, axes.getMesh()))
    if (isa<comm::AxisIndexOp>(op) && axes.getAxes().size() == symbol.getMesh().getAxes().size())
      return true;
  auto isManual = [&](comm::AxisAttr axis) {
    for (Operation *at = manual; at; at = at->getParentOp())
      if (auto around = dyn_cast<sdy::ManualComputationOp>(at))
        for (StringAttr name : around.getManualAxes().getValue())
          if (name.getValue() == axis.getName())
            return true;
    return axis.getWhole() && axis.getSize() == 1;
  };
  return !axes.getAxes().empty() && llvm::all_of(axes.getAxes(), isManual);
}

// Collectives along mesh axes, in the place of those that name devices.
bool isOfManualComputation(Operation *op) {
  return isa<comm::AllReduceOp, comm::AllGatherOp, comm::ReduceScatterOp, comm::AllToAllOp,
             comm::PermuteOp, comm::ShiftOp, comm::BroadcastOp, comm::AxisIndexOp>(op) &&
         op->getParentOfType<sdy::ManualComputationOp>() &&
         areOfManualComputation(op->getAttrOfType<comm::AxesAttr>("axes"), op);
}

// Marks that kernels keep for the code generator. A loop's trips are for figures only; of a reduction the
// terms of its parts are its only mark that is a number.
bool isOfKernel(Operation *op, NamedAttribute mark) {
  if (!op->getParentOfType<exec::KernelOp>())
    return false;
  if (isa<TripCountAttr>(mark.getValue()))
    return true;
  auto window = dyn_cast<stablehlo::ReduceWindowOp>(op);
  return isa<IntegerAttr>(mark.getValue()) && getSummed(op) > 0 &&
         (!window || isPartsOfASum(window));
}

using container::kMostDevices;

class Checker {
public:
  explicit Checker(bool devicePrograms) : devicePrograms(devicePrograms) {}

  LogicalResult check(ModuleOp module) {
    if (failed(checkDevices(module)))
      return failure();
    WalkResult walked = module.walk<WalkOrder::PreOrder>([&](Operation *op) {
      bool fine = succeeded(checkName(op, module)) &&
                  succeeded(checkAttributes(op, op->getDiscardableAttrDictionary())) &&
                  succeeded(checkTypes(op, op->getResultTypes()));
      for (Region &region : op->getRegions())
        for (Block &block : region)
          fine = fine && succeeded(checkTypes(op, block.getArgumentTypes()));
      return fine ? WalkResult::advance() : WalkResult::interrupt();
    });
    if (walked.wasInterrupted())
      return failure();
    for (auto function : module.getOps<func::FuncOp>())
      if (failed(checkFunction(function)))
        return failure();
    if (auto main = module.lookupSymbol<func::FuncOp>("main"))
      return checkAliases(main);
    return success();
  }

private:
  LogicalResult checkDevices(ModuleOp module) {
    int64_t devices = 1;
    for (StringRef name : {"mhlo.num_replicas", "mhlo.num_partitions"}) {
      Attribute given = module->getAttr(name);
      auto number = dyn_cast_or_null<IntegerAttr>(given);
      int64_t count = number ? number.getValue().trySExtValue().value_or(-1) : 1;
      if (count < 1 || count > kMostDevices / devices)
        return module.emitError() << name << " is " << given << "; programs are for 1 to "
                                  << kMostDevices << " devices";
      devices *= count;
    }
    for (auto mesh : module.getOps<sdy::MeshOp>())
      if (mesh.getMesh().getNumDevices() > kMostDevices)
        return mesh.emitError() << "mesh @" << mesh.getSymName() << " has "
                                << mesh.getMesh().getNumDevices() << " devices; programs are for "
                                << kMostDevices << " at most";
    return success();
  }

  LogicalResult checkName(Operation *op, ModuleOp module) {
    if (devicePrograms && isa<func::FuncOp>(op))
      return op->emitError("a function beside device programs; they are compiled as they stand");
    if (devicePrograms && isa_and_nonnull<exec::ExecDialect>(op->getDialect()))
      return success();
    if (isOfManualComputation(op)) // as import leaves a program that plan found shardings for
      return success();
    if (isa_and_nonnull<comm::CommDialect, exec::ExecDialect>(op->getDialect()))
      return op->emitError() << "'" << op->getName()
                             << "' is what a later phase of Tessera leaves; tessera compile begins "
                                "with stablehlo (and tessera-opt runs single phases)";
    if (op != module && isa<ModuleOp>(op))
      return op->emitError("a module inside of the module; a program is one module of functions");
    return success();
  }

  // Those by which phases speak with each other: they would be believed.
  LogicalResult checkAttributes(Operation *op, DictionaryAttr attributes) {
    if (!attributes)
      return success();
    for (NamedAttribute attribute : attributes)
      if (isa_and_nonnull<TesseraDialect>(attribute.getNameDialect()) &&
          !(devicePrograms && isOfKernel(op, attribute)))
        return op->emitError() << "attribute '" << attribute.getName().getValue()
                               << "' is one that phases of Tessera set; take it out";
    return success();
  }

  LogicalResult checkTypes(Operation *op, TypeRange types) {
    for (Type type : types) {
      if (!known.insert(type).second)
        continue;
      auto tensor = dyn_cast<RankedTensorType>(type);
      if (tensor && saturatedBytes(tensor) > kMostBytes)
        return op->emitError() << "an array of type " << tensor
                               << " takes more than 1 PiB, which no machine has";
    }
    return success();
  }

  LogicalResult checkFunction(func::FuncOp function) {
    if (function.isExternal())
      return success();
    if (!function.getBody().hasOneBlock())
      return function.emitError("a function of several blocks; write branches and loops as "
                                "stablehlo.case, stablehlo.if and stablehlo.while");
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      if (failed(checkAttributes(function, function.getArgAttrDict(i))))
        return failure();
    for (unsigned i = 0; i < function.getNumResults(); ++i)
      if (failed(checkAttributes(function, function.getResultAttrDict(i))))
        return failure();
    return success();
  }

  LogicalResult checkAliases(func::FuncOp function) {
    llvm::DenseSet<int64_t> taken;
    for (unsigned i = 0; i < function.getNumArguments(); ++i) {
      Attribute given = function.getArgAttr(i, "tf.aliasing_output");
      if (!given)
        continue;
      auto output = dyn_cast<IntegerAttr>(given);
      int64_t results = function.getNumResults();
      int64_t index = output ? output.getValue().trySExtValue().value_or(-1) : -1;
      auto wrong = [&] {
        return function.emitError() << "tf.aliasing_output of argument " << i << " is " << given;
      };
      if (index < 0 || index >= results)
        return wrong() << "; it takes the number of a result, below " << results;
      if (function.getArgumentTypes()[i] != function.getResultTypes()[index])
        return wrong() << ", a result of type " << function.getResultTypes()[index]
                       << "; an argument of type " << function.getArgumentTypes()[i]
                       << " cannot lend it its memory";
      if (!taken.insert(index).second)
        return wrong() << ", to which another argument lends its memory already";
    }
    return success();
  }

  const bool devicePrograms;
  llvm::DenseSet<Type> known;
};

} // namespace

bool holdsDevicePrograms(ModuleOp module) { return !module.getOps<exec::ProgramOp>().empty(); }

LogicalResult checkInput(ModuleOp module) {
  return Checker(holdsDevicePrograms(module)).check(module);
}

} // namespace tessera
