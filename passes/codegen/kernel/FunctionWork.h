// How long functions take beside each other: by their instructions, as code generation for CPUs
// approximates them (cpu/VectorMath.cpp, cpu/DoubleMath.h).
#pragma once

#include "passes/codegen/kernel/Graph.h"

#include <optional>

namespace tessera::codegen {

constexpr double instructionsOfExponential = 14; // of f32, of a vector
constexpr double instructionsOfFunction = 62;    // of log(1 + x), likewise

// Of functions of f32 that are made of an exponential: of how many.
std::optional<double> exponentialsOf(Op op);
// Of the others: of how many log(1 + x).
double functionsOf(Op op);
// Of f64, for each of an element's two lanes.
double doubleFunctionsOf(Op op);

} // namespace tessera::codegen
