#include "runtime/array/ElementType.h"
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

namespace tessera::runtime {

using namespace program;

int64_t byteSize(ElementType type) {
  switch (type) {
  case I1:
  case I2:
  case I4:
  case I8:
  case U2:
  case U4:
  case U8:
  case F8E4M3FN:
  case F8E5M2:
  case F8E4M3B11FNUZ:
  case F8E4M3FNUZ:
  case F8E5M2FNUZ:
  case F8E4M3:
  case F8E3M4:
  case F8E8M0FNU:
  case F4E2M1FN:
  case F6E2M3FN:
  case F6E3M2FN:
    return 1;
  case I16:
  case U16:
  case BF16:
  case F16:
    return 2;
  case I32:
  case U32:
  case F32:
    return 4;
  case I64:
  case U64:
  case F64:
  case C64:
    return 8;
  case C128:
    return 16;
  default:
    return 0;
  }
}

std::string_view nameOf(ElementType type) {
  static constexpr std::string_view names[] = {"invalid",
                                               "i1",
                                               "i2",
                                               "i4",
                                               "i8",
                                               "i16",
                                               "i32",
                                               "i64",
                                               "u2",
                                               "u4",
                                               "u8",
                                               "u16",
                                               "u32",
                                               "u64",
                                               "bf16",
                                               "f16",
                                               "f32",
                                               "f64",
                                               "c64",
                                               "c128",
                                               "f8E4M3FN",
                                               "f8E5M2",
                                               "f8E4M3B11FNUZ",
                                               "f8E4M3FNUZ",
                                               "f8E5M2FNUZ",
                                               "f8E4M3",
                                               "f8E3M4",
                                               "f8E8M0FNU",
                                               "f4E2M1FN",
                                               "f6E2M3FN",
                                               "f6E3M2FN"};
  return type >= 0 && type < static_cast<int>(std::size(names)) ? names[type] : "unknown";
}

bool isSmallFloat(ElementType type) {
  return type == BF16 || type == F16 || (type >= F8E4M3FN && type <= F6E3M2FN);
}

namespace {

// How a float of at most 16 bits is laid out: sign, exponent, mantissa.
struct Format {
  int exponentBits, mantissaBits, bias;
  enum { Ieee, NoInfinity, NoInfinityNoMinusZero, Finite } special;
};

Format formatOf(ElementType type) {
  switch (type) {
  case BF16:
    return {8, 7, 127, Format::Ieee};
  case F16:
    return {5, 10, 15, Format::Ieee};
  case F8E4M3FN:
    return {4, 3, 7, Format::NoInfinity};
  case F8E5M2:
    return {5, 2, 15, Format::Ieee};
  case F8E4M3B11FNUZ:
    return {4, 3, 11, Format::NoInfinityNoMinusZero};
  case F8E4M3FNUZ:
    return {4, 3, 8, Format::NoInfinityNoMinusZero};
  case F8E5M2FNUZ:
    return {5, 2, 16, Format::NoInfinityNoMinusZero};
  case F8E4M3:
    return {4, 3, 7, Format::Ieee};
  case F4E2M1FN:
    return {2, 1, 1, Format::Finite};
  case F6E2M3FN:
    return {2, 3, 1, Format::Finite};
  case F6E3M2FN:
    return {3, 2, 3, Format::Finite};
  default:
    return {3, 4, 3, Format::Ieee}; // F8E3M4
  }
}

float decode(const Format &f, uint32_t bits) {
  int total = f.exponentBits + f.mantissaBits;
  uint32_t sign = bits >> total & 1, magnitude = bits & ((1u << total) - 1);
  uint32_t exponent = magnitude >> f.mantissaBits,
           mantissa = magnitude & ((1u << f.mantissaBits) - 1);
  uint32_t top = (1u << f.exponentBits) - 1;
  if (f.special == Format::Ieee && exponent == top)
    return mantissa ? NAN : (sign ? -INFINITY : INFINITY);
  if (f.special == Format::NoInfinity && magnitude == (1u << total) - 1)
    return NAN;
  if (f.special == Format::NoInfinityNoMinusZero && sign && !magnitude)
    return NAN;
  float value = exponent ? std::ldexp(static_cast<float>(mantissa | (1u << f.mantissaBits)),
                                      static_cast<int>(exponent) - f.bias - f.mantissaBits)
                         : std::ldexp(static_cast<float>(mantissa), 1 - f.bias - f.mantissaBits);
  return sign ? -value : value;
}

uint32_t encode(const Format &f, float value) {
  int total = f.exponentBits + f.mantissaBits;
  uint32_t sign = std::signbit(value) ? 1u << total : 0;
  uint32_t all = (1u << total) - 1, top = ((1u << f.exponentBits) - 1) << f.mantissaBits;
  uint32_t nan = f.special == Format::Ieee         ? sign | top | (1u << (f.mantissaBits - 1))
                 : f.special == Format::NoInfinity ? sign | all
                                                   : 1u << total;
  uint32_t overflow = f.special == Format::Ieee     ? sign | top
                      : f.special == Format::Finite ? sign | all
                                                    : nan;
  uint32_t largest = f.special == Format::Ieee         ? top - 1
                     : f.special == Format::NoInfinity ? all - 1
                                                       : all;
  if (std::isnan(value))
    return nan;
  if (std::isinf(value))
    return overflow;
  int exponent;
  float magnitude = std::fabs(value);
  if (magnitude == 0)
    return f.special == Format::NoInfinityNoMinusZero ? 0 : sign;
  std::frexp(magnitude, &exponent); // magnitude = [0.5, 1) * 2^exponent
  int unit = std::max(exponent - 1, 1 - f.bias) - f.mantissaBits; // weight of the last mantissa bit
  // Exact in double; nearbyint rounds to nearest even.
  auto steps =
      static_cast<uint32_t>(std::nearbyint(std::ldexp(static_cast<double>(magnitude), -unit)));
  int biased = unit + f.mantissaBits + f.bias; // of the binade that `unit` belongs to
  uint64_t bits = steps < (1u << f.mantissaBits)
                      ? steps
                      : (static_cast<uint64_t>(biased - 1) << f.mantissaBits) +
                            steps; // carries into the exponent
  if (bits > largest)
    return overflow;
  if (bits == 0 && f.special == Format::NoInfinityNoMinusZero)
    return 0;
  return sign | static_cast<uint32_t>(bits);
}

} // namespace

double decodeE8M0(uint8_t bits) { return bits == 255 ? NAN : std::ldexp(1.0, bits - 127); }

uint8_t encodeE8M0(double value) {
  if (!(value > 0) || std::isinf(value))
    return 255;
  int exponent;
  double fraction = std::frexp(value, &exponent); // [0.5, 1)
  int code = exponent - 1 + 127;
  if (fraction >= 0.75)
    ++code;
  return static_cast<uint8_t>(code < 0 ? 0 : code > 254 ? 255 : code);
}

void toFloat32(ElementType type, const void *from, float *to, int64_t count) {
  if (type == BF16) {
    auto *bits = static_cast<const uint16_t *>(from);
    for (int64_t i = 0; i < count; ++i)
      to[i] = bf16ToFloat(bits[i]);
    return;
  }
  Format format = formatOf(type);
  if (type == F16) {
    auto *bits = static_cast<const uint16_t *>(from);
    for (int64_t i = 0; i < count; ++i)
      to[i] = decode(format, bits[i]);
    return;
  }
  std::array<float, 256> table;
  for (int i = 0; i < 256; ++i)
    table[i] = type == F8E8M0FNU ? static_cast<float>(decodeE8M0(static_cast<uint8_t>(i)))
                                 : decode(format, i);
  auto *bits = static_cast<const uint8_t *>(from);
  for (int64_t i = 0; i < count; ++i)
    to[i] = table[bits[i]];
}

void fromFloat32(ElementType type, const float *from, void *to, int64_t count) {
  if (type == BF16) {
    auto *bits = static_cast<uint16_t *>(to);
    for (int64_t i = 0; i < count; ++i)
      bits[i] = floatToBf16(from[i]);
    return;
  }
  Format format = formatOf(type);
  if (type == F16) {
    auto *bits = static_cast<uint16_t *>(to);
    for (int64_t i = 0; i < count; ++i)
      bits[i] = static_cast<uint16_t>(encode(format, from[i]));
    return;
  }
  auto *bits = static_cast<uint8_t *>(to);
  for (int64_t i = 0; i < count; ++i)
    bits[i] =
        type == F8E8M0FNU ? encodeE8M0(from[i]) : static_cast<uint8_t>(encode(format, from[i]));
}

} // namespace tessera::runtime
