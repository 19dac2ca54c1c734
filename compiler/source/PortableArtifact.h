// Programs as files: text, MLIR bytecode, or the portable artifacts that jax.export and torch_xla
// write.
#pragma once

#include "dialects/vhlo/Version.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

#include <string>

namespace llvm {
class raw_ostream;
class SourceMgr;
} // namespace llvm

namespace tessera {

// Reads the main file of `sources`. Of a portable artifact, what comes back is StableHLO. Null when
// it is no module; a diagnostic says why.
mlir::OwningOpRef<mlir::ModuleOp> readModule(llvm::SourceMgr &sources,
                                             const mlir::ParserConfig &config);

// Writes `module`, which becomes vhlo, as an artifact that `release` of StableHLO and later ones
// read.
llvm::LogicalResult writePortableArtifact(mlir::ModuleOp module, vhlo::Version release,
                                          llvm::raw_ostream &out);

// tessera-opt: `input` may be an artifact, and with `emitPortable` (a release, or empty) so is what
// goes to `out`. Says what is wrong where it fails.
llvm::LogicalResult optimize(llvm::raw_ostream &out, std::unique_ptr<llvm::MemoryBuffer> input,
                             mlir::DialectRegistry &registry, mlir::MlirOptMainConfig config,
                             const std::string &emitPortable, bool keepVhlo);

} // namespace tessera
