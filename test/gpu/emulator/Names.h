// What the names in PTX say: an instruction with its modifiers ("cp.async.wait_group"), types, registers
// that are the processor's.
#pragma once

#include "test/gpu/emulator/Ptx.h"

#include <optional>
#include <stdexcept>

namespace tessera::emulator {

// Of a text: what is not understood.
struct NotKnown : std::runtime_error {
  using runtime_error::runtime_error;
};

std::optional<Type> typeNamed(std::string_view name);
std::optional<Special> specialNamed(std::string_view name);
// Code, types and modifiers of an instruction.
void readName(std::string_view name, Instruction &made);
// Whether it is about barriers that count, copies of tensors, or products of warpgroups.
bool isOfWarpgroups(Code code);

} // namespace tessera::emulator
