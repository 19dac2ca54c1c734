#include "runtime/client/ShortSteps.h"
#include "runtime/array/Placement.h"

namespace tessera::runtime {

namespace {

constexpr int64_t kMostInstructions = 2048;
constexpr int64_t kMostBytes = 128 << 10;

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
  int64_t instructions = 0, bytes = 0;
  for (const DeviceProgram &each : program.programs()) {
    if (hasLoops(each.decoded()))
      return false;
    double devices = static_cast<double>(each.mesh().size()); // no product that wraps around
    if (devices * static_cast<double>(each.decoded().code.size()) > kMostInstructions ||
        devices * static_cast<double>(arrayBytes(each.manifest())) > kMostBytes)
      return false;
    instructions += each.mesh().size() * static_cast<int64_t>(each.decoded().code.size());
    bytes += each.mesh().size() * arrayBytes(each.manifest());
  }
  return instructions <= kMostInstructions && bytes <= kMostBytes;
}

} // namespace tessera::runtime
