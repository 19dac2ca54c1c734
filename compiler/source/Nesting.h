// How deeply input may be nested, and how large what it repeats may become. Readers, passes and
// destructors, ours and MLIR's, recurse into regions, attributes, types and locations, some of them
// in time that grows with the square of the depth; and an attribute that names another one twice is
// small in the file and twice as large wherever it is printed or walked. So both are counted
// before: brackets in text, without recursion, before it is parsed; the rest in the module that was
// read, each attribute once, before anything else sees it.
//
//   #a1 = [#a0, #a0]   #a2 = [#a1, #a1]   ..   "op"() {x = #a28}      2^28 elements in 28 lines
#pragma once

#include "tessera/container.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <string>

namespace tessera {

constexpr unsigned kMostBrackets = 1000;  // open at one place of a text
constexpr unsigned kMostOperators = 1000; // of an affine expression
constexpr unsigned kMostRegions = container::kDeepestNesting;
constexpr unsigned kMostAttributes = 1000;            // attributes, types and locations in another
constexpr uint64_t kMostElements = uint64_t(1) << 24; // of all of them, written out

// Empty, or where a text is nested too deeply or has an expression that is too long, beginning with
// `name:line:column: `. Brackets in strings and comments don't count; signs in a row do: each is an
// expression around the next.
std::string refuseNestedText(llvm::StringRef text, llvm::StringRef name);

// Reports what of a module is nested too deeply or grows too large. Such a module is gone
// afterwards, taken apart: to destroy it as a whole would recurse.
llvm::LogicalResult checkNesting(mlir::OwningOpRef<mlir::ModuleOp> &module);

} // namespace tessera
