// Which arguments of a program belong together, by the names that frontends give them. Plain data.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <string>
#include <vector>

namespace tessera::mends {

// `state['m'][0]['w_in']` is of the tree `state`, with the path m, w_in: numbers tell layers apart,
// which are alike.
struct ArgumentName {
  std::string tree;
  std::vector<std::string> path;
};
ArgumentName readName(llvm::StringRef name);

// The parameter that an argument belongs to, itself for most: the argument of the same type with
// the shortest path that ends its own. With params['w'], state['m']['w'] and state['v']['w'] of one
// type, both states belong to the first; where layers differ by number only, to that of the first.
std::vector<int32_t> parametersOf(llvm::ArrayRef<ArgumentName> names,
                                  llvm::ArrayRef<std::string> types);

// "params[*]['w'] (12 arguments)" of names that differ in numbers only; else the first few and how
// many there are.
std::string namesText(llvm::ArrayRef<std::string> names);

} // namespace tessera::mends
