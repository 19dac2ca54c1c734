// The processor that code is for.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace tessera::codegen {

// What an instruction set offers to the emitters.
struct VectorFeatures {
  unsigned bytes = 16; // of a vector register
  bool bf16 = false;   // conversions and dot products of bf16
  bool f16 = false;    // conversions of f16
};

struct CpuTarget {
  std::string cpu; // LLVM's name: instructions are scheduled for it
  std::vector<std::string> features; // the instruction sets of tessera/cpu_features.h that it has

  VectorFeatures vectors() const;
  std::string switches() const; // as LLVM takes them: +avx,+avx2,..,-avx512f,..

  // This machine's, as far as the instruction sets are known.
  static CpuTarget host();
  // `native` or a name that LLVM knows: x86-64-v3, znver4, ..
  static llvm::Expected<CpuTarget> named(llvm::StringRef name);
  // What `named` takes, one a line.
  static std::string names();
};

} // namespace tessera::codegen
