// Kernels from outside in the C interface.
#include "runtime/capi/Guard.h"
#include "runtime/library/Outside.h"

using namespace tessera::runtime;

extern "C" {

tessera_code tessera_register_kernel(const char *name, TesseraKernel function,
                                     const tessera_kernel_options *options) {
  return guarded([&]() -> Status {
    if (!name || !function)
      return invalidArgument("tessera_register_kernel: a null argument");
    if (!*name)
      return invalidArgument("tessera_register_kernel: an empty name");
    if (options && options->struct_size < sizeof *options)
      return invalidArgument("tessera_kernel_options: set struct_size first");
    OutsideFunction outside{function};
    if (options)
      outside = {function, options->user, options->scratch_bytes, options->check};
    return registerOutsideKernel(name, outside);
  });
}

} // extern "C"
