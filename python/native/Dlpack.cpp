// Arrays for other libraries by DLPack (its specification: dmlc.github.io/dlpack): without a copy where
// one device, or each, holds the whole.
#include "Array.h"
#include <cstring>
#include <memory>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>

namespace tessera::python {

namespace {

constexpr int32_t kCpu = 1;

struct Tensor {
  void *data;
  struct {
    int32_t type, id;
  } device;
  int32_t rank;
  struct {
    uint8_t code, bits;
    uint16_t lanes;
  } type;
  int64_t *shape, *strides; // in elements
  uint64_t byteOffset;
};

struct Managed {
  Tensor tensor;
  void *context;
  void (*free)(Managed *);
};

struct ManagedVersioned {
  struct {
    uint32_t major, minor;
  } version;
  void *context;
  void (*free)(ManagedVersioned *);
  uint64_t flags;
  Tensor tensor;
};
constexpr uint64_t kReadOnly = 1, kIsCopied = 2;

// What an exported tensor keeps: what the devices hold, or a copy.
struct Kept {
  std::shared_ptr<Contents> contents;
  std::unique_ptr<char[]> copy;
  std::vector<int64_t> shape, strides;
  Managed plain;
  ManagedVersioned versioned;
};

void drop(Kept *kept) {
  if (!Py_IsInitialized()) // at the process's end: left to the system
    return;
  nb::gil_scoped_acquire locked;
  delete kept;
}

template <class T> constexpr const char *nameOf = "dltensor";
template <> constexpr const char *nameOf<ManagedVersioned> = "dltensor_versioned";

// Of a capsule that nobody has taken the tensor from.
template <class T> void freeCapsule(PyObject *capsule) {
  if (!PyCapsule_IsValid(capsule, nameOf<T>))
    return;
  auto *managed = static_cast<T *>(PyCapsule_GetPointer(capsule, nameOf<T>));
  managed->free(managed);
}

template <class T> nb::object capsuleOf(std::unique_ptr<Kept> kept, T &managed) {
  managed.context = kept.get();
  managed.free = [](T *self) { drop(static_cast<Kept *>(self->context)); };
  PyObject *capsule = PyCapsule_New(&managed, nameOf<T>, freeCapsule<T>);
  if (!capsule)
    throw nb::python_error();
  kept.release();
  return nb::steal(capsule);
}

[[noreturn]] void refuse(const char *why) { throw nb::buffer_error(why); }

// Points the tensor at what the devices hold, or at a copy.
void fill(Kept &kept, Tensor &tensor, const std::optional<bool> &copy) {
  const Placement &p = *kept.contents->placement;
  if (!p.type->dlpackBits)
    refuse("DLPack has no type for the array's elements");
  waitFor(*kept.contents);
  const void *data = p.isWhole ? kept.contents->tiles[0].hostView() : nullptr;
  if (copy.value_or(false)) {
    kept.copy.reset(new char[std::max<size_t>(p.bytes(), 1)]);
    gather(*kept.contents, kept.copy.get());
    data = kept.copy.get();
    kept.contents.reset();
  } else if (!data) {
    refuse("the array is cut into parts, or not on the CPU: DLPack can't have it without a copy");
  }
  kept.shape = p.shape;
  int64_t stride = 1;
  kept.strides.resize(p.shape.size());
  for (size_t i = p.shape.size(); i-- > 0; stride *= p.shape[i])
    kept.strides[i] = stride;
  tensor = {const_cast<void *>(data),
            {kCpu, 0},
            static_cast<int32_t>(p.shape.size()),
            {p.type->dlpackCode, p.type->dlpackBits, 1},
            kept.shape.data(),
            kept.strides.data(),
            0};
}

nb::object exportTensor(const Array &array, nb::handle stream,
                        std::optional<std::pair<uint32_t, uint32_t>> newest,
                        std::optional<std::pair<int32_t, int32_t>> device,
                        std::optional<bool> copy) {
  if (!stream.is_none())
    refuse("a CPU has no streams");
  if (device && device->first != kCpu)
    refuse("the array can be exported to the CPU only");
  auto kept = std::make_unique<Kept>();
  kept->contents = array.use();
  Kept &raw = *kept;
  if (!newest || newest->first < 1) {
    fill(raw, raw.plain.tensor, copy);
    return capsuleOf(std::move(kept), raw.plain);
  }
  fill(raw, raw.versioned.tensor, copy);
  raw.versioned.version = {1, 0};
  raw.versioned.flags = raw.copy ? kIsCopied : kReadOnly;
  return capsuleOf(std::move(kept), raw.versioned);
}

} // namespace

void bindDlpack(nb::class_<Array> &array) {
  array
      .def("__dlpack__", &exportTensor, nb::kw_only(), nb::arg("stream").none() = nb::none(),
           nb::arg("max_version").none() = nb::none(), nb::arg("dl_device").none() = nb::none(),
           nb::arg("copy").none() = nb::none())
      .def("__dlpack_device__", [](const Array &) { return std::pair(kCpu, 0); });
}

} // namespace tessera::python
