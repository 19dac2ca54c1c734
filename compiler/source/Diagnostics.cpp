#include "compiler/source/Diagnostics.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Location.h"
#include "mlir/IR/Operation.h"
#include "mlir/IR/Visitors.h"
#include "llvm/ADT/StringExtras.h"

namespace tessera {

constexpr llvm::StringRef kDialects = "Tessera reads the dialects func, stablehlo, chlo and sdy";

static mlir::FileLineColRange findPosition(mlir::Location location) {
  mlir::FileLineColRange found;
  location->walk([&](mlir::Location inner) {
    found = llvm::dyn_cast<mlir::FileLineColRange>(inner);
    if (found && !found.getStartLine()) // line 0: a module that was never given a position
      found = {};
    return found ? mlir::WalkResult::interrupt() : mlir::WalkResult::advance();
  });
  return found;
}

std::string describeLocation(mlir::Location location, llvm::StringRef fallback) {
  if (mlir::FileLineColRange position = findPosition(location))
    return (position.getFilename().getValue() + ":" + llvm::Twine(position.getStartLine()) + ":" +
            llvm::Twine(position.getStartColumn()))
        .str();
  if (auto name = llvm::dyn_cast<mlir::NameLoc>(location))
    return (fallback + ": " + name.getName().getValue()).str();
  return fallback.str();
}

std::string oneLine(std::string text) {
  for (char &c : text)
    if (c == '\n')
      c = ' ';
  return llvm::StringRef(text).trim().str();
}

llvm::LogicalResult refuseUnknownOps(mlir::Operation *root) {
  return llvm::success(!root->walk([](mlir::Operation *op) {
                              if (op->isRegistered())
                                return mlir::WalkResult::advance();
                              op->emitError("unknown op '") << op->getName() << "'; " << kDialects;
                              return mlir::WalkResult::interrupt();
                            })
                            .wasInterrupted());
}

static llvm::StringRef describeSeverity(mlir::DiagnosticSeverity severity) {
  if (severity == mlir::DiagnosticSeverity::Error)
    return "error";
  return severity == mlir::DiagnosticSeverity::Warning ? "warning" : "remark";
}

std::string describe(mlir::Diagnostic &diagnostic, llvm::StringRef inputName) {
  std::string line = (describeSeverity(diagnostic.getSeverity()) + ": " +
                      describeLocation(diagnostic.getLocation(), inputName) + ": ")
                         .str();
  std::string what = oneLine(diagnostic.str());
  if (llvm::StringRef(what).starts_with("Dialect `")) // MLIR's note points at its own documentation
    return line + what + "; " + kDialects.str();
  line += what;
  for (mlir::Diagnostic &note : diagnostic.getNotes()) {
    std::string text = oneLine(note.str()); // one of MLIR's own repeats the whole op
    if (!llvm::StringRef(text).starts_with("see current operation"))
      line += "; note at " + describeLocation(note.getLocation(), inputName) + ": " + text;
  }
  return line;
}

DiagnosticCollector::DiagnosticCollector(mlir::MLIRContext *context, llvm::StringRef inputName,
                                         llvm::function_ref<void(const std::string &)> note)
    : inputName(inputName), handler(context, [this, note](mlir::Diagnostic &diagnostic) {
        std::string line = describe(diagnostic, this->inputName);
        if (diagnostic.getSeverity() != mlir::DiagnosticSeverity::Error)
          note(line);
        else if (++errors == 1)
          first = line;
      }) {}

std::string DiagnosticCollector::error(llvm::StringRef otherwise) const {
  if (!errors)
    return ("error: " + inputName + ": " + otherwise).str();
  return errors == 1 ? first : first + " (and " + std::to_string(errors - 1) + " more)";
}

} // namespace tessera
