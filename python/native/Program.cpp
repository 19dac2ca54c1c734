#include "Program.h"
#include <nanobind/stl/string_view.h>

namespace tessera::python {

void bindProgram(nb::module_ &m) {
  nb::class_<tessera::Program>(m, "Program")
      .def(
          "__init__",
          [](tessera::Program *self, nb::bytes data) {
            std::string_view bytes(data.c_str(), data.size());
            nb::gil_scoped_release unlocked;
            new (self) tessera::Program(bytes);
          },
          nb::arg("data"))
      .def_static(
          "inspect",
          [](nb::bytes data) {
            std::string_view bytes(data.c_str(), data.size());
            nb::gil_scoped_release unlocked;
            return tessera::Program::inspect(bytes);
          },
          nb::arg("data"))
      .def_prop_ro("devices", &tessera::Program::devices)
      .def_prop_ro("info", &tessera::Program::info)
      .def_prop_ro("report", &tessera::Program::report);
}

} // namespace tessera::python
