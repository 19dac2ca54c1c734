// How versioned types stand in an artifact: a code, then their fields.
#include "dialects/stablehlo/StablehloOps.h"
#include "dialects/vhlo/Types.h"
#include "mlir/Bytecode/BytecodeImplementation.h"
#include "mlir/Dialect/Quant/IR/QuantTypes.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace tessera::vhlo {

using Reader = DialectBytecodeReader;
using Writer = DialectBytecodeWriter;

LogicalResult readPlain(Reader &reader, Type &type) {
  if (failed(reader.readType(type)))
    return failure();
  type = plain(type);
  return success();
}

namespace {

LogicalResult readTypes(Reader &reader, SmallVectorImpl<Type> &types) {
  if (failed(reader.readTypes(types)))
    return failure();
  for (Type &type : types)
    type = plain(type);
  return success();
}

void write(Writer &writer, TypeRange types) {
  writer.writeVarInt(types.size());
  for (Type type : types)
    writer.writeType(versioned(type));
}

Type readShaped(Reader &reader, TypeForm form) {
  Attribute encoding;
  SmallVector<int64_t> shape;
  Type element;
  if (form == TypeForm::TensorWithEncoding && failed(reader.readAttribute(encoding)))
    return {};
  if (failed(reader.readSignedVarInts(shape)) || failed(readPlain(reader, element)))
    return {};
  auto error = [&] { return reader.emitError("a tensor's type: "); };
  if (form == TypeForm::Buffer)
    return MemRefType::getChecked(error, shape, element);
  return RankedTensorType::getChecked(error, shape, element, plain(encoding));
}

Type readQuantized(Reader &reader, bool perAxis) {
  uint64_t flags, axis = 0;
  Type storage, expressed;
  SmallVector<double> scales;
  SmallVector<int64_t> zeroPoints;
  int64_t min, max;
  auto scale = [&]() -> LogicalResult {
    FailureOr<APFloat> value = reader.readAPFloatWithKnownSemantics(APFloat::IEEEdouble());
    if (failed(value))
      return failure();
    scales.push_back(value->convertToDouble());
    return success();
  };
  if (failed(reader.readVarInt(flags)) || failed(readPlain(reader, storage)) ||
      failed(readPlain(reader, expressed)))
    return {};
  if (!perAxis) {
    if (failed(scale()) || failed(reader.readSignedVarInt(zeroPoints.emplace_back())) ||
        failed(reader.readSignedVarInt(min)) || failed(reader.readSignedVarInt(max)))
      return {};
  } else {
    uint64_t count;
    if (failed(reader.readVarInt(axis)) || failed(reader.readSignedVarInt(min)) ||
        failed(reader.readSignedVarInt(max)) || failed(reader.readVarInt(count)))
      return {};
    for (uint64_t i = 0; i < count; ++i)
      if (failed(scale()))
        return {};
    if (failed(reader.readSignedVarInts(zeroPoints)))
      return {};
  }
  auto error = [&] { return reader.emitError("a quantized type: "); };
  if (!isa<IntegerType>(storage) || !isa<FloatType>(expressed) || flags > 1 ||
      axis > uint64_t(INT32_MAX))
    return error() << "storage, expressed type or flags", Type();
  if (perAxis)
    return quant::UniformQuantizedPerAxisType::getChecked(error, flags, storage, expressed, scales,
                                                          zeroPoints, axis, min, max);
  return quant::UniformQuantizedType::getChecked(error, flags, storage, expressed, scales[0],
                                                 zeroPoints[0], min, max);
}

} // namespace

Type readPlainType(Reader &reader) {
  uint64_t code;
  if (failed(reader.readVarInt(code)))
    return {};
  MLIRContext *context = reader.getContext();
  if (const SimpleType *simple = findSimpleType(code))
    return simple->make(context);
  SmallVector<Type> types, results;
  Type element;
  auto error = [&] { return reader.emitError("a type: "); };
  switch (TypeForm(code)) {
  case TypeForm::Complex:
    return failed(readPlain(reader, element)) ? Type() : ComplexType::getChecked(error, element);
  case TypeForm::Function:
    if (failed(readTypes(reader, types)) || failed(readTypes(reader, results)))
      return {};
    return FunctionType::get(context, types, results);
  case TypeForm::Tensor:
  case TypeForm::TensorWithEncoding:
  case TypeForm::Buffer:
    return readShaped(reader, TypeForm(code));
  case TypeForm::UnrankedTensor:
    return failed(readPlain(reader, element)) ? Type()
                                              : UnrankedTensorType::getChecked(error, element);
  case TypeForm::Tuple:
    return failed(readTypes(reader, types)) ? Type() : TupleType::get(context, types);
  case TypeForm::Future:
    return failed(readTypes(reader, types)) ? Type() : stablehlo::FutureType::get(context, types);
  case TypeForm::Quantized:
  case TypeForm::QuantizedPerAxis:
    return readQuantized(reader, TypeForm(code) == TypeForm::QuantizedPerAxis);
  }
  reader.emitError() << "no type of StableHLO " << current.str() << " or before has the code "
                     << code;
  return {};
}

void writePlainType(Writer &writer, Type plain) {
  auto code = [&](TypeForm form) { writer.writeVarInt(uint64_t(form)); };
  TypeSwitch<Type>(plain)
      .Case([&](ComplexType t) {
        code(TypeForm::Complex);
        writer.writeType(versioned(t.getElementType()));
      })
      .Case([&](FunctionType t) {
        code(TypeForm::Function);
        write(writer, t.getInputs());
        write(writer, t.getResults());
      })
      .Case([&](RankedTensorType t) {
        code(t.getEncoding() ? TypeForm::TensorWithEncoding : TypeForm::Tensor);
        if (t.getEncoding())
          writer.writeAttribute(versioned(t.getEncoding()));
        writer.writeSignedVarInts(t.getShape());
        writer.writeType(versioned(t.getElementType()));
      })
      .Case([&](UnrankedTensorType t) {
        code(TypeForm::UnrankedTensor);
        writer.writeType(versioned(t.getElementType()));
      })
      .Case([&](MemRefType t) {
        code(TypeForm::Buffer);
        writer.writeSignedVarInts(t.getShape());
        writer.writeType(versioned(t.getElementType()));
      })
      .Case([&](TupleType t) {
        code(TypeForm::Tuple);
        write(writer, t.getTypes());
      })
      .Case([&](stablehlo::FutureType t) {
        code(TypeForm::Future);
        write(writer, t.getTypes());
      })
      .Case([&](quant::UniformQuantizedType t) {
        code(TypeForm::Quantized);
        writer.writeVarInt(t.getFlags());
        writer.writeType(versioned(t.getStorageType()));
        writer.writeType(versioned(t.getExpressedType()));
        writer.writeAPFloatWithKnownSemantics(APFloat(t.getScale()));
        writer.writeSignedVarInt(t.getZeroPoint());
        writer.writeSignedVarInt(t.getStorageTypeMin());
        writer.writeSignedVarInt(t.getStorageTypeMax());
      })
      .Case([&](quant::UniformQuantizedPerAxisType t) {
        code(TypeForm::QuantizedPerAxis);
        writer.writeVarInt(t.getFlags());
        writer.writeType(versioned(t.getStorageType()));
        writer.writeType(versioned(t.getExpressedType()));
        writer.writeVarInt(t.getQuantizedDimension());
        writer.writeSignedVarInt(t.getStorageTypeMin());
        writer.writeSignedVarInt(t.getStorageTypeMax());
        writer.writeList(t.getScales(), [&](double scale) {
          writer.writeAPFloatWithKnownSemantics(APFloat(scale));
        });
        writer.writeSignedVarInts(t.getZeroPoints());
      })
      .Default([&](Type t) { writer.writeVarInt(findSimpleType(t)->code); });
}

} // namespace tessera::vhlo
