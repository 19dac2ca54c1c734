// Writes a program in the operations that a release of StableHLO reads, or says which of them it
// lacks. Passes.td shows an example.
#include "dialects/stablehlo/StablehloOps.h"
#include "dialects/vhlo/OpTable.h"
#include "dialects/vhlo/Structures.h"
#include "dialects/vhlo/Vhlo.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "passes/portable/Passes.h"

using namespace mlir;

namespace tessera {
#define GEN_PASS_DEF_STABLEHLOTOVHLO
#include "passes/portable/Passes.h.inc"

namespace {

using vhlo::AttrSpec;
using vhlo::Default;
using vhlo::Kind;
using vhlo::OpSpec;
using vhlo::OpVersion;
using vhlo::Version;

// Dimensions of the window that defaults are as many as.
int64_t windowRank(Operation *op) {
  if (auto dims = op->getAttrOfType<stablehlo::ConvDimensionNumbersAttr>("dimension_numbers"))
    return dims.getInputSpatialDimensions().size();
  if (auto dims = op->getAttrOfType<DenseI64ArrayAttr>("window_dimensions"))
    return dims.size();
  return 0;
}

bool isCollective(StringRef name) {
  return name == "all_gather" || name == "all_reduce" || name == "all_to_all" ||
         name == "collective_broadcast";
}

Type elementTypeOf(Type type) {
  auto shaped = dyn_cast<ShapedType>(type);
  return shaped ? shaped.getElementType() : type;
}

class ToVhlo {
public:
  explicit ToVhlo(Version release) : release(release) {}

  LogicalResult run(ModuleOp module) {
    SmallVector<Operation *> ops, others;
    WalkResult walk = module->walk([&](Operation *op) {
      if (vhlo::findByPlainName(op->getName().getStringRef())) {
        ops.push_back(op); // inner ones first
        return WalkResult::advance();
      }
      if (op != module && !isa<ModuleOp>(op)) {
        if (isa_and_nonnull<stablehlo::StablehloDialect, func::FuncDialect>(op->getDialect()))
          return op->emitError() << "portable artifacts of StableHLO " << release.str()
                                 << " cannot hold this operation",
                 WalkResult::interrupt();
        if (release < vhlo::mixesDialects) {
          (void)needs(op, "an operation of another dialect", vhlo::mixesDialects);
          return WalkResult::interrupt();
        }
        others.push_back(op);
      }
      return WalkResult::advance();
    });
    if (walk.wasInterrupted())
      return failure();
    for (Operation *op : others)
      castAround(op);
    for (Operation *op : ops)
      if (failed(replace(op)))
        return failure();
    return success();
  }

private:
  LogicalResult needs(Operation *op, const Twine &what, Version least) {
    return op->emitError() << what << " needs StableHLO " << least.str()
                           << " or later, and the artifact is to be read by " << release.str();
  }

  // An operation that stays plain, and its regions' arguments, between casts. The casts' versioned
  // sides get their types here; the operations around get theirs when they are replaced.
  void castAround(Operation *op) {
    OpBuilder builder(op);
    for (OpOperand &operand : op->getOpOperands()) {
      Value value = operand.get();
      if (!isMadeByVhlo(value) || vhlo::versioned(value.getType()) == value.getType())
        continue;
      Value &cast = casts[value];
      if (!cast) {
        builder.setInsertionPointAfterValue(value);
        cast = UnrealizedConversionCastOp::create(builder, op->getLoc(), value.getType(), value)
                   .getResult(0);
      }
      operand.set(cast);
    }
    auto castForUsers = [&](Value value) {
      Type type = vhlo::versioned(value.getType());
      SmallVector<OpOperand *> uses;
      for (OpOperand &use : value.getUses())
        if (vhlo::findByPlainName(use.getOwner()->getName().getStringRef()))
          uses.push_back(&use);
      if (type == value.getType() || uses.empty())
        return;
      builder.setInsertionPointAfterValue(value);
      Value cast =
          UnrealizedConversionCastOp::create(builder, op->getLoc(), type, value).getResult(0);
      for (OpOperand *use : uses)
        use->set(cast);
    };
    for (Value result : op->getResults())
      castForUsers(result);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (Value arg : block.getArguments())
          castForUsers(arg);
  }

  static bool isMadeByVhlo(Value value) {
    Operation *owner = value.getDefiningOp();
    if (!owner)
      owner = cast<BlockArgument>(value).getOwner()->getParentOp();
    return vhlo::findByPlainName(owner->getName().getStringRef());
  }

  FailureOr<Type> convert(Operation *op, Type plain) {
    Type type = vhlo::versioned(plain);
    if (type == plain) {
      if (isa<vhlo::VersionedType>(plain))
        return plain;
      return op->emitError() << "portable artifacts cannot hold the type " << plain;
    }
    Version &since = introduced.try_emplace(plain, Version()).first->second;
    if (since == Version())
      since = vhlo::introduced(plain);
    if (release < since)
      return needs(op, "the type " + text(plain), since);
    return type;
  }

  template <typename T> static std::string text(T value) {
    std::string result;
    llvm::raw_string_ostream(result) << value;
    return result;
  }

  // The versioned form of an attribute; of another dialect's the attribute itself.
  FailureOr<Attribute> convert(Operation *op, StringRef name, Attribute plain) {
    Version since = vhlo::introduced(plain);
    if (release < since)
      return needs(op, "the attribute '" + name + "' = " + text(plain), since);
    return vhlo::versioned(plain);
  }

  LogicalResult replace(Operation *op) {
    const OpSpec *spec = vhlo::findByPlainName(op->getName().getStringRef());
    const OpVersion *version = spec->in(release);
    if (!version)
      return needs(op, op->getName().getStringRef(), spec->versions.front().from);
    if (failed(checkVersion(op, *spec, *version)))
      return failure();

    OperationState state(op->getLoc(), spec->versionedName(version->number));
    SmallVector<Type> types;
    for (Type plain : op->getResultTypes()) {
      FailureOr<Type> type = convert(op, plain);
      if (failed(type))
        return failure();
      state.types.push_back(*type);
    }
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (BlockArgument arg : block.getArguments()) {
          FailureOr<Type> type = convert(op, arg.getType());
          if (failed(type))
            return failure();
          arg.setType(*type);
        }
    if (failed(convertAttributes(op, *spec, *version, state.attributes)))
      return failure();
    state.addOperands(op->getOperands());
    for (Region &region : op->getRegions())
      state.addRegion()->takeBody(region);
    OpBuilder builder(op);
    Operation *made = builder.create(state);
    op->replaceAllUsesWith(made->getResults());
    op->erase();
    return success();
  }

  // What a release restricts beyond the version of the operation.
  LogicalResult checkVersion(Operation *op, const OpSpec &spec, const OpVersion &version) {
    if (isCollective(spec.name) && version.number == 1 && op->getNumOperands() != 1)
      return needs(op, op->getName().getStringRef() + " of several operands",
                   spec.versions.back().from);
    bool reduces = spec.name == "all_reduce" || spec.name.starts_with("reduce") ||
                   spec.name == "scatter" || spec.name == "select_and_scatter";
    if (reduces && spec.name != "reduce_precision" && release < Version{0, 17})
      for (auto [operand, result] : llvm::zip(op->getOperandTypes(), op->getResultTypes()))
        if (elementTypeOf(vhlo::plain(operand)) != elementTypeOf(result))
          return needs(op, "a reduction in another type than its operands'", {0, 17});
    if (spec.name == "composite" && version.number == 1 && op->getNumRegions())
      return needs(op, "a composite with regions", spec.versions.back().from);
    if (spec.name != "custom_call")
      return success();
    auto api = op->getAttrOfType<IntegerAttr>("api_version");
    if (release < Version{1, 3} &&
        ((api && api.getInt() == 4) || op->getAttrOfType<DictionaryAttr>("backend_config")))
      return needs(op, "a typed custom call", {1, 3});
    if (release < Version{1, 17})
      for (Type type : op->getOperandTypes())
        if (isa<stablehlo::FutureType>(vhlo::plain(type)))
          return needs(op, "a custom call of a future", {1, 17});
    return success();
  }

  LogicalResult convertAttributes(Operation *op, const OpSpec &spec, const OpVersion &version,
                                  NamedAttrList &attrs) {
    NamedAttrList fields;
    for (const AttrSpec &attr : spec.attrs) {
      ArrayRef<AttrSpec> parts = vhlo::structureFields(attr.kind);
      Attribute value = op->getAttr(attr.name);
      if (parts.empty()) {
        if (Attribute field = plainField(op, attr, value))
          fields.append(attr.name, field);
        continue;
      }
      SmallVector<Attribute> values;
      if (value)
        values = vhlo::takeApart(attr.kind, value);
      for (auto [i, part] : llvm::enumerate(parts))
        if (Attribute field = i < values.size() ? values[i] : absentValue(op, part))
          fields.append(part.name, field);
    }
    // What the version lacks must say nothing.
    for (const AttrSpec &field : spec.fields(spec.versions.back().number)) {
      Attribute value = fields.get(field.name);
      if (field.since > version.number && value && !vhlo::isDefault(field.absent, value))
        return needs(op, "'" + field.name + "' of " + op->getName().getStringRef(),
                     spec.versions[field.since - 1].from);
    }
    for (const AttrSpec &field : spec.fields(version.number)) {
      Attribute value = fields.get(field.name);
      if (!value)
        return op->emitError() << "'" << field.name << "' is missing";
      if (field.kind == Kind::Api) {
        attrs.append(field.name,
                     vhlo::VersionedAttr::get(op->getContext(), vhlo::AttrForm::ApiVersion, value));
        continue;
      }
      FailureOr<Attribute> converted = convert(op, field.name, value);
      if (failed(converted))
        return failure();
      attrs.append(field.name, *converted);
    }
    for (NamedAttribute each : op->getDiscardableAttrs()) {
      FailureOr<Attribute> converted = convert(op, each.getName(), each.getValue());
      if (failed(converted))
        return failure();
      attrs.append(each.getName(), *converted);
    }
    return success();
  }

  static Attribute absentValue(Operation *op, const AttrSpec &attr) {
    if (attr.absent == Default::BackendConfig) {
      auto api = op->getAttrOfType<IntegerAttr>("api_version");
      if (api && api.getInt() == 4)
        return DictionaryAttr::get(op->getContext());
    }
    return vhlo::defaultValue(attr.absent, op->getContext(), windowRank(op));
  }

  // A field as a plain attribute in the artifact's form.
  static Attribute plainField(Operation *op, const AttrSpec &attr, Attribute value) {
    if (!value)
      return absentValue(op, attr);
    Builder b(op->getContext());
    if (attr.kind == Kind::Unit)
      return b.getBoolAttr(true);
    if (auto list = dyn_cast<ArrayAttr>(value); list && attr.kind == Kind::Symbols) {
      SmallVector<Attribute> names;
      for (Attribute each : list)
        names.push_back(isa<FlatSymbolRefAttr>(each)
                            ? Attribute(cast<FlatSymbolRefAttr>(each).getAttr())
                            : each);
      return b.getArrayAttr(names);
    }
    // Tensors for arrays, strings for symbols.
    return vhlo::plain(vhlo::versioned(value));
  }

  Version release;
  DenseMap<Value, Value> casts;
  DenseMap<Type, Version> introduced;
};

struct StablehloToVhloPass : impl::StablehloToVhloBase<StablehloToVhloPass> {
  using StablehloToVhloBase::StablehloToVhloBase;
  void runOnOperation() override {
    std::optional<Version> release = Version::parse(version);
    if (!release) {
      getOperation()->emitError() << "'" << version << "' is no release of StableHLO; write it as "
                                  << vhlo::current.str();
      return signalPassFailure();
    }
    if (failed(legalizeToVhlo(getOperation(), *release)))
      signalPassFailure();
  }
};

} // namespace

LogicalResult legalizeToVhlo(ModuleOp module, Version release) {
  if (release < vhlo::oldest || vhlo::current < release)
    return module->emitError() << "StableHLO " << release.str()
                               << " is outside of the releases that artifacts can be written for, "
                               << vhlo::oldest.str() << " to " << vhlo::current.str();
  module->getContext()->loadDialect<vhlo::VhloDialect>();
  return ToVhlo(release).run(module);
}

} // namespace tessera
