// Makes an operation of MLIR from each row and version of the table. There is no class for any of
// them: one model serves all, with the attributes in a dictionary.
#include "dialects/vhlo/OpTable.h"
#include "dialects/vhlo/Vhlo.h"
#include "mlir/Bytecode/BytecodeImplementation.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;

namespace tessera::vhlo {
namespace {

struct Op; // what the interface's model is asked to stand for

// Attributes stand in the bytecode in the order of their names.
struct BytecodeModel : BytecodeOpInterface::Concept {
  using Interface = BytecodeOpInterface;

  BytecodeModel() : Concept{read, write} {}

  static LogicalResult read(DialectBytecodeReader &reader, OperationState &state) {
    auto [op, number] = findByVersionedName(state.name.getStringRef());
    NamedAttrList values;
    for (const AttrSpec &field : op->fields(number)) {
      Attribute value;
      if (failed(reader.readAttribute(value)))
        return failure();
      values.append(field.name, value);
    }
    state.propertiesAttr = values.getDictionary(reader.getContext());
    return success();
  }

  static void write(const Concept *, Operation *op, DialectBytecodeWriter &writer) {
    auto [spec, number] = findByVersionedName(op->getName().getStringRef());
    for (const AttrSpec &field : spec->fields(number))
      writer.writeAttribute(op->getInherentAttr(field.name).value_or(Attribute()));
  }
};

class OpModel : public OperationName::Impl {
public:
  OpModel(const OpSpec &op, unsigned number, Dialect *dialect, TypeID id)
      : Impl(op.versionedName(number), dialect, id, mlir::detail::InterfaceMap()), op(op),
        fields(op.fields(number)) {
    getInterfaceMap().insertModels<BytecodeModel>();
  }

  LogicalResult foldHook(Operation *, ArrayRef<Attribute>, SmallVectorImpl<OpFoldResult> &) final {
    return failure();
  }
  void getCanonicalizationPatterns(RewritePatternSet &, MLIRContext *) final {}
  bool hasTrait(TypeID id) final {
    return op.name == "return" && id == TypeID::get<OpTrait::IsTerminator>();
  }
  void populateDefaultAttrs(const OperationName &, NamedAttrList &) final {}

  OperationName::ParseAssemblyFn getParseAssemblyFn() final {
    if (op.name == "func")
      return parseFunction;
    return [](OpAsmParser &parser, OperationState &) {
      return parser.emitError(parser.getNameLoc(), "write this operation in the generic form");
    };
  }
  void printAssembly(Operation *operation, OpAsmPrinter &printer, StringRef) final {
    if (op.name == "func" && isPrintable(operation))
      printFunction(operation, printer);
    else
      printer.printGenericOp(operation);
  }

  LogicalResult verifyInvariants(Operation *operation) final {
    for (const AttrSpec &field : fields)
      if (!properties(operation->getPropertiesStorage()).get(field.name))
        return operation->emitOpError() << "has no attribute '" << field.name << "'";
    return success();
  }
  LogicalResult verifyRegionInvariants(Operation *) final { return success(); }

  // The attributes of the row: a dictionary where MLIR keeps properties.
  std::optional<Attribute> getInherentAttr(Operation *operation, StringRef name) final {
    if (!isField(name))
      return std::nullopt;
    return properties(operation->getPropertiesStorage()).get(name);
  }
  void setInherentAttr(Operation *operation, StringAttr name, Attribute value) final {
    DictionaryAttr &all = storage(operation->getPropertiesStorage());
    NamedAttrList list(properties(operation->getPropertiesStorage()));
    if (value)
      list.set(name, value);
    else
      list.erase(name);
    all = list.getDictionary(operation->getContext());
  }
  void populateInherentAttrs(Operation *operation, NamedAttrList &attrs) final {
    for (NamedAttribute each : properties(operation->getPropertiesStorage()))
      attrs.push_back(each);
  }
  LogicalResult verifyInherentAttrs(OperationName, NamedAttrList &,
                                    function_ref<InFlightDiagnostic()>) final {
    return success();
  }
  int getOpPropertyByteSize() final { return fields.empty() ? 0 : sizeof(DictionaryAttr); }
  void initProperties(OperationName, OpaqueProperties to, OpaqueProperties from) final {
    new (to.as<DictionaryAttr *>()) DictionaryAttr(from ? storage(from) : DictionaryAttr());
  }
  void deleteProperties(OpaqueProperties) final {}
  void populateDefaultProperties(OperationName, OpaqueProperties) final {}
  LogicalResult setPropertiesFromAttr(OperationName, OpaqueProperties to, Attribute value,
                                      function_ref<InFlightDiagnostic()> emitError) final {
    auto dictionary = dyn_cast_or_null<DictionaryAttr>(value);
    if (!dictionary || fields.empty())
      return emitError ? emitError() << "expected a dictionary of attributes" : failure();
    for (NamedAttribute each : dictionary)
      if (!isField(each.getName()))
        return emitError ? emitError() << "has no attribute '" << each.getName() << "'" : failure();
    storage(to) = dictionary;
    return success();
  }
  Attribute getPropertiesAsAttr(Operation *operation) final {
    if (fields.empty())
      return {};
    return storage(operation->getPropertiesStorage());
  }
  void copyProperties(OpaqueProperties to, OpaqueProperties from) final {
    storage(to) = storage(from);
  }
  bool compareProperties(OpaqueProperties a, OpaqueProperties b) final {
    return fields.empty() || storage(a) == storage(b);
  }
  llvm::hash_code hashProperties(OpaqueProperties value) final {
    return fields.empty() ? llvm::hash_code(0) : hash_value(storage(value));
  }

private:
  bool isField(StringRef name) const {
    return llvm::any_of(fields, [&](const AttrSpec &field) { return field.name == name; });
  }
  static DictionaryAttr &storage(OpaqueProperties properties) {
    return *properties.as<DictionaryAttr *>();
  }
  DictionaryAttr properties(OpaqueProperties value) const {
    if (!fields.empty() && storage(value))
      return storage(value);
    return DictionaryAttr::get(dialect->getContext());
  }

  //   vhlo.func_v1 @f(%arg0: type) -> (type) { .. } {arg_attrs = .., ..}
  static bool isPrintable(Operation *operation) {
    auto name = dyn_cast_or_null<StringAttr>(plain(operation->getAttr("sym_name")));
    auto type = dyn_cast_or_null<TypeAttr>(plain(operation->getAttr("function_type")));
    return name && type && isa<FunctionType>(type.getValue()) && operation->getNumRegions() == 1 &&
           operation->getNumOperands() == 0 && operation->getNumResults() == 0 &&
           llvm::equal(operation->getRegion(0).getArgumentTypes(),
                       llvm::map_range(cast<FunctionType>(type.getValue()).getInputs(),
                                       [](Type input) { return versioned(input); }));
  }
  static void printFunction(Operation *operation, OpAsmPrinter &printer) {
    printer << operation->getName().getStringRef() << " ";
    printer.printSymbolName(cast<StringAttr>(plain(operation->getAttr("sym_name"))).getValue());
    printer << "(";
    llvm::interleaveComma(operation->getRegion(0).getArguments(), printer,
                          [&](BlockArgument arg) { printer.printRegionArgument(arg); });
    printer << ") -> (";
    auto type = cast<TypeAttr>(plain(operation->getAttr("function_type"))).getValue();
    llvm::interleaveComma(cast<FunctionType>(type).getResults(), printer,
                          [&](Type result) { printer << versioned(result); });
    printer << ") ";
    printer.printRegion(operation->getRegion(0), /*printEntryBlockArgs=*/false);
    printer.printOptionalAttrDict(operation->getAttrs(), {"sym_name", "function_type"});
  }
  static ParseResult parseFunction(OpAsmParser &parser, OperationState &state) {
    StringAttr name;
    SmallVector<OpAsmParser::Argument> args;
    SmallVector<Type> inputs, results;
    if (parser.parseSymbolName(name) ||
        parser.parseArgumentList(args, AsmParser::Delimiter::Paren, /*allowType=*/true) ||
        parser.parseArrow() || parser.parseLParen())
      return failure();
    if (failed(parser.parseOptionalRParen()) &&
        (parser.parseTypeList(results) || parser.parseRParen()))
      return failure();
    if (parser.parseRegion(*state.addRegion(), args) ||
        parser.parseOptionalAttrDict(state.attributes))
      return failure();
    for (const OpAsmParser::Argument &arg : args)
      inputs.push_back(plain(arg.type));
    for (Type &result : results)
      result = plain(result);
    state.addAttribute("sym_name", versioned(Attribute(name)));
    state.addAttribute("function_type", versioned(Attribute(TypeAttr::get(FunctionType::get(
                                            parser.getContext(), inputs, results)))));
    return success();
  }

  const OpSpec &op;
  SmallVector<AttrSpec> fields;
};

} // namespace

void VhloDialect::registerOperations() {
  for (const OpSpec &op : opTable())
    for (const OpVersion &version : op.versions) {
      SmallVector<AttrSpec> fields = op.fields(version.number);
      auto names = llvm::map_to_vector(fields, [](const AttrSpec &field) { return field.name; });
      RegisteredOperationName::insert(
          std::make_unique<OpModel>(op, version.number, this, operationIds.allocate()), names);
    }
}

} // namespace tessera::vhlo
