// What is looked for in a program's text before MLIR's parser reads it.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <string>

namespace tessera {

// Empty, or what is wrong, beginning with `name:line:column: `. MLIR's parser makes room for
// as many results as `%x#N` names before it knows how many there are: with a number such as
// 2147483648 it runs out of memory.
std::string refuseText(llvm::StringRef text, llvm::StringRef name);

} // namespace tessera
