// A processor as the emitters and LLVM need to know it.
#pragma once

#include "lib/target/Target.h"

namespace tessera::codegen {

// What an instruction set offers to the emitters.
struct VectorFeatures {
  unsigned bytes = 16;     // of a vector register
  bool bf16 = false;       // conversions and dot products of bf16
  bool bf16Words = false;  // the same by whole registers, and permutes 16-bit words of them
  bool bf16Pairs = false;  // has registers of two of them, made by one instruction (GPUs)
  bool f16 = false;        // conversions of f16
  bool bf16Tiles = false;  // products of tiles of bf16 (AMX)
  bool masks = false;      // registers for masks (AVX-512)
  bool lookUps = false;    // permutes registers, scales, bounds magnitudes (AVX-512 with DQ)
  bool prefetches = false; // asks for lines of memory ahead
  bool pairs = false;      // sums of two products of 16-bit integers
  bool addsPairs = false;  // which are added at once (VNNI)
  bool extrema = false;    // of floats, NaN and -0 as they should be, in one instruction
  // Of an array of registers: what is larger goes through memory by its own code, not by spills.
  int64_t mostHeldBytes = INT64_MAX;
  // Of a kernel whose cells are rows or columns, where there are so many: each is a thread's (GPUs).
  int64_t leastCells = 1;
};

struct CpuTarget {
  target::Processor processor;
  VectorFeatures vectors;

  // Fails where kernels cannot use such vectors with its instruction sets, or one is unknown.
  static llvm::Expected<CpuTarget> of(target::Processor processor);
  static CpuTarget host();      // this machine's
  std::string switches() const; // as LLVM takes them: +avx,+avx2,..,-avx512f,..
};

} // namespace tessera::codegen
