// What is looked for in a program's text before MLIR's parser reads it.
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/MemoryBuffer.h"

#include <memory>
#include <string>

namespace tessera {

// What MLIR's parser may be given: bytecode as it is; text as a copy, which ends in the zero that
// the parser reads behind the last character, with booleans as it reads them (below). Null for what
// the parser would not survive, and `wrong` says why, beginning with `name:line:column: `:
//
//   - nested too deeply: see Nesting.h
//   - `%x#2147483648`: it makes room for as many results before it knows how many there are
//   - `array<index: 1>`: it asks for the width of a type that has none
std::unique_ptr<llvm::MemoryBuffer> readableText(llvm::StringRef text, llvm::StringRef name,
                                                 std::string &wrong);

// JAX's MLIR, which is newer than this one, writes many booleans as a byte each, where this one
// has a bit each:
//
//   dense<"0x0001010000000101"> : tensor<8xi1>    <->    dense<"0xC6"> : tensor<8xi1>
//
// readableText makes bits of them, in a text as long as before (blanks follow the string, so that
// columns stay); this makes bytes of them, which either version reads.
std::string unpackBooleans(llvm::StringRef text);

// The place behind a string or comment that begins at `at`; `at` where none does.
size_t behindStringOrComment(llvm::StringRef text, size_t at);
// "line:column" of a place, counted from 1.
std::string lineAndColumn(llvm::StringRef text, size_t at);

} // namespace tessera
