// Programs, and what the compiler gives to make them.
#pragma once

#include "Errors.h"

namespace tessera::python {

void bindProgram(nb::module_ &m);
void bindCompiler(nb::module_ &m);
void bindExecutable(nb::module_ &m);

} // namespace tessera::python
