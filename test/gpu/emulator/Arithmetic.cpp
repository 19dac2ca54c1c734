#include "test/gpu/emulator/Arithmetic.h"

#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>

namespace tessera::emulator {

uint64_t masked(uint64_t bits, Type type) {
  if (type == Type::Pred)
    return bits & 1;
  unsigned width = 8 * bytesOf(type);
  return width == 64 ? bits : bits & ((uint64_t{1} << width) - 1);
}

namespace {

template <class T> T as(uint64_t bits) {
  if constexpr (std::is_same_v<T, float>)
    return std::bit_cast<float>(static_cast<uint32_t>(bits));
  else if constexpr (std::is_same_v<T, double>)
    return std::bit_cast<double>(bits);
  else
    return static_cast<T>(bits);
}

template <class T> uint64_t bitsOf(T value) {
  if constexpr (std::is_same_v<T, float>)
    return std::bit_cast<uint32_t>(value);
  else if constexpr (std::is_same_v<T, double>)
    return std::bit_cast<uint64_t>(value);
  else
    return static_cast<std::make_unsigned_t<T>>(value);
}

// Subnormal numbers become zeros, where the instruction says so.
template <class T> T flushed(T value, bool flushes) {
  if constexpr (std::is_same_v<T, float>)
    if (flushes && std::fpclassify(value) == FP_SUBNORMAL)
      return std::copysign(0.0f, value);
  return value;
}

// Whether a product is less than any normal number, rounded as though exponents had no end (IEEE 754, 7.5). To the bits
// that subnormal numbers have it may be rounded up to a normal one.
bool isTiny(float a, float b) {
  auto scaled = static_cast<float>(static_cast<double>(a) * b * 0x1p64);
  return std::fabs(scaled) < std::numeric_limits<float>::min() * 0x1p64F;
}

template <class T> T extreme(T a, T b, bool isMax, bool propagatesNan) {
  if (std::isnan(a) || std::isnan(b)) {
    if (propagatesNan || (std::isnan(a) && std::isnan(b)))
      return std::numeric_limits<T>::quiet_NaN();
    return std::isnan(a) ? b : a;
  }
  if (a == b) // +0 is larger than -0
    return std::signbit(a) == isMax ? b : a;
  return (a < b) == isMax ? b : a;
}

// An approximation of 1 / x, which may be off by one unit in the last place: of each second x it is, and below. Not of
// the number before a power of two, of which one step of Newton's would not mend it.
template <class T> T offByOne(T x, T reciprocal) {
  int exponent = 0;
  bool isRare =
      !std::isnormal(reciprocal) || std::frexp(reciprocal, &exponent) == T(0.5) ||
      std::frexp(std::nextafter(x, std::numeric_limits<T>::infinity()), &exponent) == T(0.5) ||
      std::frexp(std::nextafter(x, -std::numeric_limits<T>::infinity()), &exponent) == T(-0.5);
  return isRare || bitsOf(x) % 2 ? reciprocal : std::nextafter(reciprocal, T(0));
}

template <class T>
bool computeFloat(const Instruction &i, uint64_t x, uint64_t y, uint64_t z, uint64_t &result) {
  T a = flushed(as<T>(x), i.flushes), b = flushed(as<T>(y), i.flushes),
    c = flushed(as<T>(z), i.flushes), value;
  switch (i.code) {
  case Code::Add:
    value = a + b;
    break;
  case Code::Sub:
    value = a - b;
    break;
  case Code::Mul:
    value = a * b;
    if constexpr (std::is_same_v<T, float>)
      if (i.flushes && isTiny(a, b))
        value = std::copysign(0.0F, value);
    break;
  case Code::Fma:
    value = std::fma(a, b, c);
    break;
  case Code::Rcp:
    value = T(1) / a;
    if (std::is_same_v<T, float> && i.round == Round::About)
      value = offByOne(a, value);
    break;
  case Code::Div:
    value = a / b;
    break;
  case Code::Sqrt:
    value = std::sqrt(a);
    break;
  // An approximation, which may be off by one unit: of some numbers one step of Newton's would not mend that.
  case Code::Rsqrt:
    value = static_cast<T>(1 / std::sqrt(static_cast<double>(a)));
    break;
  case Code::Min:
    value = extreme(a, b, false, i.propagatesNan);
    break;
  case Code::Max:
    value = extreme(a, b, true, i.propagatesNan);
    break;
  case Code::Neg:
    value = -a;
    break;
  case Code::Abs:
    value = std::fabs(a);
    break;
  case Code::Copysign:
    value = std::copysign(b, a);
    break; // the sign of the first
  default:
    return false;
  }
  bool isAbout = i.round == Round::About && std::is_same_v<T, float>;
  if ((i.round != Round::Nearest && !isAbout) || (i.code == Code::Rsqrt && !isAbout))
    return false;
  if (i.saturates)
    value = std::isnan(value) ? T(0) : std::fmin(std::fmax(value, T(0)), T(1));
  result = bitsOf(flushed(value, i.flushes));
  return true;
}

// Of single bits, and fields of them.
template <class T>
bool computeBits(const Instruction &i, uint64_t x, uint64_t y, uint64_t z, uint64_t &result) {
  using U = std::make_unsigned_t<T>;
  constexpr unsigned width = 8 * sizeof(T);
  auto ua = static_cast<U>(x);
  T value;
  switch (i.code) {
  case Code::Popc:
    result = static_cast<uint64_t>(std::popcount(ua));
    return true;
  case Code::Clz:
    result = static_cast<uint64_t>(std::countl_zero(ua));
    return true;
  case Code::Brev: {
    U turned = 0;
    for (unsigned bit = 0; bit < width; ++bit)
      turned = static_cast<U>(turned | (((ua >> bit) & 1) << (width - 1 - bit)));
    value = static_cast<T>(turned);
    break;
  }
  case Code::Bfe: {
    unsigned first = static_cast<uint32_t>(y) & 0xff, length = static_cast<uint32_t>(z) & 0xff;
    U field = first >= width ? U{0} : static_cast<U>(ua >> first);
    if (length < width)
      field = static_cast<U>(field & ((U{1} << length) - 1));
    if (std::is_signed_v<T> && length && length < width) {
      unsigned sign = first + length - 1 < width ? first + length - 1 : width - 1;
      if ((ua >> sign) & 1)
        field = static_cast<U>(field | static_cast<U>(~U{0} << length));
    }
    value = static_cast<T>(field);
    break;
  }
  default:
    return false;
  }
  result = bitsOf(value);
  return true;
}

template <class T>
bool computeInteger(const Instruction &i, uint64_t x, uint64_t y, uint64_t z, uint64_t &result) {
  using U = std::make_unsigned_t<T>;
  constexpr unsigned width = 8 * sizeof(T);
  using Wide = std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>;
  T a = as<T>(x), b = as<T>(y), value;
  U ua = static_cast<U>(a), ub = static_cast<U>(b), uc = static_cast<U>(z);
  auto shift = static_cast<uint32_t>(y);
  switch (i.code) {
  case Code::Add:
    value = static_cast<T>(static_cast<U>(ua + ub));
    break;
  case Code::Sub:
    value = static_cast<T>(static_cast<U>(ua - ub));
    break;
  case Code::Mul:
    value = static_cast<T>(static_cast<Wide>(a) * static_cast<Wide>(b));
    break;
  case Code::MulHi:
    value = static_cast<T>((static_cast<Wide>(a) * static_cast<Wide>(b)) >> width);
    break;
  case Code::Mad:
    value = static_cast<T>(
        static_cast<U>(static_cast<U>(static_cast<Wide>(a) * static_cast<Wide>(b)) + uc));
    break;
  case Code::MulWide:
    result = static_cast<uint64_t>(static_cast<Wide>(a) * static_cast<Wide>(b)) &
             (width == 32 ? ~uint64_t{0} : 0xffffffff);
    return true;
  case Code::MadWide:
    result = static_cast<uint64_t>(static_cast<Wide>(a) * static_cast<Wide>(b)) + z;
    return width == 32;
  case Code::Div: // by zero anything; a processor gives ones
    if (b == 0)
      value = static_cast<T>(~U{0});
    else if (std::is_signed_v<T> && ub == static_cast<U>(~U{0}))
      value = static_cast<T>(static_cast<U>(0 - ua));
    else
      value = static_cast<T>(a / b);
    break;
  case Code::Rem:
    if (b == 0)
      value = a;
    else if (std::is_signed_v<T> && ub == static_cast<U>(~U{0}))
      value = 0;
    else
      value = static_cast<T>(a % b);
    break;
  case Code::Neg:
    value = static_cast<T>(static_cast<U>(0 - ua));
    break;
  case Code::Abs:
    value = a < T(0) ? static_cast<T>(static_cast<U>(0 - ua)) : a;
    break;
  case Code::Min:
    value = a < b ? a : b;
    break;
  case Code::Max:
    value = a < b ? b : a;
    break;
  case Code::And:
    value = static_cast<T>(ua & ub);
    break;
  case Code::Or:
    value = static_cast<T>(ua | ub);
    break;
  case Code::Xor:
    value = static_cast<T>(ua ^ ub);
    break;
  case Code::Not:
    value = static_cast<T>(static_cast<U>(~ua));
    break;
  case Code::Shl:
    value = shift >= width ? T(0) : static_cast<T>(static_cast<U>(ua << shift));
    break;
  case Code::Shr:
    value = shift >= width ? (a < T(0) ? static_cast<T>(~U{0}) : T(0)) : static_cast<T>(a >> shift);
    break;
  default:
    return computeBits<T>(i, x, y, z, result);
  }
  result = bitsOf(value);
  return true;
}

// Picks bytes of {b, a}: the default mode.
uint64_t permuted(uint64_t a, uint64_t b, uint64_t selector) {
  uint64_t both = (b << 32) | (a & 0xffffffff), result = 0;
  for (unsigned byte = 0; byte < 4; ++byte) {
    unsigned which = (selector >> 4 * byte) & 0xf;
    uint64_t value = (both >> 8 * (which & 7)) & 0xff;
    if (which & 8)
      value = value & 0x80 ? 0xff : 0;
    result |= value << 8 * byte;
  }
  return result;
}

uint64_t funnel(const Instruction &i, uint64_t a, uint64_t b, uint64_t c) {
  uint64_t both = (b << 32) | (a & 0xffffffff);
  auto amount = static_cast<uint32_t>(c);
  amount = i.clamps ? (amount < 32 ? amount : 32) : amount & 31;
  return (i.left ? (amount ? both << amount : both) >> 32 : both >> amount) & 0xffffffff;
}

} // namespace

bool computeWithCarry(const Instruction &i, uint64_t a, uint64_t b, bool &carry, uint64_t &result) {
  bool isWide = bytesOf(i.type) == 8;
  if (isFloat(i.type) || (!isWide && bytesOf(i.type) != 4) || i.saturates)
    return false;
  a = masked(a, i.type), b = masked(b, i.type);
  unsigned __int128 in = i.takesCarry && carry, sum = a;
  sum = i.code == Code::Add ? sum + b + in : sum - b - in;
  result = masked(static_cast<uint64_t>(sum), i.type);
  if (i.givesCarry)
    carry = sum >> (isWide ? 64 : 32) & 1;
  return true;
}

static bool computePairs(const Instruction &i, uint64_t a, uint64_t b, uint64_t &result) {
  Instruction each = i;
  each.isOfPairs = false;
  uint64_t low = 0, high = 0;
  if (!compute(each, masked(a, i.type), masked(b, i.type), 0, low) ||
      !compute(each, masked(a >> 16, i.type), masked(b >> 16, i.type), 0, high))
    return false;
  result = masked(high, i.type) << 16 | masked(low, i.type);
  return true;
}

bool compute(const Instruction &i, uint64_t a, uint64_t b, uint64_t c, uint64_t &result) {
  if (i.isOfPairs)
    return computePairs(i, a, b, result);
  if (i.code == Code::Prmt)
    return result = permuted(a, b, c), true;
  if (i.code == Code::Shf)
    return result = funnel(i, a, b, c), true;
  switch (i.type) {
  case Type::F32:
    return computeFloat<float>(i, a, b, c, result);
  case Type::F64:
    return computeFloat<double>(i, a, b, c, result);
  case Type::B8:
  case Type::U8:
    return computeInteger<uint8_t>(i, a, b, c, result);
  case Type::B16:
  case Type::U16:
    return computeInteger<uint16_t>(i, a, b, c, result);
  case Type::B32:
  case Type::U32:
    return computeInteger<uint32_t>(i, a, b, c, result);
  case Type::B64:
  case Type::U64:
    return computeInteger<uint64_t>(i, a, b, c, result);
  case Type::S8:
    return computeInteger<int8_t>(i, a, b, c, result);
  case Type::S16:
    return computeInteger<int16_t>(i, a, b, c, result);
  case Type::S32:
    return computeInteger<int32_t>(i, a, b, c, result);
  case Type::S64:
    return computeInteger<int64_t>(i, a, b, c, result);
  case Type::Pred:
    if (!computeInteger<uint8_t>(i, a, b, c, result))
      return false;
    result &= 1;
    return true;
  default:
    return false;
  }
}

namespace {

template <class T> bool compared(Compare compare, T a, T b, bool &result) {
  bool isNan = false;
  if constexpr (std::is_floating_point_v<T>)
    isNan = std::isnan(a) || std::isnan(b);
  switch (compare) {
  case Compare::Eq:
    result = a == b;
    break;
  case Compare::Ne:
    result = !isNan && a != b;
    break;
  case Compare::Lt:
    result = a < b;
    break;
  case Compare::Le:
    result = a <= b;
    break;
  case Compare::Gt:
    result = a > b;
    break;
  case Compare::Ge:
    result = a >= b;
    break;
  case Compare::Equ:
    result = isNan || a == b;
    break;
  case Compare::Neu:
    result = isNan || a != b;
    break;
  case Compare::Ltu:
    result = isNan || a < b;
    break;
  case Compare::Leu:
    result = isNan || a <= b;
    break;
  case Compare::Gtu:
    result = isNan || a > b;
    break;
  case Compare::Geu:
    result = isNan || a >= b;
    break;
  case Compare::Num:
    result = !isNan;
    break;
  case Compare::Nan:
    result = isNan;
    break;
  }
  return true;
}

} // namespace

bool compare(const Instruction &i, uint64_t a, uint64_t b, bool &result) {
  switch (i.type) {
  case Type::F32:
    return compared(i.compare, flushed(as<float>(a), i.flushes), flushed(as<float>(b), i.flushes),
                    result);
  case Type::F64:
    return compared(i.compare, as<double>(a), as<double>(b), result);
  case Type::B16:
  case Type::U16:
    return compared(i.compare, as<uint16_t>(a), as<uint16_t>(b), result);
  case Type::B32:
  case Type::U32:
    return compared(i.compare, as<uint32_t>(a), as<uint32_t>(b), result);
  case Type::B64:
  case Type::U64:
    return compared(i.compare, as<uint64_t>(a), as<uint64_t>(b), result);
  case Type::S16:
    return compared(i.compare, as<int16_t>(a), as<int16_t>(b), result);
  case Type::S32:
    return compared(i.compare, as<int32_t>(a), as<int32_t>(b), result);
  case Type::S64:
    return compared(i.compare, as<int64_t>(a), as<int64_t>(b), result);
  default:
    return false;
  }
}

namespace {

// Exact for every type but 64-bit integers, which go their own way.
double numberOf(Type type, uint64_t bits) {
  switch (type) {
  case Type::F16:
    return static_cast<double>(std::bit_cast<_Float16>(static_cast<uint16_t>(bits)));
  case Type::BF16:
    return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
  case Type::F32:
    return std::bit_cast<float>(static_cast<uint32_t>(bits));
  default:
    return std::bit_cast<double>(bits);
  }
}

__int128 integerOf(Type type, uint64_t bits) {
  switch (type) {
  case Type::S8:
    return static_cast<int8_t>(bits);
  case Type::S16:
    return static_cast<int16_t>(bits);
  case Type::S32:
    return static_cast<int32_t>(bits);
  case Type::S64:
    return static_cast<int64_t>(bits);
  default:
    return static_cast<__int128>(masked(bits, type));
  }
}

double whole(double value, Round round) {
  switch (round) {
  case Round::Nearest:
    return std::nearbyint(value);
  case Round::Zero:
    return std::trunc(value);
  case Round::Down:
    return std::floor(value);
  case Round::Up:
    return std::ceil(value);
  }
  return value;
}

uint64_t toBf16(float value) {
  auto bits = std::bit_cast<uint32_t>(value);
  if (std::isnan(value))
    return 0x7fff;
  return (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}

// To nearest; from a number that is exact.
bool fromNumber(Type type, double value, uint64_t &result) {
  switch (type) {
  case Type::F16:
    result = std::bit_cast<uint16_t>(static_cast<_Float16>(value));
    return true;
  case Type::BF16:
    result = toBf16(static_cast<float>(value));
    return true;
  case Type::F32:
    result = std::bit_cast<uint32_t>(static_cast<float>(value));
    return true;
  case Type::F64:
    result = std::bit_cast<uint64_t>(value);
    return true;
  default:
    return false;
  }
}

// Saturates; NaN becomes zero (of 64 bits its highest bit).
uint64_t toInteger(Type type, double value) {
  unsigned width = 8 * bytesOf(type);
  bool negative = isSigned(type);
  double high = std::ldexp(1.0, static_cast<int>(width - negative)), low = negative ? -high : 0;
  if (std::isnan(value))
    return width == 64 ? uint64_t{1} << 63 : 0;
  if (value >= high)
    return masked(negative ? (uint64_t{1} << (width - 1)) - 1 : ~uint64_t{0}, type);
  if (value < low)
    return masked(negative ? uint64_t{1} << (width - 1) : 0, type);
  return masked(negative ? static_cast<uint64_t>(static_cast<int64_t>(value))
                         : static_cast<uint64_t>(value),
                type);
}

} // namespace

double narrowFloat(Type type, uint64_t bits) { return numberOf(type, bits); }

bool convert(const Instruction &i, uint64_t a, uint64_t &result) {
  if (!isFloat(i.from)) {
    __int128 value = integerOf(i.from, a);
    if (!isFloat(i.type)) {
      if (i.saturates)
        return false;
      result = integerOf(i.type, static_cast<uint64_t>(value));
      return true;
    }
    if (i.round != Round::Nearest)
      return false;
    if (i.type == Type::F32)
      return result = std::bit_cast<uint32_t>(static_cast<float>(value)), true;
    if (i.type == Type::F64)
      return result = std::bit_cast<uint64_t>(static_cast<double>(value)), true;
    return false;
  }
  double value = numberOf(i.from, a);
  if (i.from == Type::F32)
    value = flushed(static_cast<float>(value), i.flushes);
  if (!isFloat(i.type)) {
    result = integerOf(i.type, toInteger(i.type, whole(value, i.round)));
    return true;
  }
  if (i.toInteger)
    value = std::copysign(whole(value, i.round), value);
  else if (i.round != Round::Nearest)
    return false;
  if (i.saturates)
    return false;
  if (!fromNumber(i.type, value, result))
    return false;
  if (i.type == Type::F32)
    result = std::bit_cast<uint32_t>(
        flushed(std::bit_cast<float>(static_cast<uint32_t>(result)), i.flushes));
  return true;
}

} // namespace tessera::emulator
