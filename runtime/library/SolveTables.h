// Forward substitution for a panel of right-hand sides, as plain data: the loops are those of
// SolveLoops.h, of which there is one set for each instruction set. All give the same bits.
#pragma once

#include <cstdint>

namespace tessera::runtime::solve {

// Of a line's real parts: library::TriangularSolve::kPanelBytes, without that header.
constexpr int64_t kPanelBytes = 128;

// Lines are in the order in which they are solved. Steps are in elements of the arrays, and may be
// negative.
struct Job {
  bool isDouble = false, isComplex = false, isConjugate = false, isUnit = false;
  int64_t order = 0;
  const void *matrix = nullptr; // what line 0 is divided by
  int64_t lineStep = 0, termStep = 0;
  const void *from = nullptr; // line 0 of the first of the sides
  void *to = nullptr;
  int64_t sides = 0, sideStep = 0, sideLineStep = 0;
  void *panel = nullptr;
};

namespace baseline {
void run(const Job &job);
}
#if defined(__x86_64__)
namespace avx2 {
void run(const Job &job);
}
namespace avx512 {
void run(const Job &job);
}
#endif

} // namespace tessera::runtime::solve
