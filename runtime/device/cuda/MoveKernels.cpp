#include "runtime/device/cuda/MoveKernels.h"
#include "runtime/array/ElementType.h"
#include "runtime/device/cuda/SmallFloatTables.h"
#include "runtime/program/Blocks.h"

namespace tessera::runtime::device::cuda {

using program::Collective;

namespace {

// What a thread does with one element. The accumulator is %r0 (%rd0, or %r0 and %r1, or %rd0 and
// %rd1), the next operand %r2 (%rd2; %r2 and %r3; %rd2 and %rd3); %a is the address.
struct Element {
  std::string load, loadNext, apply, finish, store, globals;
  uint32_t bytes = 0;
};

std::string replaced(std::string text, const std::string &what, const std::string &by) {
  for (size_t at = 0; (at = text.find(what, at)) != text.npos; at += by.size())
    text.replace(at, what.size(), by);
  return text;
}

// `load` into %r0 and %rd0, the same into %r2 and %rd2.
Element loaded(const std::string &load, const std::string &store, uint32_t bytes) {
  std::string next = replaced(replaced(load, "%r1", "%r3"), "%r0", "%r2");
  next = replaced(replaced(next, "%rd1", "%rd3"), "%rd0", "%rd2");
  return {load, next, "", "", store, "", bytes};
}

Element copied(uint32_t bytes) {
  if (bytes == 16)
    return loaded("ld.global.v2.b64 {%rd0, %rd1}, [%a];", "st.global.v2.b64 [%a], {%rd0, %rd1};",
                  16);
  std::string bits = "b" + std::to_string(8 * bytes), to = bytes == 8 ? "%rd0" : "%r0";
  return loaded("ld.global." + bits + " " + to + ", [%a];",
                "st.global." + bits + " [%a], " + to + ";", bytes);
}

// Signed and unsigned integers; those below 32 bits are computed there.
Element integers(uint32_t bytes, bool isSigned, Collective::Reduction reduction) {
  std::string sign = isSigned ? "s" : "u", width = bytes == 8 ? "64" : "32",
              r = bytes == 8 ? "%rd" : "%r", bits = std::to_string(8 * bytes);
  Element element = loaded("ld.global." + sign + bits + " " + r + "0, [%a];",
                           "st.global." + std::string("b") + bits + " [%a], " + r + "0;", bytes);
  std::string operation;
  switch (reduction) {
  case Collective::SUM:
    operation = "add.s" + width;
    break;
  case Collective::PRODUCT:
    operation = "mul.lo.s" + width;
    break;
  case Collective::MAX:
    operation = "max." + sign + width;
    break;
  case Collective::MIN:
    operation = "min." + sign + width;
    break;
  case Collective::AND:
    operation = "and.b" + width;
    break;
  default:
    operation = "or.b" + width;
  }
  element.apply = operation + " " + r + "0, " + r + "0, " + r + "2;";
  return element;
}

// Integers of 2 and 4 bits, a byte each, wrap at their own width.
Element narrowIntegers(uint32_t bits, bool isSigned, Collective::Reduction reduction) {
  Element element = integers(1, isSigned, reduction);
  std::string unused = std::to_string(32 - bits);
  if (reduction == Collective::SUM || reduction == Collective::PRODUCT)
    element.finish = "shl.b32 %r0, %r0, " + unused + ";\n  shr." + (isSigned ? "s" : "u") +
                     "32 %r0, %r0, " + unused + ";";
  return element;
}

// Of two NaNs the first stays. Subnormal f32 are flushed, as everywhere.
std::string appliedFloats(bool isDouble, Collective::Reduction reduction) {
  std::string type = isDouble ? ".f64" : ".f32", flush = isDouble ? "" : ".ftz",
              bits = isDouble ? ".b64" : ".b32", a = isDouble ? "%rd0" : "%r0",
              b = isDouble ? "%rd2" : "%r2", t = isDouble ? "%rd4" : "%r4";
  std::string isNan = "setp.nan" + type + " %p1, " + a + ", " + a + ";\n  ";
  std::string operands = a + ", " + b + ";\n  ";
  if (reduction == Collective::MAX || reduction == Collective::MIN)
    return isNan + "setp." + (reduction == Collective::MAX ? "gt" : "lt") + flush + type +
           " %p2, " + operands + "or.pred %p1, %p1, %p2;\n  selp" + bits + " " + a + ", " + a +
           ", " + b + ", %p1;";
  return isNan + (reduction == Collective::SUM ? "add" : "mul") + ".rn" + flush + type + " " + t +
         ", " + operands + "selp" + bits + " " + a + ", " + a + ", " + t + ", %p1;";
}

Element floats(bool isDouble, Collective::Reduction reduction) {
  Element element = copied(isDouble ? 8 : 4);
  element.apply = appliedFloats(isDouble, reduction);
  return element;
}

Element bfloats(Collective::Reduction reduction) {
  Element element =
      loaded("ld.global.u16 %r0, [%a];\n  shl.b32 %r0, %r0, 16;", "st.global.b16 [%a], %r0;", 2);
  element.apply = appliedFloats(false, reduction);
  element.finish = R"(setp.nan.f32 %p1, %r0, %r0;
  shr.u32 %r4, %r0, 16;
  and.b32 %r5, %r4, 1;
  add.s32 %r5, %r5, 32767;
  add.s32 %r5, %r5, %r0;
  shr.u32 %r5, %r5, 16;
  or.b32 %r4, %r4, 64;
  selp.b32 %r0, %r4, %r5, %p1;)";
  return element;
}

Element halves(Collective::Reduction reduction) {
  Element element =
      loaded("ld.global.b16 %h0, [%a];\n  cvt.f32.f16 %r0, %h0;", "st.global.b16 [%a], %r0;", 2);
  element.apply = appliedFloats(false, reduction);
  element.finish = R"(setp.nan.f32 %p1, %r0, %r0;
  cvt.rn.f16.f32 %h0, %r0;
  cvt.u32.u16 %r4, %h0;
  selp.b32 %r0, 32256, %r4, %p1;)";
  return element;
}

// Floats of a byte: a table says what each is, others which one a float32 is rounded to.
Element smallFloats(program::ElementType type, Collective::Reduction reduction) {
  Element element = loaded("ld.global.u8 %r0, [%a];\n  mov.u64 %a, decoded;\n"
                           "  mad.wide.u32 %a, %r0, 4, %a;\n  ld.global.b32 %r0, [%a];",
                           "st.global.b8 [%a], %r0;", 1);
  element.apply = appliedFloats(false, reduction);
  static_assert(SmallFloatTables::kPieces == 1 << 9);
  element.finish = "and.b32 %r4, %r0, 2147483647;\n  shr.u32 %r5, %r0, 31;\n  shl.b32 %r5, %r5, 9;";
  for (int step = SmallFloatTables::kPieces / 2; step; step /= 2)
    element.finish += "\n  add.s32 %r6, %r5, " + std::to_string(step) +
                      ";\n  mov.u64 %a, firsts;\n  mad.wide.u32 %a, %r6, 4, %a;\n"
                      "  ld.global.b32 %r7, [%a];\n  setp.le.u32 %p1, %r7, %r4;\n"
                      "  selp.b32 %r5, %r6, %r5, %p1;";
  element.finish += "\n  mov.u64 %a, codes;\n  cvt.u64.u32 %rd4, %r5;\n  add.s64 %a, %a, %rd4;\n"
                    "  ld.global.u8 %r0, [%a];";
  auto list = [&](const char *declaration, const auto &numbers) {
    std::string text =
        std::string(".global ") + declaration + "[" + std::to_string(numbers.size()) + "] = {";
    for (size_t i = 0; i < numbers.size(); ++i)
      text += (i ? "," : "") + std::to_string(numbers[i]);
    return text + "};\n";
  };
  SmallFloatTables tables = smallFloatTables(type);
  element.globals = list(".align 4 .b32 decoded", tables.decoded) +
                    list(".align 4 .b32 firsts", tables.firsts) + list(".b8 codes", tables.codes);
  return element;
}

// f8E8M0FNU by way of f64, in which all of its numbers are normal.
Element exponents(Collective::Reduction reduction) {
  Element element =
      loaded("ld.global.u8 %r0, [%a];\n  setp.eq.u32 %p1, %r0, 255;\n  add.s32 %r0, %r0, 896;\n"
             "  cvt.u64.u32 %rd0, %r0;\n  shl.b64 %rd0, %rd0, 52;\n"
             "  selp.b64 %rd0, 0x7ff8000000000000, %rd0, %p1;",
             "st.global.b8 [%a], %r0;", 1);
  element.apply = appliedFloats(true, reduction);
  element.finish = R"(sub.s64 %rd4, %rd0, 1;
  setp.ge.u64 %p1, %rd4, 0x7fefffffffffffff;
  add.s64 %rd0, %rd0, 0x8000000000000;
  shr.u64 %rd0, %rd0, 52;
  sub.s64 %rd0, %rd0, 896;
  max.s64 %rd0, %rd0, 0;
  min.s64 %rd0, %rd0, 255;
  cvt.u32.u64 %r0, %rd0;
  selp.b32 %r0, 255, %r0, %p1;)";
  return element;
}

Element complexProducts(bool isDouble) {
  std::string v = isDouble ? "b64" : "b32", r = isDouble ? "%rd" : "%r",
              t = isDouble ? ".rn.f64 " : ".rn.ftz.f32 ";
  std::string pair = "{" + r + "0, " + r + "1}";
  Element element = loaded("ld.global.v2." + v + " " + pair + ", [%a];",
                           "st.global.v2." + v + " [%a], " + pair + ";", isDouble ? 16 : 8);
  element.apply = replaced("mul#T4, #0, #2;\n  mul#T5, #1, #3;\n  sub#T4, #4, #5;\n"
                           "  mul#T5, #0, #3;\n  mul#T6, #1, #2;\n  add#T1, #5, #6;\n"
                           "  mov.@ #0, #4;",
                           "#T", t + r);
  element.apply = replaced(replaced(element.apply, "#", r), "@", v);
  return element;
}

Element reduced(program::ElementType type, Collective::Reduction reduction) {
  using namespace program;
  auto bytes = static_cast<uint32_t>(byteSize(type));
  switch (type) {
  case I1: // sum and maximum of truth values are `or`, product and minimum `and`
    return integers(1, false,
                    reduction == Collective::SUM || reduction == Collective::MAX ||
                            reduction == Collective::OR
                        ? Collective::OR
                        : Collective::AND);
  case I2:
  case I4:
    return narrowIntegers(type == I2 ? 2 : 4, true, reduction);
  case U2:
  case U4:
    return narrowIntegers(type == U2 ? 2 : 4, false, reduction);
  case U8:
  case U16:
  case U32:
  case U64:
    return integers(bytes, false, reduction);
  case BF16:
    return bfloats(reduction);
  case F16:
    return halves(reduction);
  case F32:
  case F64:
    return floats(type == F64, reduction);
  case F8E8M0FNU:
    return exponents(reduction);
  case C64:
  case C128:
    return reduction == Collective::SUM ? floats(type == C128, reduction)
                                        : complexProducts(type == C128);
  default:
    return isSmallFloat(type) ? smallFloats(type, reduction) : integers(bytes, true, reduction);
  }
}

// What all kernels share: which part of the table the block works for, and where each element lies.
constexpr const char *kKernel = R"(.version 7.0
.target sm_70
.address_size 64
@globals.visible .entry tessera_move(.param .u64 .ptr .global .align 8 table)
.maxntid 256
{
  .reg .pred %p<4>;
  .reg .b16 %h<2>;
  .reg .b32 %r<12>;
  .reg .b64 %rd<8>;
  .reg .b64 %table, %block, %parts, %at, %first, %behind, %part, %all, %each, %sources, %targets;
  .reg .b64 %row, %dimensions, %addresses, %ofJob, %element, %step, %job, %inside, %from, %to;
  .reg .b64 %outer, %extent, %index, %rest, %end, %last, %a;
  ld.param.b64 %table, [table];
  mov.u32 %r8, %ctaid.x; cvt.u64.u32 %block, %r8;
  ld.global.b64 %parts, [%table];
  mov.b64 %at, %table;
$PART:
  ld.global.b64 %behind, [%at+16];
  setp.lt.u64 %p0, %block, %behind; @%p0 bra $FOUND;
  add.s64 %at, %at, 8;
  bra $PART;
$FOUND:
  ld.global.b64 %first, [%at+8];
  shl.b64 %part, %parts, 3; add.s64 %part, %part, %at;
  ld.global.b64 %part, [%part+16];
  add.s64 %part, %part, %table;
  ld.global.b64 %all, [%part];
  ld.global.b64 %each, [%part+8];
  ld.global.b64 %sources, [%part+16];
  ld.global.b64 %targets, [%part+24];
  ld.global.b64 %row, [%part+32];
  ld.global.b64 %dimensions, [%part+40];
  mad.lo.s64 %addresses, %dimensions, 24, %part;
  add.s64 %addresses, %addresses, 48;
  add.s64 %ofJob, %sources, %targets;
  shl.b64 %ofJob, %ofJob, 3;
  mov.u32 %r8, %ntid.x; cvt.u64.u32 %step, %r8;
  mov.u32 %r8, %tid.x; cvt.u64.u32 %element, %r8;
  sub.s64 %block, %block, %first;
  mad.lo.s64 %element, %block, %step, %element;
  sub.s64 %behind, %behind, %first;
  mul.lo.s64 %step, %step, %behind;
$NEXT:
  setp.ge.u64 %p0, %element, %all; @%p0 bra $END;
  div.u64 %job, %element, %each;
  mul.lo.s64 %inside, %job, %each;
  sub.s64 %inside, %element, %inside;
  mad.lo.s64 %at, %job, %ofJob, %addresses;
  mov.b64 %from, %inside;
  setp.eq.u64 %p0, %dimensions, 0; @%p0 bra $INROW;
  div.u64 %outer, %inside, %row;
  mul.lo.s64 %from, %outer, %row;
  sub.s64 %from, %inside, %from;
$INROW:
  mul.lo.s64 %from, %from, @bytes;
  mov.b64 %to, %from;
  add.s64 %index, %part, 48;
$DIMENSION:
  setp.ge.u64 %p0, %index, %addresses; @%p0 bra $PLACED;
  ld.global.b64 %extent, [%index];
  div.u64 %rest, %outer, %extent;
  mul.lo.s64 %extent, %rest, %extent;
  sub.s64 %extent, %outer, %extent;
  mov.b64 %outer, %rest;
  ld.global.b64 %rest, [%index+8];
  mad.lo.s64 %from, %extent, %rest, %from;
  ld.global.b64 %rest, [%index+16];
  mad.lo.s64 %to, %extent, %rest, %to;
  add.s64 %index, %index, 24;
  bra $DIMENSION;
$PLACED:
  add.s64 %last, %at, %ofJob;
  shl.b64 %end, %sources, 3; add.s64 %end, %end, %at;
  ld.global.b64 %a, [%at];
  add.s64 %a, %a, %from;
  @load
$SOURCE:
  add.s64 %at, %at, 8;
  setp.ge.u64 %p0, %at, %end; @%p0 bra $REDUCED;
  ld.global.b64 %a, [%at];
  add.s64 %a, %a, %from;
  @next
  @apply
  bra $SOURCE;
$REDUCED:
  @finish
$TARGET:
  ld.global.b64 %a, [%at];
  add.s64 %a, %a, %to;
  @store
  add.s64 %at, %at, 8;
  setp.lt.u64 %p0, %at, %last; @%p0 bra $TARGET;
  add.s64 %element, %element, %step;
  bra $NEXT;
$END:
  ret;
}
)";

std::string kernelOf(const Element &element) {
  std::string text = kKernel;
  text = replaced(text, "@bytes", std::to_string(element.bytes));
  text = replaced(text, "@globals", element.globals);
  text = replaced(text, "@load", element.load);
  text = replaced(text, "@next", element.loadNext);
  text = replaced(text, "@apply", element.apply);
  text = replaced(text, "@finish", element.finish);
  return replaced(text, "@store", element.store);
}

} // namespace

std::string copyingPtx(uint32_t bytes) { return kernelOf(copied(bytes)); }

std::string reducingPtx(program::ElementType type, Collective::Reduction reduction) {
  return kernelOf(reduced(type, reduction));
}

uint32_t reducedUnit(program::ElementType type, Collective::Reduction reduction) {
  auto bytes = static_cast<uint32_t>(byteSize(type));
  bool isComplex = type == program::C64 || type == program::C128;
  return isComplex && reduction == Collective::SUM ? bytes / 2 : bytes;
}

} // namespace tessera::runtime::device::cuda
