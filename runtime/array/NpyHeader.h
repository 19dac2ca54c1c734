// The header of an .npy file, a dictionary in Python's notation:
//
//   {'descr': '<f4', 'fortran_order': False, 'shape': (3, 5), }
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::runtime {

struct NpyHeader {
  std::string descr;
  bool columnMajor;
  std::vector<int64_t> shape;
};

// Nothing where the text is not such a dictionary, with just these keys: of what is damaged no part
// is guessed. Blanks and line ends may follow.
std::optional<NpyHeader> parseNpyHeader(std::string_view text);

} // namespace tessera::runtime
