// Meshes of devices and references to their axes, as plain data.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <string>
#include <vector>

namespace tessera::sharding {

struct MeshAxis {
  std::string name;
  int64_t size;
  bool operator==(const MeshAxis &) const = default;
};

// A named grid of logical devices. Device d of the mesh sits at the row-major coordinates of d, unless
// `deviceIds` gives a permutation: then deviceIds[i] is the logical device at row-major position i.
struct Mesh {
  std::string name;
  std::vector<MeshAxis> axes;
  std::vector<int64_t> deviceIds; // empty: 0, 1, 2, ..

  int64_t numDevices() const;
  int32_t axisIndex(llvm::StringRef axisName) const; // -1 when there is none
};

// A mesh axis or a part of one. With axis "x" of size 8 seen as 2 x 2 x 2 (major to minor), the middle part is
// {preSize 2, size 2}: preSize = product of the parts more major than it. A whole axis has preSize 1.
struct AxisRef {
  int32_t axis;
  int64_t preSize = 1;
  int64_t size;

  bool operator==(const AxisRef &) const = default;
  auto operator<=>(const AxisRef &) const = default;
};

using AxisRefs = llvm::SmallVector<AxisRef, 2>;

AxisRef wholeAxis(const Mesh &mesh, int32_t axis);
bool isWhole(const Mesh &mesh, const AxisRef &ref);

// Whether two references use a common part of the same axis.
bool overlap(const AxisRef &a, const AxisRef &b);
bool overlap(llvm::ArrayRef<AxisRef> a, llvm::ArrayRef<AxisRef> b);

// Product of the sizes: the number of shards these axes make.
int64_t shardCount(llvm::ArrayRef<AxisRef> axes);

// Adjacent parts of one axis become one reference: x:(1)2, x:(2)4 -> x:(1)8.
AxisRefs normalized(llvm::ArrayRef<AxisRef> axes);

// The linear index of `device` along `axes` (major to minor): its rank in the group those axes span.
int64_t indexAlong(const Mesh &mesh, int64_t device, llvm::ArrayRef<AxisRef> axes);

} // namespace tessera::sharding
