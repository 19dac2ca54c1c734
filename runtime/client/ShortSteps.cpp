#include "runtime/client/ShortSteps.h"
#include "lib/steps/ShortStep.h"
#include "runtime/array/Placement.h"

namespace tessera::runtime {

namespace {

bool hasLoops(const Decoded &decoded) {
  for (size_t i = 0; i < decoded.code.size(); ++i) {
    const Instruction &each = decoded.code[i];
    bool jumps = each.opcode == Opcode::Jump || each.opcode == Opcode::JumpIfFalse ||
                 each.opcode == Opcode::NextTrip;
    if (each.opcode == Opcode::EnterLoop || (jumps && each.b <= i))
      return true;
  }
  return false;
}

int64_t arrayBytes(const program::Program &manifest) {
  int64_t bytes = manifest.arena_bytes();
  for (const auto *list : {&manifest.inputs(), &manifest.outputs()})
    for (const auto &parameter : *list)
      bytes += localBytes(parameter);
  return bytes;
}

} // namespace

bool isShort(const LoadedProgram &program) {
  steps::Size size;
  size.devices = 0;
  for (const DeviceProgram &each : program.programs()) {
    auto devices = static_cast<double>(each.mesh().size()); // no product that wraps around
    size.devices += devices;
    size.hasLoops |= hasLoops(each.decoded());
    size.instructions += devices * static_cast<double>(each.decoded().code.size());
    size.bytes += devices * static_cast<double>(arrayBytes(each.manifest()));
  }
  return steps::isShort(size);
}

} // namespace tessera::runtime
