// Turns the operations of a portable artifact, of whatever release, into StableHLO's of today.
// Passes.td shows an example.
#include "dialects/stablehlo/StablehloOps.h"
#include "dialects/vhlo/OpTable.h"
#include "dialects/vhlo/Structures.h"
#include "dialects/vhlo/Vhlo.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "passes/portable/Passes.h"

using namespace mlir;

namespace tessera {
#define GEN_PASS_DEF_VHLOTOSTABLEHLO
#include "passes/portable/Passes.h.inc"

namespace {

using vhlo::AttrSpec;
using vhlo::Default;
using vhlo::Kind;
using vhlo::OpSpec;

// What an attribute of an artifact is in StableHLO; null when it cannot be that.
Attribute convert(Kind kind, Attribute value) {
  MLIRContext *context = value.getContext();
  auto symbol = [](Attribute name) -> Attribute {
    auto string = dyn_cast<StringAttr>(vhlo::plain(name));
    return string ? FlatSymbolRefAttr::get(string) : Attribute();
  };
  switch (kind) {
  case Kind::Dims:
    if (auto dims = vhlo::integersOf(value))
      return DenseI64ArrayAttr::get(context, *dims);
    return {};
  case Kind::Bools: {
    auto dense = dyn_cast<DenseIntElementsAttr>(value);
    if (!dense || !dense.getElementType().isInteger(1) || dense.getNumElements() > 1 << 20)
      return {};
    return DenseBoolArrayAttr::get(context, llvm::to_vector(dense.getValues<bool>()));
  }
  case Kind::Symbol:
    return symbol(value);
  case Kind::Symbols: {
    auto list = dyn_cast<ArrayAttr>(value);
    if (!list)
      return {};
    SmallVector<Attribute> symbols;
    for (Attribute each : list)
      if (!symbols.emplace_back(symbol(each)))
        return {};
    return ArrayAttr::get(context, symbols);
  }
  case Kind::Unit: {
    auto flag = dyn_cast<BoolAttr>(value);
    return flag && flag.getValue() ? UnitAttr::get(context) : Attribute();
  }
  default:
    return value;
  }
}

class ToStablehlo {
public:
  LogicalResult run(ModuleOp module) {
    SmallVector<Operation *> ops;
    module->walk([&](Operation *op) {
      for (Region &region : op->getRegions())
        for (Block &block : region)
          for (BlockArgument arg : block.getArguments())
            arg.setType(vhlo::plain(arg.getType()));
      for (OpResult result : op->getResults())
        result.setType(vhlo::plain(result.getType()));
      if (isa_and_nonnull<vhlo::VhloDialect>(op->getDialect()) ||
          isa<UnrealizedConversionCastOp>(op))
        ops.push_back(op); // inner ones first
    });
    for (Operation *op : ops) {
      if (isa<UnrealizedConversionCastOp>(op)) {
        if (op->getOperandTypes() == op->getResultTypes()) {
          op->replaceAllUsesWith(op->getOperands());
          op->erase();
        }
      } else if (failed(replace(op))) {
        return failure();
      }
    }
    return success();
  }

private:
  LogicalResult replace(Operation *op) {
    auto [spec, number] = vhlo::findByVersionedName(op->getName().getStringRef());
    std::string name = spec->plainName;
    if (spec->name == "return" && isFunction(op->getParentOp()))
      name = "func.return";
    std::optional<RegisteredOperationName> plainName =
        RegisteredOperationName::lookup(name, op->getContext());
    if (!plainName)
      return op->emitError() << "portable artifact: Tessera does not know the operation '" << name
                             << "' yet; write the program without it";

    NamedAttrList attrs;
    if (failed(convertAttributes(op, *spec, number, attrs)))
      return failure();
    for (NamedAttribute each : op->getDiscardableAttrs())
      attrs.set(each.getName(), vhlo::plain(each.getValue()));

    OperationState state(op->getLoc(), *plainName);
    state.addOperands(op->getOperands());
    state.addTypes(op->getResultTypes());
    state.attributes = std::move(attrs);
    for (Region &region : op->getRegions())
      state.addRegion()->takeBody(region);
    OpBuilder builder(op);
    Operation *plainOp = builder.create(state);
    op->replaceAllUsesWith(plainOp->getResults());
    op->erase();
    return success();
  }

  static bool isFunction(Operation *op) {
    return op && (isa<func::FuncOp>(op) || op->getName().getStringRef() == "vhlo.func_v1");
  }

  LogicalResult convertAttributes(Operation *op, const OpSpec &spec, unsigned number,
                                  NamedAttrList &attrs) {
    auto value = [&](StringRef name) {
      return vhlo::plain(op->getInherentAttr(name).value_or(Attribute()));
    };
    auto wrong = [&](StringRef name) {
      return op->emitError() << "portable artifact: '" << name << "' of " << spec.name
                             << " is not what it should be: " << value(name);
    };
    for (const AttrSpec &attr : spec.attrs) {
      if (number < attr.since || number > attr.until || isPaddingOfOld(spec, attr))
        continue;
      ArrayRef<AttrSpec> parts = vhlo::structureFields(attr.kind);
      if (!parts.empty()) {
        auto fields =
            llvm::map_to_vector(parts, [&](const AttrSpec &part) { return value(part.name); });
        bool absent;
        Attribute whole = vhlo::putTogether(attr.kind, fields, absent);
        if (!whole && !absent)
          return op->emitError() << "portable artifact: the fields of '" << attr.name << "' of "
                                 << spec.name << " are not what they should be";
        if (whole)
          attrs.set(attr.name, whole);
        continue;
      }
      Attribute field = value(attr.name);
      if (!field)
        return wrong(attr.name);
      if (vhlo::isDefault(attr.absent, field) && !isHalfOfLayouts(attr, value))
        continue;
      Attribute converted = convert(attr.kind, field);
      if (!converted)
        return wrong(attr.name);
      attrs.set(attr.name, converted);
    }
    return success();
  }

  // dynamic_conv had a constant padding besides the operand, which won.
  static bool isPaddingOfOld(const OpSpec &spec, const AttrSpec &attr) { return attr.until == 1; }

  // A custom call has layouts for operands and results or for neither.
  template <typename F> static bool isHalfOfLayouts(const AttrSpec &attr, F value) {
    if (attr.name != "operand_layouts" && attr.name != "result_layouts")
      return false;
    return !vhlo::isDefault(Default::EmptyList, value("operand_layouts")) ||
           !vhlo::isDefault(Default::EmptyList, value("result_layouts"));
  }
};

struct VhloToStablehloPass : impl::VhloToStablehloBase<VhloToStablehloPass> {
  void runOnOperation() override {
    if (failed(legalizeToStablehlo(getOperation())))
      signalPassFailure();
  }
};

} // namespace

LogicalResult legalizeToStablehlo(ModuleOp module) { return ToStablehlo().run(module); }

} // namespace tessera
