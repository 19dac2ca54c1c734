// The loops of a kernel, by which the accesses that lanes of a warp make together are told from others.
//
//   for k in 0..: if (exists) load      lanes that leave out a turn are back in the next one: what a warp loads at one
//                                       time is one place in one turn of each loop around it
//
// Natural loops of a flow graph (Aho, Lam, Sethi, Ullman 2006, Compilers, 9.6).
#pragma once

#include <cstdint>
#include <vector>

namespace tessera::emulator {

struct Kernel;

struct Loops {
  static constexpr uint32_t kNone = UINT32_MAX;
  // By instruction: the loop that begins there, and the innermost one around it.
  std::vector<uint32_t> begins, around;
  std::vector<uint32_t> parent; // by loop

  bool contains(uint32_t loop, uint32_t instruction) const {
    uint32_t at = instruction == kNone ? kNone : around[instruction];
    while (at != kNone && at != loop)
      at = parent[at];
    return at == loop;
  }
};

Loops loopsOf(const Kernel &kernel);

} // namespace tessera::emulator
