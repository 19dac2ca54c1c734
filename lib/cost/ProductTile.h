// The part of a product's results that is held in registers while k runs, on plain data.
#pragma once

#include "lib/cost/KernelWork.h"

namespace tessera::cost {

struct Tile {
  double rows, columns, vectors;
};

// As code generation for CPUs chooses it (passes/codegen/cpu/ContractionPlan.cpp). `lanesOfVector`: of
// four bytes.
Tile tileOf(const Product &product, double lanesOfVector);

} // namespace tessera::cost
