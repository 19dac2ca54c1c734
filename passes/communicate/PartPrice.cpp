#include "passes/communicate/PartPrice.h"

#include "dialects/interfaces/ArrayBytes.h"
#include "passes/communicate/ProductWork.h"

using namespace mlir;

namespace tessera::communicate {

void priceParts(cost::RingProduct &ring, const DeviceSeconds &device, const LiveBytes &live,
                const RowsOf &rows, double parts, double lanes) {
  for (stablehlo::DotGeneralOp dot : rows.products()) {
    cost::KernelWork whole = workOfProduct(dot);
    auto isCut = [&](Value operand) {
      return llvm::any_of(rows.sources(), [&](auto source) { return source.first == operand; });
    };
    unsigned cut = isCut(dot.getRhs()) && !isCut(dot.getLhs());
    cost::KernelWork part = partOf(whole, OperandDim::Free, cut, parts);
    for (auto [i, operand] : llvm::enumerate(dot->getOperands()))
      if (isCut(operand))
        part.arrays[i].bytes /= parts;
    part.arrays[2].bytes /= parts;
    ring.product += device.kernel(whole);
    ring.room = std::min(ring.room, live.room(dot));
    ring.wholeBytes += whole.bytes();
    ring.part += lanes * device.kernel(part);
  }
}

} // namespace tessera::communicate
