// The parts that a nest's points are cut into: boxes between the pieces of what is read, and phases that
// leave out the zeros of convolutions.
#pragma once

#include "passes/codegen/kernel/NestGraph.h"

namespace tessera::codegen {

// The parts that the graph which was built last wants to be cut into; none where it is one.
std::vector<Box> boxesOf(const NestGraph &nest);
// The phases that leave out zeros, of a convolution's dilated operand and of its padding; none where
// there is nothing to leave out, or that costs more than it saves.
std::vector<Phase> phasesOf(const NestGraph &nest);
// Terms of a convolution that are left of it in phases, those between a dilated operand's elements
// apart.
double shareInPhases(const NestGraph &nest);

} // namespace tessera::codegen
