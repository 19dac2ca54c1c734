// What is looked for in a program's text before MLIR's parser reads it.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <string>

namespace tessera {

// Empty, or what is wrong, beginning with `name:line:column: `. MLIR's parser makes room for
// as many results as `%x#N` names before it knows how many there are: with a number such as
// 2147483648 it runs out of memory.
std::string refuseText(llvm::StringRef text, llvm::StringRef name);

// JAX's MLIR, which is newer than this one, writes many booleans as a byte each, where this one
// has a bit each:
//
//   dense<"0x0001010000000101"> : tensor<8xi1>    <->    dense<"0xC6"> : tensor<8xi1>
//
// The text with bits, as long as before (blanks follow the string, so that columns stay); empty
// where nothing is to be changed.
std::string packBooleans(llvm::StringRef text);
// The text with bytes, which either version reads by way of packBooleans.
std::string unpackBooleans(llvm::StringRef text);

} // namespace tessera
