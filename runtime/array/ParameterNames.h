// Arrays that are given by name, for the parameters that they are.
#pragma once

#include "runtime/array/Layout.h"
#include <string>
#include <string_view>
#include <vector>

namespace tessera::runtime {

using Parameters = std::vector<const program::Parameter *>;

// Each parameter goes by its own name, or by `prefix` and its number:
//   parameters x, y;  given y, in0  ->  1, 0
// For each parameter the index among those given. NotFound when one is missing, one that is given
// is none of theirs, or one is given twice: the message lists what is expected.
Result<std::vector<size_t>> matchNames(const Parameters &parameters, std::string_view prefix,
                                       const std::vector<std::string> &given);

// The parameter of a name, which NotFound says there is none of.
Result<size_t> indexOfName(const Parameters &parameters, std::string_view prefix,
                           std::string_view name);

} // namespace tessera::runtime
