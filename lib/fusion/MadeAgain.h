// Whether several kernels make a value again, each for itself, instead of one that writes it for all:
// where each reads, at the same places, all that it is computed of.
//
//   h = x w --+-- s = logistic(h) --+-- A: h * s                  A yields h, s and h * s, or
//             |                     +-- B: g * s * (1 + h - h s)   h and h * s, and B makes s of h
//             +-- A, B
//
// An array less to hold, to write and to read, as nobody else reads what lies between s and h. An
// element of a function or two takes less than that from memory; arrays that a cache holds between
// their kernels are read faster than computed.
#pragma once

#include "lib/fusion/KernelGroups.h"

namespace tessera::fusion {

// `members`: what n would be in the kernels that read it.
bool isOfWhatAllRead(const GraphFacts &nodes, const KernelGroups &kernels, int n,
                     llvm::ArrayRef<Member> members, const Limits &limits);

} // namespace tessera::fusion
