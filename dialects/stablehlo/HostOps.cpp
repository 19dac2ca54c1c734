#include "dialects/stablehlo/Constraints.h"
#include "dialects/stablehlo/StablehloAssembly.h"

using namespace mlir;
using namespace tessera::stablehlo;

#define GET_OP_CLASSES
#include "dialects/stablehlo/HostOps.cpp.inc"

namespace tessera::stablehlo {

void StablehloDialect::registerHostOps() {
  addOperations<
#define GET_OP_LIST
#include "dialects/stablehlo/HostOps.cpp.inc"
      >();
}

//===------------------------------- Constraints ------------------------------===//

LogicalResult InfeedOp::verify() {
  if (getNumResults() == 0)
    return violates(*this, 1) << "must return a token, after what it reads";
  TypeRange types = getResultTypes();
  for (Type type : types.drop_back()) {
    if (!isa<RankedTensorType>(type))
      return violates(*this, 2) << "must return tensors before the token, not " << type;
    if (failed(verifySized(*this, type)))
      return failure();
  }
  if (!isa<TokenType>(types.back()))
    return violates(*this, 3) << "must return a token last, not " << types.back();
  if (getLayout() && getLayout()->size() != getNumResults() - 1)
    return emitOpError() << "has " << getLayout()->size() << " layouts for " << getNumResults() - 1
                         << " tensors";
  return success();
}

// Kinds of channels: 1 between devices, 2 from a device to the host, 3 from the host to a device.
static LogicalResult verifyTransfer(Operation *op, bool host, ChannelHandleAttr channel,
                                    std::optional<DenseIntElementsAttr> pairs, int hostType) {
  if (pairs && failed(verifyPairs(op, *pairs)))
    return failure();
  int64_t expected = host ? hostType : 1;
  if (channel.getType() != expected)
    return violates(op, 5) << "the channel has type " << channel.getType() << ", expected "
                           << expected << (host ? " for" : " without") << " is_host_transfer";
  return success();
}

LogicalResult SendOp::verify() {
  return verifyTransfer(*this, getIsHostTransfer(), getChannelHandle(), getSourceTargetPairs(), 2);
}

LogicalResult RecvOp::verify() {
  TypeRange types = getResultTypes();
  if (types.empty() || !isa<TokenType>(types.back()) ||
      llvm::any_of(types.drop_back(), [](Type type) { return isa<TokenType>(type); }))
    return emitOpError("must return tensors and then a token");
  for (Type type : types.drop_back())
    if (failed(verifySized(*this, type)))
      return failure();
  return verifyTransfer(*this, getIsHostTransfer(), getChannelHandle(), getSourceTargetPairs(), 3);
}

} // namespace tessera::stablehlo
