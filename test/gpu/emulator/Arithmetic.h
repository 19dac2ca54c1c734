// What instructions compute from the bits of their operands, as PTX defines it.
#pragma once

#include "test/gpu/emulator/Ptx.h"

#include <cstdint>

namespace tessera::emulator {

// The bits of the result, those beyond the type's are zero. False: not known for these types.
bool compute(const Instruction &instruction, uint64_t a, uint64_t b, uint64_t c, uint64_t &result);
bool compare(const Instruction &instruction, uint64_t a, uint64_t b, bool &result);
// Sign or zeros fill a register that is wider than the type.
bool convert(const Instruction &instruction, uint64_t a, uint64_t &result);
// A sum or difference that takes or gives a carry; that of a difference is 1 where it borrows. False: not
// known for this type.
bool computeWithCarry(const Instruction &instruction, uint64_t a, uint64_t b, bool &carry,
                      uint64_t &result);
uint64_t masked(uint64_t bits, Type type);
// The number that the lowest 16 bits are, of f16 or bf16.
double narrowFloat(Type type, uint64_t bits);

} // namespace tessera::emulator
