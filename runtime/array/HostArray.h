// Whole arrays on the host.
#pragma once

#include "include/tessera/program.pb.h"
#include <cstdint>
#include <string>
#include <vector>

namespace tessera::runtime {

// Dense, row-major, elements as in ElementType.h.
struct HostArray {
  program::ElementType type;
  std::vector<int64_t> shape;
  std::string bytes;
};

} // namespace tessera::runtime
