// Attributes of a function's arguments and results, changed together. MLIR keeps them in one array
// for all, and keeps each array that ever was until the context goes: to set them one after the
// other takes time and memory quadratic in their number (6 GB for 20,000 arguments).
#pragma once

#include "mlir/Interfaces/FunctionInterfaces.h"

namespace tessera::sdy {

class SignatureAttributes {
public:
  explicit SignatureAttributes(mlir::FunctionOpInterface function);
  // Writes what was set: the function must have as many arguments and results as before.
  ~SignatureAttributes();
  SignatureAttributes(const SignatureAttributes &) = delete;

  void setArgument(unsigned index, llvm::StringRef name, mlir::Attribute value);
  void setResult(unsigned index, llvm::StringRef name, mlir::Attribute value);
  void removeArgument(unsigned index, llvm::StringRef name);
  void removeResult(unsigned index, llvm::StringRef name);
  // All attributes of one.
  void replaceArgument(unsigned index, mlir::DictionaryAttr attributes);
  void replaceResult(unsigned index, mlir::DictionaryAttr attributes);
  mlir::MLIRContext *context() { return function->getContext(); }
  // As they will be; null where there are none.
  mlir::DictionaryAttr ofArgument(unsigned index) const { return arguments[index]; }
  mlir::DictionaryAttr ofResult(unsigned index) const { return results[index]; }

private:
  mlir::FunctionOpInterface function;
  llvm::SmallVector<mlir::DictionaryAttr> arguments, results;
  bool changedArguments = false, changedResults = false;
};

} // namespace tessera::sdy
