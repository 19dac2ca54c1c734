#include "dialects/vhlo/Types.h"
#include "dialects/stablehlo/StablehloOps.h"
#include "mlir/Dialect/Quant/IR/QuantTypes.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tessera::vhlo {
namespace {

template <typename T> Type make(MLIRContext *context) { return T::get(context); }
template <int bits> Type makeSigned(MLIRContext *context) {
  return IntegerType::get(context, bits);
}
template <int bits> Type makeUnsigned(MLIRContext *context) {
  return IntegerType::get(context, bits, IntegerType::Unsigned);
}

// tf32's name is misspelt in the format, and so it stays.
constexpr SimpleType types[] = {
    {0, "bool_v1", {0, 9}, makeSigned<1>},
    {2, "bf16_v1", {0, 9}, make<BFloat16Type>},
    {3, "f16_v1", {0, 9}, make<Float16Type>},
    {4, "f32_v1", {0, 9}, make<Float32Type>},
    {5, "f64_v1", {0, 9}, make<Float64Type>},
    {6, "f8E4M3FN_v1", {0, 9}, make<Float8E4M3FNType>},
    {7, "f8E5M2_v1", {0, 9}, make<Float8E5M2Type>},
    {9, "index_v1", {0, 9}, make<IndexType>},
    {10, "i4_v1", {0, 9}, makeSigned<4>},
    {11, "i8_v1", {0, 9}, makeSigned<8>},
    {12, "i16_v1", {0, 9}, makeSigned<16>},
    {13, "i32_v1", {0, 9}, makeSigned<32>},
    {14, "i64_v1", {0, 9}, makeSigned<64>},
    {15, "ui4_v1", {0, 9}, makeUnsigned<4>},
    {16, "ui8_v1", {0, 9}, makeUnsigned<8>},
    {17, "ui16_v1", {0, 9}, makeUnsigned<16>},
    {18, "ui32_v1", {0, 9}, makeUnsigned<32>},
    {19, "ui64_v1", {0, 9}, makeUnsigned<64>},
    {22, "token_v1", {0, 9}, make<stablehlo::TokenType>},
    {27, "f8E4M3FNUZ_v1", {0, 10}, make<Float8E4M3FNUZType>},
    {28, "f8E5M2FNUZ_v1", {0, 10}, make<Float8E5M2FNUZType>},
    {29, "f8E4M3B11FNUZ_v1", {0, 11}, make<Float8E4M3B11FNUZType>},
    {31, "i2_v1", {1, 2}, makeSigned<2>},
    {32, "ui2_v1", {1, 2}, makeUnsigned<2>},
    {33, "none_v1", {1, 6}, make<NoneType>},
    {34, "tf31_v1", {1, 6}, make<FloatTF32Type>},
    {35, "f8E4M3_v1", {1, 7}, make<Float8E4M3Type>},
    {36, "f8E3M4_v1", {1, 7}, make<Float8E3M4Type>},
    {37, "f4E2M1FN_v1", {1, 8}, make<Float4E2M1FNType>},
    {38, "f6E2M3FN_v1", {1, 8}, make<Float6E2M3FNType>},
    {39, "f6E3M2FN_v1", {1, 8}, make<Float6E3M2FNType>},
    {40, "f8E8M0FNU_v1", {1, 8}, make<Float8E8M0FNUType>},
};

Version latest(Version a, Version b) { return std::max(a, b); }

Version latestOf(TypeRange types, Version version) {
  for (Type type : types)
    version = latest(version, introduced(type));
  return version;
}

} // namespace

ArrayRef<SimpleType> simpleTypes() { return types; }

const SimpleType *findSimpleType(uint64_t code) {
  const SimpleType *found = llvm::find_if(types, [&](auto &each) { return each.code == code; });
  return found == std::end(types) ? nullptr : found;
}

const SimpleType *findSimpleType(StringRef name) {
  const SimpleType *found = llvm::find_if(types, [&](auto &each) { return each.name == name; });
  return found == std::end(types) ? nullptr : found;
}

const SimpleType *findSimpleType(Type plain) {
  if (!isa<IntegerType, FloatType, IndexType, NoneType, stablehlo::TokenType>(plain))
    return nullptr;
  const SimpleType *found =
      llvm::find_if(types, [&](auto &each) { return each.make(plain.getContext()) == plain; });
  return found == std::end(types) ? nullptr : found;
}

const llvm::fltSemantics *floatSemantics(Type plain) {
  auto type = dyn_cast<FloatType>(plain);
  return type && findSimpleType(plain) ? &type.getFloatSemantics() : nullptr;
}

unsigned integerWidth(Type plain) {
  if (isa<IndexType>(plain))
    return IndexType::kInternalStorageBitWidth;
  return isa<IntegerType>(plain) && findSimpleType(plain) ? plain.getIntOrFloatBitWidth() : 0;
}

bool hasVersionedForm(Type plain) {
  auto all = [](TypeRange types) {
    return llvm::all_of(types, [](Type t) { return hasVersionedForm(t); });
  };
  return TypeSwitch<Type, bool>(plain)
      .Case([](ComplexType t) { return hasVersionedForm(t.getElementType()); })
      .Case([&](FunctionType t) { return all(t.getInputs()) && all(t.getResults()); })
      .Case([](RankedTensorType t) {
        return (!t.getEncoding() || isa<stablehlo::TypeExtensionsAttr>(t.getEncoding())) &&
               hasVersionedForm(t.getElementType());
      })
      .Case([](UnrankedTensorType t) { return hasVersionedForm(t.getElementType()); })
      .Case([](MemRefType t) {
        return t.getLayout().isIdentity() && !t.getMemorySpace() &&
               hasVersionedForm(t.getElementType());
      })
      .Case([&](TupleType t) { return all(t.getTypes()); })
      .Case([&](stablehlo::FutureType t) { return all(t.getTypes()); })
      .Case<quant::UniformQuantizedType, quant::UniformQuantizedPerAxisType>([](auto t) {
        return hasVersionedForm(t.getStorageType()) && hasVersionedForm(t.getExpressedType());
      })
      .Default([](Type t) { return findSimpleType(t) != nullptr; });
}

Version introduced(Type plain) {
  return TypeSwitch<Type, Version>(plain)
      .Case([](ComplexType t) { return introduced(t.getElementType()); })
      .Case(
          [](FunctionType t) { return latestOf(t.getInputs(), latestOf(t.getResults(), oldest)); })
      .Case<RankedTensorType, UnrankedTensorType>(
          [](auto t) { return introduced(t.getElementType()); })
      .Case([](MemRefType t) { return latest({1, 13}, introduced(t.getElementType())); })
      .Case([](TupleType t) { return latestOf(t.getTypes(), oldest); })
      .Case([](stablehlo::FutureType t) { return latestOf(t.getTypes(), {1, 15}); })
      .Case([](quant::UniformQuantizedType t) {
        return latest(introduced(t.getStorageType()), introduced(t.getExpressedType()));
      })
      .Case([](quant::UniformQuantizedPerAxisType t) {
        return latest({0, 18},
                      latest(introduced(t.getStorageType()), introduced(t.getExpressedType())));
      })
      .Default([](Type t) {
        const SimpleType *simple = findSimpleType(t);
        return simple ? simple->since : mixesDialects;
      });
}

Type versioned(Type plain) {
  if (isa<VersionedType>(plain) || !hasVersionedForm(plain))
    return plain;
  return VersionedType::get(plain.getContext(), plain);
}

Type plain(Type type) {
  auto wrapper = dyn_cast_or_null<VersionedType>(type);
  return wrapper ? wrapper.getPlain() : type;
}

} // namespace tessera::vhlo
