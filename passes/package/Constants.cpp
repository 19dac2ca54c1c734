#include "passes/package/Constants.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/DialectResourceBlobManager.h"

#include <cstring>

using namespace mlir;

namespace tessera {

// A dense row-major array of whole bytes an element.
static LogicalResult writeElements(exec::ConstantOp op, ElementsAttr value, char *to,
                                   int64_t bytes) {
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(value)) {
    AsmResourceBlob *blob = resource.getRawHandle().getBlob();
    if (!blob || static_cast<int64_t>(blob->getData().size()) != bytes)
      return op.emitOpError("has its contents in a resource that the module does not hold");
    std::memcpy(to, blob->getData().data(), bytes);
    return success();
  }
  auto dense = dyn_cast<DenseElementsAttr>(value);
  if (!dense)
    return op.emitOpError("has contents of a kind that cannot be written: ") << value.getType();
  Type element = dense.getElementType();
  bool narrow = element.isInteger() && element.getIntOrFloatBitWidth() < 8;
  if (narrow) { // a byte each in memory, with the sign extended
    bool isSigned = !element.isInteger(1) && !element.isUnsignedInteger();
    for (auto [i, number] : llvm::enumerate(dense.getValues<APInt>()))
      to[i] = static_cast<char>(isSigned ? number.getSExtValue() : number.getZExtValue());
    return success();
  }
  ArrayRef<char> raw = dense.getRawData();
  if (raw.empty())
    return success();
  if (!dense.isSplat()) {
    std::memcpy(to, raw.data(), bytes);
    return success();
  }
  for (int64_t at = 0; at < bytes; at += raw.size())
    std::memcpy(to + at, raw.data(), raw.size());
  return success();
}

FailureOr<std::string> constantSection(exec::ProgramOp program) {
  std::string section(program.getConstantBytes(), '\0');
  for (auto op : program.getBlock()->getOps<exec::ConstantOp>()) {
    int64_t offset = op.getOffset(),
            bytes = byteSize(cast<RankedTensorType>(op.getValue().getType()));
    if (offset < 0 || offset + bytes > static_cast<int64_t>(section.size()))
      return op.emitOpError("lies outside of the ") << section.size() << " bytes of constants";
    if (failed(
            writeElements(op, cast<ElementsAttr>(op.getValue()), section.data() + offset, bytes)))
      return failure();
  }
  return section;
}

} // namespace tessera
