// What StableHLO leaves out and an artifact writes.
#include "dialects/stablehlo/StablehloOps.h"
#include "dialects/vhlo/OpTable.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

namespace tessera::vhlo {

static Attribute splat(ArrayRef<int64_t> shape, Type element, int64_t value) {
  return DenseElementsAttr::get(RankedTensorType::get(shape, element),
                                APInt(element.getIntOrFloatBitWidth(), value));
}

Attribute defaultValue(Default absent, MLIRContext *context, int64_t windowRank) {
  Builder b(context);
  switch (absent) {
  case Default::Required:
    return {};
  case Default::False:
    return b.getBoolAttr(false);
  case Default::Zero:
    return b.getI64IntegerAttr(0);
  case Default::MinusOne:
    return b.getI64IntegerAttr(-1);
  case Default::EmptyString:
  case Default::WrittenEmptyString:
  case Default::BackendConfig:
    return b.getStringAttr("");
  case Default::EmptyList:
    return b.getArrayAttr({});
  case Default::EmptyDictionary:
    return b.getDictionaryAttr({});
  case Default::EmptyTensor:
    return b.getI64TensorAttr({});
  case Default::NoType:
    return stablehlo::ComparisonTypeAttr::get(context, stablehlo::ComparisonType::NOTYPE);
  case Default::DefaultPrecision: {
    Attribute one = stablehlo::PrecisionAttr::get(context, stablehlo::Precision::DEFAULT);
    return b.getArrayAttr({one, one});
  }
  case Default::DefaultAccuracy:
    return stablehlo::ResultAccuracyAttr::get(
        context, APFloat(0.0), APFloat(0.0), 0,
        stablehlo::ResultAccuracyModeAttr::get(context, stablehlo::ResultAccuracyMode::DEFAULT));
  case Default::OriginalApi:
    return b.getI32IntegerAttr(1);
  case Default::Ones:
    return splat({windowRank}, b.getI64Type(), 1);
  case Default::Falses:
    return splat({windowRank}, b.getI1Type(), 0);
  case Default::ZeroPairs:
    return splat({windowRank, 2}, b.getI64Type(), 0);
  case Default::None:
    return TypeAttr::get(b.getNoneType());
  }
  return {};
}

static bool isInteger(Attribute value, int64_t expected) {
  auto integer = dyn_cast<IntegerAttr>(value);
  return integer && !integer.getType().isInteger(1) &&
         integer.getValue().getSExtValue() == expected;
}

static bool isSplat(Attribute value, int64_t expected) {
  auto dense = dyn_cast<DenseIntElementsAttr>(value);
  return dense && dense.isSplat() &&
         dense.getSplatValue<APInt>().getZExtValue() == uint64_t(expected);
}

bool isDefault(Default absent, Attribute value) {
  switch (absent) {
  case Default::Required:
  case Default::WrittenEmptyString:
    return false;
  case Default::Zero:
    return isInteger(value, 0);
  case Default::MinusOne:
    return isInteger(value, -1);
  case Default::EmptyTensor: {
    auto dense = dyn_cast<DenseElementsAttr>(value);
    return dense && dense.empty();
  }
  case Default::BackendConfig: {
    auto string = dyn_cast<StringAttr>(value);
    auto dictionary = dyn_cast<DictionaryAttr>(value);
    return (string && string.empty()) || (dictionary && dictionary.empty());
  }
  case Default::DefaultPrecision: {
    auto list = dyn_cast<ArrayAttr>(value);
    return list && llvm::all_of(list, [](Attribute each) {
             auto precision = dyn_cast<stablehlo::PrecisionAttr>(each);
             return precision && precision.getValue() == stablehlo::Precision::DEFAULT;
           });
  }
  case Default::Ones:
    return isSplat(value, 1);
  case Default::Falses:
  case Default::ZeroPairs:
    return isSplat(value, 0);
  default:
    return value == defaultValue(absent, value.getContext(), 0);
  }
}

} // namespace tessera::vhlo
