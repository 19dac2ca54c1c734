// What is wrong with the members of a topology, and with which of them: who reads a file of them
// says where it is there.
#pragma once

#include "mlir/IR/BuiltinAttributes.h"

#include <string>
#include <vector>

namespace tessera {

struct WrongMember {
  std::string what;               // empty where nothing is
  std::vector<std::string> where; // keys, and numbers of entries of lists
};

WrongMember findWrongMember(mlir::DictionaryAttr topology);

} // namespace tessera
