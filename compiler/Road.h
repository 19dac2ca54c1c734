// A program on the road through the phases: what compile and explain have in common.
#pragma once

#include "compiler/Compile.h"
#include "compiler/Phases.h"
#include "compiler/source/Diagnostics.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"

#include <string>

namespace tessera {

class Road {
public:
  // `options` and `listener` must outlive it.
  Road(const CompileOptions &options, const CompileListener &listener);

  // Reads the program; the names of its values where `keepNames`. "" or an error line, as of all
  // that follows.
  std::string read(llvm::StringRef text, bool keepNames = false);

  // One phase after the other, up to the last one before `end` (all, where no phase has that name).
  // `after` is called after each, and ends the way by false.
  std::string run(llvm::StringRef end, llvm::function_ref<bool(const Phase &)> after);

  mlir::ModuleOp module() const { return *program; }
  // The program, which has left the road.
  mlir::OwningOpRef<mlir::ModuleOp> take() { return std::move(program); }
  // The error line of what went wrong last; `otherwise` where nothing was said.
  std::string error(llvm::StringRef otherwise) const { return diagnostics.error(otherwise); }

private:
  const CompileOptions &options;
  const CompileListener &listener;
  mlir::MLIRContext context;
  DiagnosticCollector diagnostics;
  mlir::OwningOpRef<mlir::ModuleOp> program;
};

} // namespace tessera
