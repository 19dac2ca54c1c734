// What a product is to the cost model before kernels are made.
#pragma once

#include "lib/cost/KernelWork.h"
#include "passes/communicate/ProductDims.h"

namespace tessera::communicate {

// Of a dot_general or a convolution as a kernel of its own, its operands read as they lie.
cost::KernelWork workOfProduct(mlir::Operation *op);

// The same of one of so many parts, cut along a dimension of the result or, of `Contracted`, along
// what is added up. `operand`: the one that has the dimension. Its arrays are still the whole ones.
cost::KernelWork partOf(cost::KernelWork work, OperandDim::Role role, unsigned operand,
                        double parts);

} // namespace tessera::communicate
