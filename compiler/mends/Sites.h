// Which ops of a program are the same thing in several layers.
#pragma once

#include "compiler/explanation/Explanation.h"
#include "mlir/IR/BuiltinOps.h"

#include <string>
#include <vector>

namespace tessera::mends {

// Whether frames say who wrote an op; not where its text stands in a module, which tells layers
// apart.
bool isSource(llvm::ArrayRef<explain::Frame> frames);

class Sites {
public:
  // `program`: numbered (Change.h).
  explicit Sites(mlir::ModuleOp program);

  // One line of the user's source, called from the same lines, makes ops of one site; where the
  // source is not known, ops of one kind, on operands of the same types, which the same kinds of op
  // make.
  const std::string &ofOp(int32_t number) const { return stacks[number]; }

  // The same for what moves by one kind of collective along the same axes, by the innermost line;
  // kind and axes are empty for what is computed.
  std::string of(llvm::StringRef kind, llvm::StringRef axes, mlir::Location location) const;

private:
  std::vector<std::string> stacks, lines; // by number
};

} // namespace tessera::mends
