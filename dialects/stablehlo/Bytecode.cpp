// The dialect's attributes and types in MLIR bytecode, encoded as other builds of StableHLO do.
// Codes and fields never change there, only grow; what has no code travels as text.
#include "dialects/stablehlo/EnumBytecode.h"
#include "dialects/stablehlo/StablehloOps.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tessera::stablehlo {
namespace {

using Reader = DialectBytecodeReader;
using Writer = DialectBytecodeWriter;
using Dims = SmallVector<int64_t>;

enum AttrCode : uint64_t {
  kChannelHandle = 1,
  kComparisonDirection = 2,
  kComparisonType = 3,
  kConv = 4,
  kDot = 5,
  kFftType = 6,
  kGather = 7,
  kPrecision = 8,
  kRngAlgorithm = 9,
  kRngDistribution = 10,
  kScatter = 11,
  kTranspose = 12,
  kTypeExtensions = 13,
  kOutputOperandAlias = 14,
  kDotAlgorithm = 15,
  kResultAccuracyMode = 16,
  kResultAccuracy = 17,
};
enum TypeCode : uint64_t { kToken = 0, kFuture = 1 };

// Fields one after another: a number reads one, a list reads a list.
LogicalResult read(Reader &reader, int64_t &number) { return reader.readSignedVarInt(number); }
LogicalResult read(Reader &reader, Dims &list) { return reader.readSignedVarInts(list); }
LogicalResult read(Reader &reader, Type &type) { return reader.readType(type); }
template <typename... Fields> bool readAll(Reader &reader, Fields &...fields) {
  return (succeeded(read(reader, fields)) && ...);
}

void write(Writer &writer, int64_t number) { writer.writeSignedVarInt(number); }
void write(Writer &writer, ArrayRef<int64_t> list) { writer.writeSignedVarInts(list); }
void write(Writer &writer, Type type) { writer.writeType(type); }
template <typename... Fields> void writeAll(Writer &writer, AttrCode code, Fields... fields) {
  writer.writeVarInt(code);
  (write(writer, fields), ...);
}

Attribute readResultAccuracy(Reader &reader) {
  FailureOr<APFloat> atol = reader.readAPFloatWithKnownSemantics(APFloat::IEEEdouble());
  FailureOr<APFloat> rtol = failure();
  int64_t ulps;
  ResultAccuracyModeAttr mode;
  if (failed(atol) || failed(rtol = reader.readAPFloatWithKnownSemantics(APFloat::IEEEdouble())) ||
      failed(reader.readSignedVarInt(ulps)) || failed(reader.readAttribute(mode)))
    return {};
  return ResultAccuracyAttr::get(reader.getContext(), *atol, *rtol, ulps, mode);
}

Attribute readDotAlgorithm(Reader &reader) {
  Type lhs, rhs, accumulation;
  int64_t lhsCount, rhsCount, operations;
  bool imprecise;
  if (!readAll(reader, lhs, rhs, accumulation, lhsCount, rhsCount, operations) ||
      failed(reader.readBool(imprecise)))
    return {};
  return DotAlgorithmAttr::get(reader.getContext(), lhs, rhs, accumulation, lhsCount, rhsCount,
                               operations, imprecise);
}

Attribute readStructure(Reader &reader, uint64_t code) {
  MLIRContext *context = reader.getContext();
  int64_t n[6];
  Dims l[5];
  switch (code) {
  case kChannelHandle:
    return readAll(reader, n[0], n[1]) ? ChannelHandleAttr::get(context, n[0], n[1]) : Attribute();
  case kConv:
    return readAll(reader, n[0], n[1], l[0], n[2], n[3], l[1], n[4], n[5], l[2])
               ? ConvDimensionNumbersAttr::get(context, n[0], n[1], l[0], n[2], n[3], l[1], n[4],
                                               n[5], l[2])
               : Attribute();
  case kDot:
    return readAll(reader, l[0], l[1], l[2], l[3])
               ? DotDimensionNumbersAttr::get(context, l[0], l[1], l[2], l[3])
               : Attribute();
  case kGather:
    return readAll(reader, l[0], l[1], l[2], l[3], l[4], n[0])
               ? GatherDimensionNumbersAttr::get(context, l[0], l[1], l[2], l[3], l[4], n[0])
               : Attribute();
  case kScatter:
    return readAll(reader, l[0], l[1], l[2], l[3], l[4], n[0])
               ? ScatterDimensionNumbersAttr::get(context, l[0], l[1], l[2], l[3], l[4], n[0])
               : Attribute();
  case kTypeExtensions:
    return readAll(reader, l[0]) ? TypeExtensionsAttr::get(context, l[0]) : Attribute();
  case kOutputOperandAlias:
    return readAll(reader, l[0], n[0], l[1])
               ? OutputOperandAliasAttr::get(context, l[0], n[0], l[1])
               : Attribute();
  }
  reader.emitError() << "stablehlo has no attribute with code " << code;
  return {};
}

struct Bytecode : BytecodeDialectInterface {
  explicit Bytecode(Dialect *dialect) : BytecodeDialectInterface(dialect) {}

  Attribute readAttribute(Reader &reader) const override {
    uint64_t code;
    if (failed(reader.readVarInt(code)))
      return {};
    switch (code) {
    case kComparisonDirection:
      return readEnum<ComparisonDirectionAttr>(
          reader, [](uint32_t n) { return symbolizeComparisonDirection(n); });
    case kComparisonType:
      return readEnum<ComparisonTypeAttr>(reader,
                                          [](uint32_t n) { return symbolizeComparisonType(n); });
    case kFftType:
      return readEnum<FftTypeAttr>(reader, [](uint32_t n) { return symbolizeFftType(n); });
    case kPrecision:
      return readEnum<PrecisionAttr>(reader, [](uint32_t n) { return symbolizePrecision(n); });
    case kRngAlgorithm:
      return readEnum<RngAlgorithmAttr>(reader,
                                        [](uint32_t n) { return symbolizeRngAlgorithm(n); });
    case kRngDistribution:
      return readEnum<RngDistributionAttr>(reader,
                                           [](uint32_t n) { return symbolizeRngDistribution(n); });
    case kTranspose:
      return readEnum<TransposeAttr>(reader, [](uint32_t n) { return symbolizeTranspose(n); });
    case kResultAccuracyMode:
      return readEnum<ResultAccuracyModeAttr>(
          reader, [](uint32_t n) { return symbolizeResultAccuracyMode(n); });
    case kDotAlgorithm:
      return readDotAlgorithm(reader);
    case kResultAccuracy:
      return readResultAccuracy(reader);
    default:
      return readStructure(reader, code);
    }
  }

  LogicalResult writeAttribute(Attribute attr, Writer &writer) const override {
    auto enumerator = [&](AttrCode code) {
      return [&writer, code](auto a) {
        writer.writeVarInt(code);
        writer.writeVarInt(uint64_t(a.getValue()));
        return success();
      };
    };
    return TypeSwitch<Attribute, LogicalResult>(attr)
        .Case<ComparisonDirectionAttr>(enumerator(kComparisonDirection))
        .Case<ComparisonTypeAttr>(enumerator(kComparisonType))
        .Case<FftTypeAttr>(enumerator(kFftType))
        .Case<PrecisionAttr>(enumerator(kPrecision))
        .Case<RngAlgorithmAttr>(enumerator(kRngAlgorithm))
        .Case<RngDistributionAttr>(enumerator(kRngDistribution))
        .Case<TransposeAttr>(enumerator(kTranspose))
        .Case<ResultAccuracyModeAttr>(enumerator(kResultAccuracyMode))
        .Case([&](ChannelHandleAttr a) {
          return writeAll(writer, kChannelHandle, a.getHandle(), a.getType()), success();
        })
        .Case([&](ConvDimensionNumbersAttr a) {
          writeAll(writer, kConv, a.getInputBatchDimension(), a.getInputFeatureDimension(),
                   a.getInputSpatialDimensions(), a.getKernelInputFeatureDimension(),
                   a.getKernelOutputFeatureDimension(), a.getKernelSpatialDimensions(),
                   a.getOutputBatchDimension(), a.getOutputFeatureDimension(),
                   a.getOutputSpatialDimensions());
          return success();
        })
        .Case([&](DotDimensionNumbersAttr a) {
          writeAll(writer, kDot, a.getLhsBatchingDimensions(), a.getRhsBatchingDimensions(),
                   a.getLhsContractingDimensions(), a.getRhsContractingDimensions());
          return success();
        })
        .Case([&](GatherDimensionNumbersAttr a) {
          writeAll(writer, kGather, a.getOffsetDims(), a.getCollapsedSliceDims(),
                   a.getOperandBatchingDims(), a.getStartIndicesBatchingDims(),
                   a.getStartIndexMap(), a.getIndexVectorDim());
          return success();
        })
        .Case([&](ScatterDimensionNumbersAttr a) {
          writeAll(writer, kScatter, a.getUpdateWindowDims(), a.getInsertedWindowDims(),
                   a.getInputBatchingDims(), a.getScatterIndicesBatchingDims(),
                   a.getScatterDimsToOperandDims(), a.getIndexVectorDim());
          return success();
        })
        .Case([&](TypeExtensionsAttr a) {
          return writeAll(writer, kTypeExtensions, a.getBounds()), success();
        })
        .Case([&](OutputOperandAliasAttr a) {
          writeAll(writer, kOutputOperandAlias, a.getOutputTupleIndices(), a.getOperandIndex(),
                   a.getOperandTupleIndices());
          return success();
        })
        .Case([&](DotAlgorithmAttr a) {
          writeAll(writer, kDotAlgorithm, a.getLhsPrecisionType(), a.getRhsPrecisionType(),
                   a.getAccumulationType(), a.getLhsComponentCount(), a.getRhsComponentCount(),
                   a.getNumPrimitiveOperations());
          writer.writeOwnedBool(a.getAllowImpreciseAccumulation());
          return success();
        })
        .Case([&](ResultAccuracyAttr a) {
          writer.writeVarInt(kResultAccuracy);
          writer.writeAPFloatWithKnownSemantics(a.getAtol());
          writer.writeAPFloatWithKnownSemantics(a.getRtol());
          writer.writeSignedVarInt(a.getUlps());
          writer.writeAttribute(a.getMode());
          return success();
        })
        .Default([](Attribute) { return failure(); });
  }

  Type readType(Reader &reader) const override {
    uint64_t code;
    SmallVector<Type> types;
    if (failed(reader.readVarInt(code)))
      return {};
    if (code == kToken)
      return TokenType::get(reader.getContext());
    if (code == kFuture)
      return failed(reader.readTypes(types)) ? Type() : FutureType::get(reader.getContext(), types);
    return reader.emitError() << "stablehlo has no type with code " << code, Type();
  }

  LogicalResult writeType(Type type, Writer &writer) const override {
    if (isa<TokenType>(type)) {
      writer.writeVarInt(kToken);
      return success();
    }
    if (auto future = dyn_cast<FutureType>(type)) {
      writer.writeVarInt(kFuture);
      writer.writeTypes(future.getTypes());
      return success();
    }
    return failure();
  }

  // Three numbers, where a writer gives them; nothing depends on them.
  std::unique_ptr<DialectVersion> readVersion(Reader &reader) const override {
    uint64_t part;
    for (int i = 0; i < 3; ++i)
      if (failed(reader.readVarInt(part)))
        return nullptr;
    return std::make_unique<DialectVersion>();
  }
};

} // namespace

void registerBytecode(StablehloDialect *dialect) { dialect->addInterfaces<Bytecode>(); }

} // namespace tessera::stablehlo
