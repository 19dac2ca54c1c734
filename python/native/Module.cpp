// tessera._native: the runtime and the compiler for the Python sources in python/tessera.
#include "Array.h"
#include "HostArray.h"
#include "Program.h"
#include "tessera/container.h"

NB_MODULE(_native, m) {
  using namespace tessera::python;
  if (PyInterpreterState_Get() != PyInterpreterState_Main()) {
    PyErr_SetString(PyExc_ImportError, "tessera works in the main interpreter of a process only");
    throw nanobind::python_error();
  }
  nanobind::set_leak_warnings(false); // what a user's globals hold at the end is no mistake
  m.attr("VERSION") = tessera_version();
  m.attr("MAX_DEVICES") = tessera::container::kMostDevices;
  bindErrors(m);
  bindTypes(m);
  bindHostArray(m);
  bindPlacement(m);
  bindClient(m);
  bindArray(m);
  bindProgram(m);
  bindCompiler(m);
  bindExecutable(m);
}
