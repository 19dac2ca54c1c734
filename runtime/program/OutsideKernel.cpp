#include "runtime/program/OutsideKernel.h"
#include "runtime/array/ElementType.h"
#include "runtime/library/Outside.h"

namespace tessera::runtime {

Status checkOutside(const program::Kernel &kernel) {
  if (!kernel.library().empty())
    return invalidProgram("kernel '" + kernel.symbol() +
                          "' is the runtime's and from outside at once");
  bool outputs = false;
  for (const auto &operand : kernel.operands()) {
    if (outputs && !operand.written())
      return invalidProgram("kernel '" + kernel.symbol() + "' has an input behind its outputs");
    outputs |= operand.written();
    auto bytes = static_cast<double>(byteSize(operand.type()));
    bool isSound = bytes > 0;
    for (int64_t size : operand.shape()) {
      isSound &= size >= 0;
      bytes *= static_cast<double>(size);
    }
    if (!isSound || bytes != static_cast<double>(operand.bytes()))
      return invalidProgram("kernel '" + kernel.symbol() +
                            "' has an array whose type and shape are not those of its size");
  }
  return {};
}

Result<LibraryKernel> findOutside(const program::Kernel &kernel, uint32_t grid,
                                  const std::string &where) {
  OutsideCall call;
  call.name = kernel.outside();
  call.grid = grid;
  call.scratchBytes = kernel.scratch_bytes();
  for (const auto &operand : kernel.operands())
    (operand.written() ? call.outputs : call.inputs)
        .push_back({std::string(nameOf(operand.type())),
                    {operand.shape().begin(), operand.shape().end()},
                    operand.bytes()});
  for (const auto &attribute : kernel.attributes())
    call.attributes.emplace_back(attribute.name(), attribute.value());
  return findOutsideKernel(std::move(call), where);
}

} // namespace tessera::runtime
