#include "runtime/library/Library.h"

namespace tessera::runtime {

Status badNumbers(const library::Call &call) {
  return invalidProgram("library kernel '" + call.name +
                        "' with numbers that it does not take: compile the program again");
}

Result<LibraryKernel> findLibraryKernel(const library::Call &call) {
  if (call.name == "fft")
    return findFft(call);
  if (call.name == "cholesky")
    return findCholesky(call);
  if (call.name == "triangular_solve")
    return findTriangularSolve(call);
  if (call.name.rfind("lapack.", 0) == 0)
    return findLapack(call);
  return invalidProgram("library kernel '" + call.name +
                        "' is not known to this runtime: compile the program again");
}

} // namespace tessera::runtime
