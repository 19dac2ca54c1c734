// Where the parts of a global array lie. Equal placements are one object: whether an array fits an
// input is a comparison of pointers.
#pragma once

#include "Types.h"
#include <memory>
#include <vector>

namespace tessera::python {

struct Placement {
  const Type *type;
  std::vector<int64_t> shape, tile; // of the global array, and of what a device holds
  size_t firstDevice = 0;           // parts[i] lies on device firstDevice + i
  struct Part {
    std::vector<int64_t> start, extent; // of the global array
  };
  std::vector<Part> parts = {};

  // Of what follows, intern sees to.
  std::vector<size_t> distinct = {}; // the first device with each different part
  bool isWhole = false;              // every device holds all of it, without padding
  nb::object shapeTuple = {};
  size_t elements = 1;
  size_t bytes() const { return elements * type->bytes; }
};

// With the GIL.
std::shared_ptr<const Placement> intern(Placement placement);

std::string describe(const Placement &placement); // "float32[8,16] in tiles [4,16]"

void bindPlacement(nb::module_ &m);

} // namespace tessera::python
