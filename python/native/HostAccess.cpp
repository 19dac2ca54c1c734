// Reading arrays: views of what a CPU device holds, copies, and DLPack.
#include "Array.h"
#include "HostArray.h"
#include <nanobind/stl/shared_ptr.h>

namespace tessera::python {

namespace {

// Dense bytes of an array that every device holds whole; read-only. A step can't take the array over
// as long as there is one: it works on a copy.
struct HostView {
  std::shared_ptr<Contents> contents;
  const void *data;
};

int getBuffer(PyObject *object, Py_buffer *view, int flags) {
  const auto &self = nb::cast<const HostView &>(nb::handle(object));
  static char nothing = 0;
  size_t bytes = self.contents->placement->bytes();
  return PyBuffer_FillInfo(view, object, bytes ? const_cast<void *>(self.data) : &nothing,
                           static_cast<Py_ssize_t>(bytes), /*readonly=*/1, flags);
}

PyType_Slot viewSlots[] = {{Py_bf_getbuffer, reinterpret_cast<void *>(getBuffer)}, {0, nullptr}};

// None where the host can't see the array in one piece.
nb::object hostView(const Array &array) {
  std::shared_ptr<Contents> contents = array.use();
  if (!array.placement->isWhole)
    return nb::none();
  waitFor(*contents);
  const void *data = contents->tiles[0].hostView();
  return data ? nb::cast(HostView{contents, data}) : nb::none();
}

void readInto(const Array &array, nb::handle into) {
  std::shared_ptr<Contents> contents = array.use();
  WritableBytes bytes(into);
  if (bytes.size() != array.placement->bytes())
    throwInvalid("the array has " + std::to_string(array.placement->bytes()) + " bytes");
  gather(*contents, bytes.data());
}

} // namespace

void bindHostAccess(nb::class_<Array> &array, nb::module_ &m) {
  nb::class_<HostView>(m, "HostView", nb::type_slots(viewSlots));
  array.def("_host_view", &hostView).def("_read", &readInto, nb::arg("into"));
}

} // namespace tessera::python
