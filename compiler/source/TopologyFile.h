// A topology file as the module attribute that the phases read.
#pragma once

#include "dialects/tessera/TesseraDialect.h"
#include "mlir/IR/Location.h"
#include "llvm/Support/Error.h"

namespace tessera {

// The name of a machine (lib/machines), or JSON of the form that docs/topology.md gives:
//   {"name": "pod", "alpha": 1e-6, "beta": 1e11, "axes": {"data": {"alpha": 1e-5, "beta": 1e10}}}
// An error where it is no such object, which begins with the line and column where JSON ends to be
// JSON; null where a value of it is wrong, which was said at `location`.
llvm::Expected<TopologyAttr> parseTopologyFile(mlir::Location location, llvm::StringRef nameOrText);

} // namespace tessera
