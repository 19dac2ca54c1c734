#include "runtime/device/cuda/Command.h"
#include "runtime/device/cuda/MoveKernels.h"

namespace tessera::runtime::device::cuda {

bool Lane::isSame(const Lane &other) const {
  return commands == other.commands && operands == other.operands;
}

uint64_t Lane::hash() const {
  uint64_t hash = 0x9e3779b97f4a7c15;
  auto mix = [&](uint64_t number) {
    hash = (hash ^ number) * 0xff51afd7ed558ccd;
    hash ^= hash >> 32;
  };
  for (const Command &command : commands) {
    mix(uint64_t{command.kind} << 32 | command.tag);
    mix(command.from);
    mix(command.to);
    mix(command.bytes);
  }
  for (Pointer operand : operands)
    mix(operand);
  return hash;
}

namespace {

// As the driver has it.
struct alignas(64) EncodedMap {
  uint8_t bytes[128];
};

ResultCode encode(const Driver &driver, const OperandMap &map, Pointer operand, EncodedMap &made) {
  constexpr int kF16 = 6, kBf16 = 9, kNoInterleave = 0, kSwizzle128 = 3, kPromotion256 = 3,
                kZeros = 0;
  const std::vector<uint32_t> steps(map.sizes.size(), 1);
  return driver.cuTensorMapEncodeTiled(
      &made, map.type == program::BF16 ? kBf16 : kF16, static_cast<unsigned>(map.sizes.size()),
      operand + map.offset, map.sizes.data(), map.strides.data(), map.box.data(), steps.data(),
      kNoInterleave, kSwizzle128, kPromotion256, kZeros);
}

ResultCode launch(const Driver &driver, const Command &command, const Pointer *operands,
                  Stream stream) {
  const KernelLaunch &launch = *command.launch;
  std::vector<EncodedMap> maps(launch.maps.size());
  std::vector<void *> parameters(command.operands + maps.size());
  for (uint32_t i = 0; i < command.operands; ++i)
    parameters[i] = const_cast<Pointer *>(operands + i);
  for (size_t i = 0; i < maps.size(); ++i) {
    parameters[command.operands + i] = &maps[i];
    const OperandMap &map = launch.maps[i];
    if (ResultCode code = encode(driver, map, operands[map.operand], maps[i]); code != kSuccess)
      return code;
  }
  return driver.cuLaunchKernel(command.function, launch.grid, 1, 1, launch.threads, 1, 1,
                               launch.sharedBytes, stream, parameters.data(), nullptr);
}

} // namespace

ResultCode give(const Driver &driver, const Command &command, const std::vector<Pointer> &operands,
                Stream stream) {
  switch (command.kind) {
  case Command::Copy:
    return driver.cuMemcpyAsync(command.to, command.from, command.bytes, stream);
  case Command::Write:
    return driver.cuMemsetD32Async(command.to, static_cast<unsigned>(command.bytes), 1, stream);
  case Command::Multiply:
    return ofProductLibrary(
        command.product->give(operands.data() + command.firstOperand, command.to, stream));
  case Command::Zeros:
    return driver.cuMemsetD8Async(command.to, 0, command.bytes, stream);
  case Command::Move: {
    Pointer table = command.to;
    void *parameters[] = {&table};
    return driver.cuLaunchKernel(command.function, static_cast<unsigned>(command.bytes), 1, 1,
                                 kMoveThreads, 1, 1, 0, stream, parameters, nullptr);
  }
  case Command::Record:
    return driver.cuEventRecord(command.event->handle, stream);
  case Command::Await:
    return driver.cuStreamWaitEvent(stream, command.event->handle, 0);
  case Command::Launch:
    return launch(driver, command, operands.data() + command.firstOperand, stream);
  }
  return kSuccess;
}

} // namespace tessera::runtime::device::cuda
