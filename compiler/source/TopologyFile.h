// A topology file as the module attribute that the phases read.
#pragma once

#include "dialects/tessera/TesseraDialect.h"
#include "llvm/Support/Error.h"

namespace tessera {

// The name of a machine (lib/machines), or JSON of the form that docs/topology.md gives:
//   {"name": "pod", "alpha": 1e-6, "beta": 1e11, "axes": {"data": {"alpha": 1e-5, "beta": 1e10}}}
// What is wrong begins with its line and column.
llvm::Expected<TopologyAttr> parseTopologyFile(mlir::MLIRContext *context,
                                               llvm::StringRef nameOrText);

} // namespace tessera
