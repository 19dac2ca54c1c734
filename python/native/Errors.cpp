#include "Errors.h"

namespace tessera::python {

namespace {

// Kept for as long as the process: module state goes before the last exception may come.
nb::object &classes() {
  static auto &object = *new nb::object(nb::dict());
  return object;
}

void raise(nb::handle code, const char *message) {
  nb::object type = nb::borrow(PyDict_GetItem(classes().ptr(), code.ptr()));
  if (!type) {
    PyErr_SetString(PyExc_RuntimeError, message);
    return;
  }
  nb::object error = type(nb::steal(
      PyUnicode_DecodeUTF8(message, static_cast<Py_ssize_t>(strlen(message)), "replace")));
  PyErr_SetObject(type.ptr(), error.ptr());
}

} // namespace

void bindErrors(nb::module_ &m) {
  nb::register_exception_translator([](const std::exception_ptr &thrown, void *) {
    try {
      std::rethrow_exception(thrown);
    } catch (const Error &e) {
      raise(nb::int_(static_cast<int>(e.code)), e.what());
    } catch (const ArgumentTypeError &e) {
      raise(nb::str("type"), e.what());
    }
  });
  m.def("register_errors", [](nb::dict byCode) { classes() = byCode; }, nb::arg("by_code"));
}

} // namespace tessera::python
