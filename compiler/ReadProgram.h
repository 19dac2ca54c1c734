// A program as the phases expect it, from text, bytecode or a portable artifact.
#pragma once

#include "compiler/source/Diagnostics.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace tessera {

struct CompileOptions;

struct SourceProgram {
  mlir::OwningOpRef<mlir::ModuleOp> module; // null where `error` is set
  std::string error;                        // one line that begins with `error:`
};

// Parses, refuses what no dialect knows, makes the entry the one public function and notes the
// topology. With `keepNames`, every op and block argument of text input carries the name
// that it has there: a location around its own has #tessera.value_name as metadata.
SourceProgram readProgram(llvm::StringRef text, const CompileOptions &options,
                          mlir::MLIRContext *context, DiagnosticCollector &diagnostics,
                          bool keepNames = false);

} // namespace tessera
