// What a program says of a kernel from outside, and the function that the process has for it.
#pragma once

#include "include/tessera/program.pb.h"
#include "runtime/library/Library.h"

namespace tessera::runtime {

// Whether what the kernel is told of its arrays agrees with their sizes.
Status checkOutside(const program::Kernel &kernel);

// `where`: the place in the source of what first calls it.
Result<LibraryKernel> findOutside(const program::Kernel &kernel, uint32_t grid,
                                  const std::string &where);

} // namespace tessera::runtime
