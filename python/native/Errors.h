// How failures become Python exceptions: by the code of the C interface, each of which has a class of
// tessera/errors.py.
#pragma once

#include "tessera/runtime.h"
#include <nanobind/nanobind.h>

namespace tessera::python {

namespace nb = nanobind;

// An argument of a type that the function can't take.
struct ArgumentTypeError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

[[noreturn]] inline void throwInvalid(const std::string &message) {
  throw Error(TESSERA_INVALID_ARGUMENT, message.c_str());
}
[[noreturn]] inline void throwPrecondition(const std::string &message) {
  throw Error(TESSERA_FAILED_PRECONDITION, message.c_str());
}

void bindErrors(nb::module_ &m);

} // namespace tessera::python
