// Element types: sizes, names, and small floats to and from float32.
//
// In memory elements are dense and row-major; i1 is a byte 0 or 1, and what is narrower than a byte
// takes one: integers of 2 and 4 bits with their sign extended, floats with zeros above.
#pragma once

#include "include/tessera/program.pb.h"
#include <cstdint>
#include <string_view>

namespace tessera::runtime {

using program::ElementType;

int64_t byteSize(ElementType type);        // 0 for an unknown type
std::string_view nameOf(ElementType type); // "f32", "bf16", "u8", ..

// bf16, f16 and the floats of 8 bits and less: those that travel as float32.
bool isSmallFloat(ElementType type);

// Converts `count` elements of a small float type. To float32 exactly; from it with one rounding to
// nearest even; out of range becomes infinity, or NaN in the types that have no infinity, or the
// largest number in those that have neither (f4, f6).
void toFloat32(ElementType type, const void *from, float *to, int64_t count);
void fromFloat32(ElementType type, const float *from, void *to, int64_t count);

// f8E8M0FNU: whose least number, 2^-127, is normal in float64 only. Ties are rounded upwards; what is
// not positive, and infinity, becomes NaN, and what is out of range the nearest power of two.
double decodeE8M0(uint8_t bits);
uint8_t encodeE8M0(double value);

inline float bf16ToFloat(uint16_t bits) {
  return __builtin_bit_cast(float, static_cast<uint32_t>(bits) << 16);
}
inline uint16_t floatToBf16(float value) {
  uint32_t bits = __builtin_bit_cast(uint32_t, value);
  uint32_t rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
  return static_cast<uint16_t>((bits & 0x7fffffff) > 0x7f800000 ? (bits >> 16) | 0x40 : rounded);
}

} // namespace tessera::runtime
