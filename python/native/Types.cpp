#include "Types.h"
#include <map>
#include <nanobind/stl/string.h>

namespace tessera::python {

static std::map<std::string, Type> &types() {
  static auto &map = *new std::map<std::string, Type>();
  return map;
}

const Type &typeNamed(const std::string &name) {
  auto found = types().find(name);
  if (found == types().end())
    throw Error(TESSERA_UNIMPLEMENTED,
                ("NumPy has no dtype for " + name + "; a newer ml_dtypes may").c_str());
  return found->second;
}

void bindTypes(nb::module_ &m) {
  m.def(
      "register_type",
      [](const std::string &name, nb::object dtype, nb::object carrier, uint8_t code,
         uint8_t bits) {
        auto bytes = nb::cast<size_t>(dtype.attr("itemsize"));
        types()[name] = {name, bytes, dtype, carrier.is_none() ? nb::object() : carrier,
                         code, bits};
      },
      nb::arg("name"), nb::arg("dtype"), nb::arg("carrier").none(), nb::arg("dlpack_code"),
      nb::arg("dlpack_bits"));
}

} // namespace tessera::python
