// Turns Shardy's annotations that stand as strings in `mhlo.frontend_attributes`, and the custom
// calls around them, into sdy. Passes.td shows an example.
#include "passes/import/Passes.h"

#include "dialects/sdy/SdyOps.h"
#include "dialects/stablehlo/StablehloOps.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/SymbolTable.h"

namespace tessera {
#define GEN_PASS_DEF_STRINGSTOSDY
#include "passes/import/Passes.h.inc"

using namespace mlir;

namespace {

constexpr StringLiteral kFrontendAttributes = "mhlo.frontend_attributes",
                        kMeshes = "xla.sdy.meshes", kSharding = "xla.sdy.sharding",
                        kRule = "xla.sdy.sharding_rule", kGroup = "xla.sdy.sharding_group_id",
                        kDirection = "xla.sdy.allowed_direction",
                        kInShardings = "xla.sdy.in_shardings",
                        kOutShardings = "xla.sdy.out_shardings",
                        kManualAxes = "xla.sdy.manual_axes";

DictionaryAttr frontendAttributes(Operation *op) {
  return op ? op->getAttrOfType<DictionaryAttr>(kFrontendAttributes) : DictionaryAttr();
}

// XLA escapes quotes once more than MLIR does: {\"x\"}.
std::string unescaped(StringRef text) {
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size())
      ++i;
    plain += text[i];
  }
  return plain;
}

// The attribute that the string of this name stands for; null where there is none, or, with an
// error, where it is another.
template <typename Attr>
FailureOr<Attr> parse(DictionaryAttr attributes, StringRef name, Location loc) {
  Attribute given = attributes ? attributes.get(name) : Attribute();
  if (!given)
    return Attr();
  Attribute parsed = given;
  if (auto text = dyn_cast<StringAttr>(given)) {
    ScopedDiagnosticHandler quiet(loc.getContext(), [](Diagnostic &) { return success(); });
    parsed = parseAttribute(unescaped(text.getValue()), loc.getContext());
  }
  if (auto attr = dyn_cast_if_present<Attr>(parsed))
    return attr;
  return emitError(loc) << name << " in " << kFrontendAttributes
                        << " does not read as Shardy's: " << given;
}

// A list, also where one sharding stands for it.
FailureOr<sdy::TensorShardingPerValueAttr> parseShardings(DictionaryAttr attributes, StringRef name,
                                                          Location loc) {
  FailureOr<Attribute> attr = parse<Attribute>(attributes, name, loc);
  if (failed(attr) || !*attr)
    return failed(attr) ? FailureOr<sdy::TensorShardingPerValueAttr>(failure())
                        : sdy::TensorShardingPerValueAttr();
  if (auto one = dyn_cast<sdy::TensorShardingAttr>(*attr))
    return sdy::TensorShardingPerValueAttr::get(loc.getContext(), one);
  return parse<sdy::TensorShardingPerValueAttr>(attributes, name, loc);
}

// -1 where there is none.
FailureOr<int64_t> parseNumber(DictionaryAttr attributes, StringRef name, Location loc) {
  auto number = parse<IntegerAttr>(attributes, name, loc);
  if (failed(number) || !*number)
    return failed(number) ? FailureOr<int64_t>(failure()) : FailureOr<int64_t>(-1);
  if (!number->getType().isSignlessInteger() || number->getValue().isNegative())
    return emitError(loc) << name << " must be a number from 0 on, like 1 : i64, not " << *number;
  return number->getInt();
}

// A call's target or callee without the prefix that inlining in XLA gives it.
StringRef plainName(StringRef name) {
  name.consume_front("local_");
  return name;
}

StringRef targetOf(Operation *op) {
  auto call = dyn_cast_if_present<stablehlo::CustomCallOp>(op);
  return call ? plainName(call.getCallTargetName()) : StringRef();
}

bool isManualBody(StringRef function) {
  return plainName(function).starts_with("xla.sdy.manual_computation_body");
}

struct StringsToSdy : impl::StringsToSdyBase<StringsToSdy> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (failed(declareMeshes()) || failed(formManualComputations()))
      return signalPassFailure();
    for (auto function : module.getOps<func::FuncOp>())
      if (failed(annotateArguments(function)))
        return signalPassFailure();
    SmallVector<Operation *> annotated;
    module.walk([&](Operation *op) {
      if (frontendAttributes(op) && !isa<ModuleOp, func::FuncOp>(op))
        annotated.push_back(op);
    });
    for (Operation *op : annotated)
      if (failed(annotate(op)))
        return signalPassFailure();
  }

private:
  LogicalResult declareMeshes() {
    ModuleOp module = getOperation();
    auto meshes = parse<DictionaryAttr>(frontendAttributes(module), kMeshes, module.getLoc());
    if (failed(meshes) || !*meshes)
      return meshes;
    SymbolTable symbols(module);
    OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
    for (NamedAttribute entry : *meshes) {
      auto mesh = dyn_cast<sdy::MeshAttr>(entry.getValue());
      if (!mesh)
        return module.emitError() << kMeshes << " holds " << entry.getValue() << ", no mesh";
      Operation *there = symbols.lookup(entry.getName());
      if (auto known = dyn_cast_if_present<sdy::MeshOp>(there); known && known.getMesh() == mesh)
        continue;
      if (there)
        return there->emitError() << "'" << entry.getName().getValue() << "' is a mesh in "
                                  << kMeshes << " that it is not";
      symbols.insert(sdy::MeshOp::create(builder, module.getLoc(), entry.getName(), mesh));
    }
    return success();
  }

  // The body stays a function that is called, until calls are inlined.
  LogicalResult formManualComputations() {
    SmallVector<func::CallOp> calls;
    getOperation().walk([&](func::CallOp call) {
      if (isManualBody(call.getCallee()))
        calls.push_back(call);
    });
    return success(llvm::all_of(
        calls, [&](func::CallOp call) { return succeeded(formManualComputation(call)); }));
  }

  LogicalResult formManualComputation(func::CallOp call) {
    Operation *entry = nullptr, *exit = nullptr;
    for (Value operand : call.getOperands())
      if (targetOf(operand.getDefiningOp()) == "xla.sdy.GlobalToLocalShape")
        entry = operand.getDefiningOp();
    for (Operation *user : call->getUsers())
      if (targetOf(user) == "xla.sdy.LocalToGlobalShape")
        exit = user;
    if (call.use_empty() && call.getNumResults()) { // nobody reads what it computes
      call.erase();
      if (entry && entry->use_empty())
        entry->erase();
      return success();
    }
    if ((call.getNumOperands() && !takesAllOf(call, entry)) ||
        (call.getNumResults() && !givesAllTo(call, exit)))
      return call.emitError() << "@" << call.getCallee()
                              << " is the body of a manual computation, and must be called between "
                                 "xla.sdy.GlobalToLocalShape and xla.sdy.LocalToGlobalShape";
    auto given = [&](auto read) -> decltype(read(DictionaryAttr())) { // on whichever of them
      for (Operation *op : {call.getOperation(), entry, exit})
        if (auto attr = read(frontendAttributes(op)); failed(attr) || *attr)
          return attr;
      return read(DictionaryAttr());
    };
    auto shardings = [&](StringRef name) {
      return given([&](DictionaryAttr from) { return parseShardings(from, name, call.getLoc()); });
    };
    auto in = shardings(kInShardings), out = shardings(kOutShardings);
    auto axes = given([&](DictionaryAttr from) {
      return parse<sdy::ManualAxesAttr>(from, kManualAxes, call.getLoc());
    });
    if (failed(in) || failed(out) || failed(axes))
      return failure();
    auto orNone = [&](sdy::TensorShardingPerValueAttr attr) {
      return attr ? attr : sdy::TensorShardingPerValueAttr::get(&getContext(), {});
    };
    OpBuilder builder(call);
    auto manual = sdy::ManualComputationOp::create(
        builder, call.getLoc(), exit ? TypeRange(exit->getResultTypes()) : TypeRange(),
        entry ? ValueRange(entry->getOperands()) : ValueRange(), orNone(*in), orNone(*out),
        *axes ? *axes : sdy::ManualAxesAttr::get(&getContext(), {}));
    Block &body = manual.getBody().emplaceBlock();
    for (Value operand : call.getOperands())
      body.addArgument(operand.getType(), operand.getLoc());
    builder.setInsertionPointToEnd(&body);
    auto inner = func::CallOp::create(builder, call.getLoc(), call.getCalleeAttr(),
                                      call.getResultTypes(), body.getArguments());
    sdy::ReturnOp::create(builder, call.getLoc(), inner.getResults());
    if (exit) {
      exit->replaceAllUsesWith(manual.getResults());
      exit->erase();
    }
    call.erase();
    if (entry && entry->use_empty())
      entry->erase();
    return success();
  }

  // What stands at the entry's operands is what the call takes, but for constants where a dimension is 0.
  static bool takesAllOf(func::CallOp call, Operation *entry) {
    if (!entry || entry->getNumOperands() != call.getNumOperands() ||
        entry->getNumResults() != call.getNumOperands())
      return false;
    return llvm::all_of(llvm::zip_equal(call.getOperands(), entry->getResults()), [](auto pair) {
      auto [operand, local] = pair;
      return operand == local || matchPattern(operand, m_Constant());
    });
  }

  static bool givesAllTo(func::CallOp call, Operation *exit) {
    return exit && exit->getNumResults() == call.getNumResults() &&
           llvm::equal(exit->getOperands(), call.getResults()) &&
           llvm::all_of(call->getUsers(), [&](Operation *user) { return user == exit; });
  }

  LogicalResult annotateArguments(func::FuncOp function) {
    if (function.isExternal())
      return success();
    for (BlockArgument argument : function.getArguments()) {
      unsigned index = argument.getArgNumber();
      auto attributes = function.getArgAttrOfType<DictionaryAttr>(index, kFrontendAttributes);
      auto sharding = parse<sdy::TensorShardingAttr>(attributes, kSharding, argument.getLoc());
      if (failed(sharding))
        return failure();
      if (*sharding)
        function.setArgAttr(index, sdy::kShardingAttr, *sharding);
    }
    return success();
  }

  LogicalResult annotate(Operation *op) {
    DictionaryAttr attributes = frontendAttributes(op);
    auto shardings = parseShardings(attributes, kSharding, op->getLoc());
    auto rule = parse<sdy::OpShardingRuleAttr>(attributes, kRule, op->getLoc());
    if (failed(shardings) || failed(rule))
      return failure();
    if (*shardings && op->getNumResults() &&
        shardings->getShardings().size() != op->getNumResults())
      return op->emitError() << kSharding << " in " << kFrontendAttributes << " holds "
                             << shardings->getShardings().size() << " shardings for "
                             << op->getNumResults() << " results";
    StringRef target = targetOf(op);
    OpBuilder builder(op);
    if (target == "xla.sdy.ShardingGroup" && op->getNumOperands() == 1) {
      auto group = parseNumber(attributes, kGroup, op->getLoc());
      if (failed(group))
        return failure();
      if (*group < 0)
        return op->emitError() << "lacks " << kGroup << " in " << kFrontendAttributes;
      sdy::ShardingGroupOp::create(builder, op->getLoc(), op->getOperand(0), uint64_t(*group));
      op->erase();
      return success();
    }
    if (op->getNumOperands() == 1 && op->getNumResults() == 1) {
      if (target == "xla.sdy.PropagationBarrier")
        return barrier(op, attributes);
      if (target == "xla.sdy.FuncResultSharding" && *shardings)
        return annotateResults(op, shardings->getShardings().front());
      if (target == "Sharding" && *shardings) {
        op->replaceAllUsesWith(sdy::ShardingConstraintOp::create(builder, op->getLoc(),
                                                                 op->getOperand(0),
                                                                 shardings->getShardings().front())
                                   ->getResults());
        op->erase();
        return success();
      }
    }
    if (*shardings && op->getNumResults())
      op->setAttr(sdy::kShardingAttr, *shardings);
    if (*rule)
      op->setAttr(sdy::kShardingRuleAttr, *rule);
    return success();
  }

  LogicalResult barrier(Operation *op, DictionaryAttr attributes) {
    auto number = parseNumber(attributes, kDirection, op->getLoc());
    if (failed(number))
      return failure();
    constexpr int64_t kMost = 2;
    auto direction =
        *number > kMost
            ? std::nullopt
            : sdy::symbolizePropagationDirection(uint32_t(std::max<int64_t>(*number, 0)));
    if (!direction)
      return op->emitError() << kDirection << " must be 0, 1 or 2";
    OpBuilder builder(op);
    op->replaceAllUsesWith(
        sdy::PropagationBarrierOp::create(builder, op->getLoc(), op->getOperand(0), *direction)
            ->getResults());
    op->erase();
    return success();
  }

  // What says how a result of the function is sharded goes to the function.
  LogicalResult annotateResults(Operation *op, sdy::TensorShardingAttr sharding) {
    for (OpOperand &use : op->getUses())
      if (isa<func::ReturnOp>(use.getOwner()))
        use.getOwner()->getParentOfType<func::FuncOp>().setResultAttr(use.getOperandNumber(),
                                                                      sdy::kShardingAttr, sharding);
    op->replaceAllUsesWith(op->getOperands());
    op->erase();
    return success();
  }
};

} // namespace
} // namespace tessera
