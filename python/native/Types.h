// Element types as NumPy and DLPack know them. Python registers them: ml_dtypes has the small ones.
#pragma once

#include "Errors.h"
#include <cstdint>
#include <string>

namespace tessera::python {

struct Type {
  std::string name; // "f32"
  size_t bytes;
  nb::object dtype;
  nb::object carrier; // a dtype of the same size that the buffer protocol has; null: dtype itself
  uint8_t dlpackCode, dlpackBits; // bits 0: DLPack has none
};

// Lives for good. An error for a type that NumPy has no dtype for.
const Type &typeNamed(const std::string &name);

void bindTypes(nb::module_ &m);

} // namespace tessera::python
