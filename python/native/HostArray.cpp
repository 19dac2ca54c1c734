#include "HostArray.h"
#include <nanobind/stl/string.h>

namespace tessera::python {

namespace {

// Of tessera/_host.py; kept for as long as the process.
struct Conversions {
  nb::object ndarray; // numpy.ndarray
  nb::object toNumpy; // (value, dtype) -> ndarray of that dtype
};

Conversions &conversions() {
  static auto &all = *new Conversions();
  return all;
}

// An array of NumPy that has the dtype.
nb::object arrayOf(nb::handle value, const Type &type, const std::string &who) {
  auto &with = conversions();
  if (value.type().is(with.ndarray) && type.dlpackBits >= 8) {
    nb::object dtype = value.attr("dtype");
    if (dtype.is(type.dtype) || dtype.equal(type.dtype))
      return nb::borrow(value);
  }
  return with.toNumpy(value, type.dtype, nb::cast(who));
}

} // namespace

HostArray::HostArray(nb::handle value, const Placement &expected, const std::string &who) {
  nb::object array = arrayOf(value, *expected.type, who);
  if (expected.type->carrier)
    array = array.attr("view")(expected.type->carrier);
  if (PyObject_GetBuffer(array.ptr(), &buffer_, PyBUF_STRIDED_RO) != 0)
    throw nb::python_error();
  std::vector<int64_t> shape(buffer_.shape, buffer_.shape + buffer_.ndim);
  if (shape != expected.shape) {
    std::string given = nb::cast<std::string>(nb::str(nb::object(array.attr("shape"))));
    PyBuffer_Release(&buffer_);
    throwInvalid(who + " has shape " + given + ", expected is " +
                 nb::cast<std::string>(nb::str(expected.shapeTuple)));
  }
  strides_.assign(buffer_.strides, buffer_.strides + buffer_.ndim);
}

void bindHostArray(nb::module_ &m) {
  m.def(
      "register_conversions",
      [](nb::object ndarray, nb::object toNumpy) { conversions() = {ndarray, toNumpy}; },
      nb::arg("ndarray"), nb::arg("to_numpy"));
}

} // namespace tessera::python
