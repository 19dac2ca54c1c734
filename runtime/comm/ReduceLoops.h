// The loops of Reduce.h, compiled once for each instruction set: TESSERA_REDUCE_ISA names the
// namespace. No standard headers with inline functions here: the linker might keep the copy that
// another CPU cannot run.

namespace tessera::runtime::TESSERA_REDUCE_ISA {

using uint8 = unsigned char;
using uint16 = unsigned short;
using uint32 = unsigned int;
using int64 = long;

enum class Op { Sum, Product, Max, Min, And, Or };

// Of two NaNs the first stays: which one an addition keeps is up to how it was compiled.
template <Op op, class V> inline V apply(V a, V b) {
  if constexpr (op == Op::Sum)
    return (a != a) ? a : a + b;
  else if constexpr (op == Op::Product)
    return (a != a) ? a : a * b;
  else if constexpr (op == Op::Max)
    return ((a > b) | (a != a)) ? a : b;
  else if constexpr (op == Op::Min)
    return ((a < b) | (a != a)) ? a : b;
  else if constexpr (op == Op::And)
    return a & b;
  else
    return a | b;
}

// Elements that are reduced as they are stored.
template <class T> struct Plain {
  using Element = T;
  static constexpr int lanes = 64 / sizeof(T);
  typedef T Accumulator __attribute__((vector_size(64)));
  static Accumulator load(const char *p) {
    Accumulator v;
    __builtin_memcpy(&v, p, sizeof v);
    return v;
  }
  static void store(char *p, Accumulator v) { __builtin_memcpy(p, &v, sizeof v); }
};

// bf16, accumulated in float32.
struct Bf16 {
  using Element = uint16;
  static constexpr int lanes = 16;
  typedef float Accumulator __attribute__((vector_size(64)));
  typedef uint32 Bits __attribute__((vector_size(64)));
  typedef uint16 Half __attribute__((vector_size(32)));
  static Accumulator load(const char *p) {
    Half half;
    __builtin_memcpy(&half, p, sizeof half);
    return (Accumulator)(__builtin_convertvector(half, Bits) << 16);
  }
  static void store(char *p, Accumulator v) {
    Bits bits = (Bits)v;
    Bits rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16, quiet = (bits >> 16) | 0x40;
    Bits result = (v != v) ? quiet : rounded;
    Half half = __builtin_convertvector(result, Half);
    __builtin_memcpy(p, &half, sizeof half);
  }
};

template <Op op, class Format>
void reduce(const char *const *sources, uint32 sourceCount, char *const *targets,
            uint32 targetCount, int64 count) {
  using V = typename Format::Accumulator;
  constexpr int lanes = Format::lanes;
  constexpr int64 size = sizeof(typename Format::Element), step = lanes * size,
                  bytesAtOnce = 4 * step;
  int64 bytes = count * size, at = 0;
  for (; at + bytesAtOnce <= bytes; at += bytesAtOnce) {
    V a0 = Format::load(sources[0] + at), a1 = Format::load(sources[0] + at + step),
      a2 = Format::load(sources[0] + at + 2 * step), a3 = Format::load(sources[0] + at + 3 * step);
    for (uint32 q = 1; q < sourceCount; ++q) {
      const char *source = sources[q] + at;
      a0 = apply<op>(a0, Format::load(source));
      a1 = apply<op>(a1, Format::load(source + step));
      a2 = apply<op>(a2, Format::load(source + 2 * step));
      a3 = apply<op>(a3, Format::load(source + 3 * step));
    }
    for (uint32 t = 0; t < targetCount; ++t) {
      char *target = targets[t] + at;
      Format::store(target, a0);
      Format::store(target + step, a1);
      Format::store(target + 2 * step, a2);
      Format::store(target + 3 * step, a3);
    }
  }
  for (; at + step <= bytes; at += step) {
    V a = Format::load(sources[0] + at);
    for (uint32 q = 1; q < sourceCount; ++q)
      a = apply<op>(a, Format::load(sources[q] + at));
    for (uint32 t = 0; t < targetCount; ++t)
      Format::store(targets[t] + at, a);
  }
  if (at < bytes) { // less than a vector: through a copy
    int64 rest = bytes - at;
    char part[64] = {};
    __builtin_memcpy(part, sources[0] + at, rest);
    V a = Format::load(part);
    for (uint32 q = 1; q < sourceCount; ++q) {
      __builtin_memcpy(part, sources[q] + at, rest);
      a = apply<op>(a, Format::load(part));
    }
    Format::store(part, a);
    for (uint32 t = 0; t < targetCount; ++t)
      __builtin_memcpy(targets[t] + at, part, rest);
  }
}

using Function = void (*)(const char *const *, uint32, char *const *, uint32, int64);

template <class Format> Function pickArithmetic(int op) {
  switch (op) {
  case 0:
    return reduce<Op::Sum, Format>;
  case 1:
    return reduce<Op::Product, Format>;
  case 2:
    return reduce<Op::Max, Format>;
  default:
    return reduce<Op::Min, Format>;
  }
}

template <class T> Function pickUnsigned(int op) {
  return op == 4   ? reduce<Op::And, Plain<T>>
         : op == 5 ? reduce<Op::Or, Plain<T>>
                   : pickArithmetic<Plain<T>>(op);
}

// Sums and products wrap, which only unsigned numbers do by C++'s rules; the bits are the same.
template <class Signed, class Unsigned> Function pickSigned(int op) {
  return op == 2   ? reduce<Op::Max, Plain<Signed>>
         : op == 3 ? reduce<Op::Min, Plain<Signed>>
                   : pickUnsigned<Unsigned>(op);
}

// `kind`: 'f' float, 'i' signed, 'u' unsigned, 'h' bf16; `op` as in Collective::Reduction.
Function pick(char kind, int size, int op) {
  switch (kind) {
  case 'f':
    return size == 4 ? pickArithmetic<Plain<float>>(op) : pickArithmetic<Plain<double>>(op);
  case 'h':
    return pickArithmetic<Bf16>(op);
  case 'i':
    return size == 1   ? pickSigned<signed char, uint8>(op)
           : size == 2 ? pickSigned<short, uint16>(op)
           : size == 4 ? pickSigned<int, uint32>(op)
                       : pickSigned<long, unsigned long>(op);
  default:
    return size == 1   ? pickUnsigned<uint8>(op)
           : size == 2 ? pickUnsigned<uint16>(op)
           : size == 4 ? pickUnsigned<uint32>(op)
                       : pickUnsigned<unsigned long>(op);
  }
}

} // namespace tessera::runtime::TESSERA_REDUCE_ISA
