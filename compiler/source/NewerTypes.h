// Floats of 8 bits and less in bytecode of MLIR 23, as jaxlib writes it: MLIR 22 spells them out, and
// refuses the numbers that 23 has for them.
#pragma once

namespace mlir {
class ParserConfig;
} // namespace mlir

namespace tessera {

// What is read with `config` may have them.
void readNewerTypes(mlir::ParserConfig &config);

} // namespace tessera
