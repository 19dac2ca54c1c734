// Modules, read for the commands that look into them.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace tessera::fuzz {

// Null where it is none; `problem` is then the reason.
mlir::OwningOpRef<mlir::ModuleOp> parse(llvm::StringRef bytes, llvm::StringRef name,
                                        std::string &problem);

} // namespace tessera::fuzz
