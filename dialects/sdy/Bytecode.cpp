// The dialect's attributes in MLIR bytecode, encoded as Shardy does: a code, then the fields.
// Shardings have a code without unreduced axes, one with such that are summed, and one with such that
// are combined otherwise, so that older readers know what is of their time.
#include "dialects/sdy/MeshOrder.h"
#include "dialects/sdy/SdyOps.h"
#include "mlir/Bytecode/BytecodeImplementation.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tessera::sdy {
namespace {

using Reader = DialectBytecodeReader;
using Writer = DialectBytecodeWriter;

enum Code : uint64_t {
  kManualAxes = 0,
  kMeshAxis = 1,
  kMesh = 2,
  kSubAxisInfo = 3,
  kAxisRef = 4,
  kDimensionSharding = 5,
  kTensorSharding = 6,
  kShardingPerValue = 7,
  kDimMapping = 8,
  kTensorMapping = 9,
  kOpShardingRule = 10,
  kAxisRefList = 11,
  kListOfAxisRefLists = 12,
  kAllToAllParam = 13,
  kAllToAllParamList = 14,
  kUnreducedTensorSharding = 15,
  kUnreducedShardingPerValue = 16,
  kReducedByTensorSharding = 17, // with the kind of reduction, where it is no sum
};

//===----------------------------------- Reading -------------------------------------===//

using Dims = SmallVector<int64_t>;
template <typename AttrT> using List = SmallVector<AttrT>;

LogicalResult read(Reader &reader, StringRef &text) { return reader.readString(text); }
LogicalResult read(Reader &reader, int64_t &number) { return reader.readSignedVarInt(number); }
LogicalResult read(Reader &reader, bool &flag) { return reader.readBool(flag); }
LogicalResult read(Reader &reader, Dims &list) { return reader.readSignedVarInts(list); }
template <typename AttrT>
std::enable_if_t<std::is_base_of_v<Attribute, AttrT>, LogicalResult> read(Reader &reader,
                                                                          AttrT &attr) {
  return reader.readAttribute(attr);
}
template <typename AttrT> LogicalResult read(Reader &reader, List<AttrT> &list) {
  return reader.readAttributes(list);
}
LogicalResult read(Reader &reader, std::optional<int64_t> &number) {
  uint64_t value;
  bool given;
  if (failed(reader.readVarIntWithFlag(value, given)))
    return failure();
  if (given)
    number = value;
  return success();
}

template <typename... Fields> bool readAll(Reader &reader, Fields &...fields) {
  return (succeeded(read(reader, fields)) && ...);
}

// An attribute that is a list of others.
template <typename AttrT, typename ElementT> Attribute readList(Reader &reader) {
  List<ElementT> elements;
  return readAll(reader, elements) ? AttrT::get(reader.getContext(), elements) : Attribute();
}

Attribute readMesh(Reader &reader, function_ref<InFlightDiagnostic()> error) {
  List<MeshAxisAttr> axes;
  Dims ids;
  if (!readAll(reader, axes, ids))
    return {};
  auto mesh = MeshAttr::getChecked(error, reader.getContext(), ArrayRef<MeshAxisAttr>(axes),
                                   ArrayRef<int64_t>(ids));
  return mesh ? withoutIota(mesh) : mesh;
}

Attribute readAxisRef(Reader &reader) {
  StringRef name;
  SubAxisInfoAttr part;
  if (!readAll(reader, name) || failed(reader.readOptionalAttribute(part)))
    return {};
  return AxisRefAttr::get(reader.getContext(), name, part);
}

Attribute readSharding(Reader &reader, uint64_t code) {
  Attribute mesh;
  List<DimensionShardingAttr> dims;
  List<AxisRefAttr> replicated, unreduced;
  int64_t reduction = int64_t(ReductionOp::SUM);
  if (!readAll(reader, mesh, dims, replicated) ||
      (code != kTensorSharding && !readAll(reader, unreduced)) ||
      (code == kReducedByTensorSharding && !readAll(reader, reduction)))
    return {};
  if (!isa<FlatSymbolRefAttr, MeshAttr>(mesh))
    return reader.emitError("a sharding's mesh is neither a name nor a mesh"), Attribute();
  std::optional<ReductionOp> op;
  if (reduction >= 0 && reduction <= int64_t(getMaxEnumValForReductionOp()))
    op = symbolizeReductionOp(uint32_t(reduction));
  if (!op)
    return reader.emitError("a sharding's unreduced axes are combined by no operation of number ")
               << reduction,
           Attribute();
  return TensorShardingAttr::get(reader.getContext(), mesh, dims, replicated, unreduced, *op);
}

Attribute readRule(Reader &reader) {
  Dims sizes, reduction, needReplication, permutation, blocked;
  List<TensorMappingAttr> operands, results;
  bool isCustom;
  if (!readAll(reader, sizes, operands, results, reduction, needReplication, permutation, blocked,
               isCustom))
    return {};
  return OpShardingRuleAttr::get(reader.getContext(), sizes, operands, results, reduction,
                                 needReplication, permutation, blocked, isCustom);
}

//===----------------------------------- Writing -------------------------------------===//

void write(Writer &writer, StringRef text) { writer.writeOwnedString(text); }
void write(Writer &writer, int64_t number) { writer.writeSignedVarInt(number); }
void write(Writer &writer, bool flag) { writer.writeOwnedBool(flag); }
void write(Writer &writer, ArrayRef<int64_t> list) { writer.writeSignedVarInts(list); }
void write(Writer &writer, Attribute attr) { writer.writeAttribute(attr); }
template <typename AttrT>
std::enable_if_t<std::is_base_of_v<Attribute, AttrT>> write(Writer &writer, ArrayRef<AttrT> list) {
  writer.writeAttributes(list);
}

template <typename... Fields> LogicalResult writeAll(Writer &writer, Code code, Fields... fields) {
  writer.writeVarInt(code);
  (write(writer, fields), ...);
  return success();
}

bool isUnreduced(TensorShardingAttr sharding) { return !sharding.getUnreducedAxes().empty(); }

struct Version : DialectVersion {
  uint64_t parts[3];
};

struct Bytecode : BytecodeDialectInterface {
  explicit Bytecode(Dialect *dialect) : BytecodeDialectInterface(dialect) {}

  Attribute readAttribute(Reader &reader) const override {
    MLIRContext *context = reader.getContext();
    auto error = [&] { return reader.emitError("sdy: "); };
    uint64_t code;
    if (failed(reader.readVarInt(code)))
      return {};
    StringRef name;
    int64_t a, b;
    Dims numbers;
    switch (code) {
    case kManualAxes:
      return readList<ManualAxesAttr, StringAttr>(reader);
    case kMeshAxis:
      return readAll(reader, name, a) ? MeshAxisAttr::get(context, name, a) : Attribute();
    case kMesh:
      return readMesh(reader, error);
    case kSubAxisInfo:
      return readAll(reader, a, b) ? SubAxisInfoAttr::getChecked(error, context, a, b)
                                   : Attribute();
    case kAxisRef:
      return readAxisRef(reader);
    case kDimensionSharding: {
      List<AxisRefAttr> axes;
      bool isClosed;
      std::optional<int64_t> priority;
      return readAll(reader, axes, isClosed, priority)
                 ? DimensionShardingAttr::get(context, axes, isClosed, priority)
                 : Attribute();
    }
    case kTensorSharding:
    case kUnreducedTensorSharding:
    case kReducedByTensorSharding:
      return readSharding(reader, code);
    case kShardingPerValue:
    case kUnreducedShardingPerValue:
      return readList<TensorShardingPerValueAttr, TensorShardingAttr>(reader);
    case kDimMapping:
      return readAll(reader, numbers) ? DimMappingAttr::get(context, numbers) : Attribute();
    case kTensorMapping:
      return readList<TensorMappingAttr, DimMappingAttr>(reader);
    case kOpShardingRule:
      return readRule(reader);
    case kAxisRefList:
      return readList<AxisRefListAttr, AxisRefAttr>(reader);
    case kListOfAxisRefLists:
      return readList<ListOfAxisRefListsAttr, AxisRefListAttr>(reader);
    case kAllToAllParam: {
      List<AxisRefAttr> axes;
      return readAll(reader, axes, a, b) ? AllToAllParamAttr::get(context, axes, a, b)
                                         : Attribute();
    }
    case kAllToAllParamList:
      return readList<AllToAllParamListAttr, AllToAllParamAttr>(reader);
    }
    reader.emitError() << "sdy has no attribute with code " << code;
    return {};
  }

  LogicalResult writeAttribute(Attribute attr, Writer &writer) const override {
    return TypeSwitch<Attribute, LogicalResult>(attr)
        .Case([&](ManualAxesAttr a) { return writeAll(writer, kManualAxes, a.getValue()); })
        .Case([&](MeshAxisAttr a) { return writeAll(writer, kMeshAxis, a.getName(), a.getSize()); })
        .Case([&](MeshAttr a) { return writeAll(writer, kMesh, a.getAxes(), a.getDeviceIds()); })
        .Case([&](SubAxisInfoAttr a) {
          return writeAll(writer, kSubAxisInfo, a.getPreSize(), a.getSize());
        })
        .Case([&](AxisRefAttr a) {
          writer.writeVarInt(kAxisRef);
          write(writer, a.getName());
          writer.writeOptionalAttribute(a.getSubAxisInfo());
          return success();
        })
        .Case([&](DimensionShardingAttr a) {
          writer.writeVarInt(kDimensionSharding);
          write(writer, a.getAxes());
          write(writer, a.getIsClosed());
          writer.writeVarIntWithFlag(a.getPriority().value_or(0), a.getPriority().has_value());
          return success();
        })
        .Case([&](TensorShardingAttr a) {
          if (a.getReductionOp() != ReductionOp::SUM)
            return writeAll(writer, kReducedByTensorSharding, a.getMeshOrRef(), a.getDimShardings(),
                            a.getReplicatedAxes(), a.getUnreducedAxes(),
                            int64_t(a.getReductionOp()));
          if (isUnreduced(a))
            return writeAll(writer, kUnreducedTensorSharding, a.getMeshOrRef(), a.getDimShardings(),
                            a.getReplicatedAxes(), a.getUnreducedAxes());
          return writeAll(writer, kTensorSharding, a.getMeshOrRef(), a.getDimShardings(),
                          a.getReplicatedAxes());
        })
        .Case([&](TensorShardingPerValueAttr a) {
          bool unreduced = llvm::any_of(a.getShardings(), isUnreduced);
          return writeAll(writer, unreduced ? kUnreducedShardingPerValue : kShardingPerValue,
                          a.getShardings());
        })
        .Case([&](DimMappingAttr a) { return writeAll(writer, kDimMapping, a.getFactorIndices()); })
        .Case([&](TensorMappingAttr a) {
          return writeAll(writer, kTensorMapping, a.getDimMappings());
        })
        .Case([&](OpShardingRuleAttr a) {
          return writeAll(writer, kOpShardingRule, a.getFactorSizes(), a.getOperandMappings(),
                          a.getResultMappings(), a.getReductionFactors(),
                          a.getNeedReplicationFactors(), a.getPermutationFactors(),
                          a.getBlockedPropagationFactors(), a.getIsCustomRule());
        })
        .Case([&](AxisRefListAttr a) { return writeAll(writer, kAxisRefList, a.getValue()); })
        .Case([&](ListOfAxisRefListsAttr a) {
          return writeAll(writer, kListOfAxisRefLists, a.getValue());
        })
        .Case([&](AllToAllParamAttr a) {
          return writeAll(writer, kAllToAllParam, a.getAxes(), a.getSrcDim(), a.getTgtDim());
        })
        .Case([&](AllToAllParamListAttr a) {
          return writeAll(writer, kAllToAllParamList, a.getValue());
        })
        .Default([](Attribute) { return failure(); });
  }

  std::unique_ptr<DialectVersion> readVersion(Reader &reader) const override {
    auto version = std::make_unique<Version>();
    for (uint64_t &part : version->parts)
      if (failed(reader.readVarInt(part)))
        return nullptr;
    return version;
  }
};

} // namespace

void SdyDialect::registerBytecode() { addInterfaces<Bytecode>(); }

} // namespace tessera::sdy
