// Object files to one shared object, by lld in this process.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <optional>
#include <string>
#include <vector>

namespace tessera::codegen {

// Empty, with the linker's message in `error`, when linking failed.
std::optional<std::vector<char>>
linkSharedObject(llvm::ArrayRef<llvm::SmallVector<char, 0>> objects, std::string &error);

} // namespace tessera::codegen
