// Devices that hold small arrays of integers, to execute reshard plans and check what every device
// ends up with.
#pragma once

#include "lib/sharding/ReshardSearch.h"
#include <random>

namespace tessera::sharding {

struct Array {
  std::vector<int64_t> shape, data;
  explicit Array(llvm::ArrayRef<int64_t> dims, int64_t fill = 0) : shape(dims.begin(), dims.end()) {
    int64_t n = 1;
    for (int64_t d : shape)
      n *= d;
    data.assign(n, fill);
  }
  int64_t &at(llvm::ArrayRef<int64_t> index) {
    int64_t i = 0;
    for (size_t d = 0; d < shape.size(); ++d)
      i = i * shape[d] + index[d];
    return data[i];
  }
};

// Calls `f` with every index of `shape`.
inline void forEachIndex(llvm::ArrayRef<int64_t> shape,
                         llvm::function_ref<void(llvm::ArrayRef<int64_t>)> f) {
  std::vector<int64_t> index(shape.size(), 0);
  for (int64_t n : shape)
    if (n == 0)
      return;
  while (true) {
    f(index);
    size_t d = shape.size();
    while (d > 0 && ++index[d - 1] == shape[d - 1])
      index[--d] = 0;
    if (d == 0)
      return;
  }
}

class Devices {
public:
  static constexpr int64_t poison = int64_t(1) << 40; // in padding

  // Fills the devices: the parts of element e add up to total(e) over the partial axes.
  Devices(const Mesh &mesh, llvm::ArrayRef<int64_t> shape, const LocalLayout &layout)
      : mesh(mesh), plain(shape), shape(shape), layout(layout) {
    for (int64_t device = 0; device < mesh.numDevices(); ++device) {
      Array local(localShape(layout), poison + device);
      int64_t part = indexAlong(mesh, device, layout.partial);
      int64_t parts = shardCount(layout.partial);
      forEachIndex(local.shape, [&](llvm::ArrayRef<int64_t> index) {
        if (int64_t element = globalElement(device, index); element >= 0)
          local.at(index) = part == 0 ? element * 1000 - parts * (parts - 1) / 2 : part;
      });
      arrays.push_back(std::move(local));
    }
  }

  void execute(const ReshardStep &step);

  // The number of elements that are wrong, over all devices; while the tensor is seen with other
  // dimensions, none.
  int64_t wrong() {
    int64_t count = 0;
    if (shape != plain)
      return count;
    for (int64_t device = 0; device < mesh.numDevices(); ++device)
      forEachIndex(arrays[device].shape, [&](llvm::ArrayRef<int64_t> index) {
        int64_t element = globalElement(device, index);
        if (element < 0)
          return;
        int64_t sum = 0;
        for (int64_t peer : group(device, layout.partial))
          sum += arrays[peer].at(index);
        count += sum != element * 1000;
      });
    return count;
  }

  const LocalLayout &getLayout() const { return layout; }

private:
  // The row-major number of the element that `device` holds at `index`, -1 for padding.
  int64_t globalElement(int64_t device, llvm::ArrayRef<int64_t> index) const {
    int64_t element = 0;
    for (size_t d = 0; d < shape.size(); ++d) {
      int64_t row = indexAlong(mesh, device, layout.dims[d].axes) * layout.dims[d].tile + index[d];
      if (row >= shape[d])
        return -1;
      element = element * shape[d] + row;
    }
    return element;
  }
  // The devices that differ from `device` only along `axes`, in rank order.
  std::vector<int64_t> group(int64_t device, llvm::ArrayRef<AxisRef> axes) const;
  Array exchanged(const ShardExchange &exchange, int64_t rank, const std::vector<int64_t> &peers,
                  llvm::ArrayRef<int64_t> shape);
  Array padded(Array array, int64_t dim, int64_t size, int64_t fill) const;
  Array part(Array &array, int64_t dim, int64_t index, int64_t size) const;

  const Mesh &mesh;
  const std::vector<int64_t> plain; // as the tensor has them
  std::vector<int64_t> shape;
  LocalLayout layout;
  std::vector<Array> arrays;
};

} // namespace tessera::sharding
