// Diagnostics as a person at a terminal reads them: one line each, `error: train.py:12:3: what, and
// how to mend it`.
#pragma once

#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/LogicalResult.h"

#include <string>

namespace tessera {

// The source position behind a location: the innermost file position that the exporter recorded;
// `fallback` when there is none.
std::string describeLocation(mlir::Location location, llvm::StringRef fallback);

// `text` with line breaks as blanks.
std::string oneLine(std::string text);

std::string describe(mlir::Diagnostic &diagnostic, llvm::StringRef inputName);

// An error at the first op that no dialect knows.
llvm::LogicalResult refuseUnknownOps(mlir::Operation *root);

// While it lives, collects a context's diagnostics: warnings and remarks go on at once, of errors
// the first is kept, since later ones mostly follow from it.
class DiagnosticCollector {
public:
  DiagnosticCollector(mlir::MLIRContext *context, llvm::StringRef inputName,
                      llvm::function_ref<void(const std::string &)> note);

  bool failed() const { return errors != 0; }
  // The error line; `otherwise` when nothing was said.
  std::string error(llvm::StringRef otherwise) const;

private:
  std::string inputName, first;
  unsigned errors = 0;
  mlir::ScopedDiagnosticHandler handler;
};

} // namespace tessera
