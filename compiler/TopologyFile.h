// A topology file as the module attribute that the phases read.
#pragma once

#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/Support/Error.h"

namespace tessera {

// `text` is JSON of the form that docs/topology.md gives:
//   {"name": "pod", "alpha": 1e-6, "beta": 1e11, "axes": {"data": {"alpha": 1e-5, "beta": 1e10}}}
llvm::Expected<mlir::DictionaryAttr> parseTopologyFile(mlir::MLIRContext *context,
                                                       llvm::StringRef text);

} // namespace tessera
