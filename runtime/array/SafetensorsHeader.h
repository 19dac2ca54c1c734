// The header of a .safetensors file, an object in JSON:
//
//   {"__metadata__":{"by":"me"},"w":{"dtype":"F32","shape":[3,5],"data_offsets":[0,60]}}
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::runtime {

struct SafetensorsEntry {
  std::string name, dtype;
  std::vector<int64_t> shape;
  uint64_t begin = 0, end = 0; // of its bytes, after the header
};

// Nothing where the text is not such an object, with just these members: of what is damaged no part
// is guessed. Blanks may follow. `__metadata__` is passed over.
std::optional<std::vector<SafetensorsEntry>> parseSafetensorsHeader(std::string_view text);

} // namespace tessera::runtime
