// Keys by content, for maps: numbers and the axes of shardings, one behind another. Lists of which
// the length may vary have it in front.
#pragma once

#include "lib/sharding/Sharding.h"

#include <string>
#include <type_traits>

namespace tessera::sharding {

template <typename Number>
  requires std::is_arithmetic_v<Number>
void appendKey(std::string &key, Number number) {
  // Integers of all widths are one.
  std::conditional_t<std::is_floating_point_v<Number>, double, int64_t> wide(number);
  key.append(reinterpret_cast<const char *>(&wide), sizeof wide);
}

void appendKey(std::string &key, llvm::ArrayRef<AxisRef> axes);

// The axes alone: equal for shardings that place values alike.
void appendKey(std::string &key, const TensorSharding &sharding);

} // namespace tessera::sharding
