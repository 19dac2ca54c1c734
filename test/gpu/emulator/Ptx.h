// PTX as data: what a text of LLVM's NVPTX target, or of a person, says ("Parallel Thread Execution
// ISA" by NVIDIA is the reference). Only what the emulator carries out is known; all else is an
// error with its line.
#pragma once

#include "test/gpu/emulator/Loops.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::emulator {

enum class Type : uint8_t {
  None,
  Pred,
  B8,
  B16,
  B32,
  B64,
  U8,
  U16,
  U32,
  U64,
  S8,
  S16,
  S32,
  S64,
  F16,
  BF16,
  F32,
  F64
};
unsigned bytesOf(Type type);
inline bool isFloat(Type type) { return type >= Type::F16; }
inline bool isSigned(Type type) { return type >= Type::S8 && type <= Type::S64; }

enum class Space : uint8_t { Generic, Param, Global, Shared, Local };
// Of shared memory, by bits of an address that the line of 128 bytes changes: how many bytes of a line
// stand for each other, as descriptors and tensor maps name them.
enum class Swizzle : uint8_t { None, Bytes32, Bytes64, Bytes128 };

// What an instruction does; its types and modifiers say the rest.
enum class Code : uint8_t {
  Mov,
  Ld,
  St,
  CvtaTo,
  CvtaFrom,
  Cvt,
  Add,
  Sub,
  Mul,
  MulHi,
  MulWide,
  Mad,
  MadWide,
  Fma,
  Rcp,
  Div,
  Rem,
  Neg,
  Abs,
  Min,
  Max,
  Sqrt,
  Rsqrt,
  Copysign,
  And,
  Or,
  Xor,
  Not,
  Shl,
  Shr,
  Shf,
  Prmt,
  Bfe,
  Bfi,
  Popc,
  Clz,
  Brev,
  Setp,
  Set,
  Selp,
  Testp,
  Bra,
  BrxIdx,
  Bar,
  Shfl,
  LdMatrix,
  Mma,
  CpAsync,
  CpAsyncCommit,
  CpAsyncWait,
  MBarrierInit,
  MBarrierArrive,
  MBarrierTryWait,
  FenceBarriers,
  FenceProxy,
  CopyTensor,
  WgmmaFence,
  Wgmma,
  WgmmaCommit,
  WgmmaWait,
  Ret,
  Trap,
  Pack,
  Unpack,
};

enum class Compare : uint8_t { Eq, Ne, Lt, Le, Gt, Ge, Equ, Neu, Ltu, Leu, Gtu, Geu, Num, Nan };
enum class Round : uint8_t { Nearest, Zero, Down, Up, About };
enum class Special : uint8_t {
  TidX,
  TidY,
  TidZ,
  NtidX,
  NtidY,
  NtidZ,
  CtaidX,
  CtaidY,
  CtaidZ,
  NctaidX,
  NctaidY,
  NctaidZ,
  LaneId,
  WarpSize
};
enum class Shuffle : uint8_t { Up, Down, Bfly, Idx };

struct Operand {
  enum Kind : uint8_t {
    None,
    Register,
    Immediate,
    SpecialRegister,
    Symbol,
    Vector,
    Label
  } kind = None;
  uint32_t index = 0;   // register; special register; first of a vector's in Kernel::vectors
  uint32_t count = 0;   // of a vector
  int64_t value = 0;    // immediate, or what is added to a register or symbol in brackets
  bool negated = false; // of a predicate
  bool isShort = false; // an address in a register of 32 bits: it has no more, whatever is added
  Space space = Space::Generic; // of a symbol
};

struct Instruction {
  Code code;
  Type type = Type::None, from = Type::None; // `from`: what cvt converts, setp compares
  Type fromB = Type::None;                   // of mma of integers: the second factor
  Space space = Space::Generic;
  Compare compare = Compare::Eq;
  Round round = Round::Nearest;
  Shuffle shuffle = Shuffle::Idx;
  bool flushes = false, saturates = false, toInteger = false, propagatesNan = false, left = false,
       clamps = false, transposes = false, waitsForAll = false;
  bool isOfIntegers = false; // mma
  bool isOfPairs = false;    // .s16x2: of the two halves of 32 bits, each of the type
  bool expectsBytes = false, transposesB = false, takesCarry = false, givesCarry = false;
  // Of a vector access; matrices of ldmatrix; dimensions of a tensor; eights of columns of wgmma.
  uint8_t width = 1;
  int32_t guard = -1; // predicate register
  bool guardNegated = false;
  uint32_t line = 0;
  uint32_t target = 0; // of a jump, or the first of a table's
  Operand to, also;    // results: `also` is the second (setp p|q, shfl d|p)
  Operand a, b, c, d;
};

struct Variable {
  Space space;
  uint64_t bytes = 0, align = 1,
           offset = 0;           // offset: in its space (local, shared), or parameter list
  std::vector<uint8_t> contents; // of a global one
};

struct Kernel {
  std::string name;
  uint32_t mostThreads = 1024;
  std::vector<Variable> parameters; // offsets into the buffer of parameters
  uint64_t parameterBytes = 0, localBytes = 0, sharedBytes = 0;
  // Where what a launch adds to shared memory begins, if the kernel names it.
  std::optional<uint64_t> added;
  bool usesProxies = false; // has instructions of warpgroups
  uint32_t registers = 0;
  std::vector<Instruction> instructions;
  std::vector<Operand> vectors;              // the parts of vector operands
  std::vector<std::vector<uint32_t>> tables; // of indexed jumps
  Loops loops;
};

struct Module {
  std::string target; // "sm_80"
  std::map<std::string, Kernel, std::less<>> kernels;
  std::map<std::string, Variable, std::less<>> globals;
  std::vector<std::string> globalNames; // symbols by number
};

// Empty text: it is understood. Otherwise what is wrong, with its line.
std::string parse(std::string_view text, Module &module);

} // namespace tessera::emulator
