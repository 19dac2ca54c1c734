// Arrays of the host that Python objects have.
#pragma once

#include "Placement.h"

namespace tessera::python {

// What a Python object says of an array that has a placement's type and shape: a NumPy array of that
// dtype is read where it is, anything else is first made into one (tessera/_host.py).
class HostArray {
public:
  HostArray(nb::handle value, const Placement &expected, const std::string &who);
  ~HostArray() { PyBuffer_Release(&buffer_); }
  HostArray(const HostArray &) = delete;
  HostArray &operator=(const HostArray &) = delete;

  const char *data() const { return static_cast<const char *>(buffer_.buf); }
  const std::vector<int64_t> &strides() const { return strides_; }

private:
  Py_buffer buffer_;
  std::vector<int64_t> strides_;
};

// The bytes of a dense array that is written to.
class WritableBytes {
public:
  explicit WritableBytes(nb::handle object) {
    if (PyObject_GetBuffer(object.ptr(), &buffer_, PyBUF_C_CONTIGUOUS | PyBUF_WRITABLE) != 0)
      throw nb::python_error();
  }
  ~WritableBytes() { PyBuffer_Release(&buffer_); }
  WritableBytes(const WritableBytes &) = delete;
  WritableBytes &operator=(const WritableBytes &) = delete;

  char *data() const { return static_cast<char *>(buffer_.buf); }
  size_t size() const { return static_cast<size_t>(buffer_.len); }

private:
  Py_buffer buffer_;
};

void bindHostArray(nb::module_ &m);

} // namespace tessera::python
