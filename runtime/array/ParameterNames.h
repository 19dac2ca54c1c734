// Arrays that are given by name, for the parameters that they are.
#pragma once

#include "runtime/array/Layout.h"
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::runtime {

using Parameters = std::vector<const program::Parameter *>;

// Each parameter goes by its own name, or by `prefix` and its number:
//   parameters x, y;  given y, in0  ->  1, 0
// For each parameter the index among those given. NotFound when one is missing, one that is given
// is none of theirs, or one is given twice: the message lists what is expected. Those that are
// given elsewhere may be missing: kNotGiven.
inline constexpr size_t kNotGiven = SIZE_MAX;
Result<std::vector<size_t>> matchNames(const Parameters &parameters, std::string_view prefix,
                                       const std::vector<std::string> &given,
                                       const std::vector<bool> &isGivenElsewhere = {});

// "the program expects in0 ('x') f32[8,16], ..", and of outputs, whose prefix is out, gives.
std::string listOfParameters(const Parameters &parameters, std::string_view prefix);

// Where the parts of a tree's name end: of state.params['w'] after state, .params, ['w'].
std::vector<size_t> treeBorders(std::string_view name);
// Where `separator` first stands outside of brackets and the quotation marks in them; the end
// without one. What stands between commas there.
size_t findOutside(std::string_view text, char separator);
std::vector<std::string> splitNames(std::string_view list);
// The last part of a tree's name without its point, brackets and quotation marks: w.
std::string_view lastWord(std::string_view name);

// The parameter of a name, which NotFound says there is none of.
Result<size_t> indexOfName(const Parameters &parameters, std::string_view prefix,
                           std::string_view name);

} // namespace tessera::runtime
