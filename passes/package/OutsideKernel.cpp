#include "passes/package/OutsideKernel.h"

#include "passes/package/ElementTypes.h"

#include "llvm/Support/Endian.h"
#include "llvm/Support/JSON.h"

using namespace mlir;

namespace tessera {

static int64_t valueOf(IntegerAttr number) {
  bool isUnsigned = number.getType().isInteger(1) || number.getType().isUnsignedInteger();
  return isUnsigned ? static_cast<int64_t>(number.getValue().getZExtValue())
                    : number.getValue().getSExtValue();
}

static std::optional<std::string> arrayBytes(DenseElementsAttr array) {
  size_t bits =
      array.getElementType().isIntOrFloat() ? array.getElementType().getIntOrFloatBitWidth() : 0;
  if (bits == 0 || bits % 8)
    return std::nullopt;
  std::string bytes(array.getRawData().data(), array.getRawData().size());
  if (!array.isSplat())
    return bytes;
  std::string all;
  for (int64_t i = 0; i < array.getNumElements(); ++i)
    all += bytes;
  return all;
}

// Numbers as 8 bytes, little-endian: an i64 (truth values 0 or 1) or an f64. Texts as they are. Of
// arrays one element after the other, each as it is. None for what is none of these.
static std::optional<std::string> attributeBytes(Attribute value) {
  std::string bytes(8, '\0');
  if (auto text = dyn_cast<StringAttr>(value))
    return text.getValue().str();
  if (auto array = dyn_cast<DenseArrayAttr>(value))
    return std::string(array.getRawData().data(), array.getRawData().size());
  if (auto array = dyn_cast<DenseElementsAttr>(value))
    return arrayBytes(array);
  if (auto number = dyn_cast<IntegerAttr>(value); number && number.getValue().getBitWidth() <= 64)
    llvm::support::endian::write64le(bytes.data(), valueOf(number));
  else if (auto number = dyn_cast<FloatAttr>(value))
    llvm::support::endian::write64le(bytes.data(),
                                     llvm::bit_cast<uint64_t>(number.getValueAsDouble()));
  else
    return std::nullopt;
  return bytes;
}

LogicalResult writeOutside(exec::KernelOp from, program::Kernel &to) {
  if (!from.getOutside())
    return success();
  to.set_outside(from.getOutside()->str());
  SmallVector<Type> types(from.getInputTypes());
  llvm::append_range(types, from.getOutputTypes());
  for (auto [i, type] : llvm::enumerate(types)) {
    program::KernelOperand &operand = *to.mutable_operands(static_cast<int>(i));
    auto array = cast<RankedTensorType>(type);
    operand.set_type(elementTypeOf(array.getElementType()));
    for (int64_t size : array.getShape())
      operand.add_shape(size);
  }
  DictionaryAttr attributes = from.getOutsideAttributesAttr();
  for (NamedAttribute attribute : attributes ? attributes.getValue() : ArrayRef<NamedAttribute>()) {
    std::optional<std::string> bytes = attributeBytes(attribute.getValue());
    if (!bytes)
      return from.emitError("kernel @")
             << *from.getOutside() << ": its attribute " << attribute.getName() << " = "
             << attribute.getValue() << " is no text, number or array of numbers";
    program::Attribute &made = *to.add_attributes();
    made.set_name(llvm::json::fixUTF8(attribute.getName().getValue()));
    made.set_value(std::move(*bytes));
  }
  return success();
}

} // namespace tessera
