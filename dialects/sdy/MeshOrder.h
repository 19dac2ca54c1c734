// Devices in the order 0, 1, 2, .. are what a mesh without an order has: one mesh, in whichever of the two
// ways it is written.
#pragma once

#include "dialects/sdy/SdyAttrs.h"
#include "llvm/ADT/STLExtras.h"

namespace tessera::sdy {

// The mesh without an order that says nothing.
inline MeshAttr withoutIota(MeshAttr mesh) {
  if (mesh.getAxes().empty() || !llvm::is_sorted(mesh.getDeviceIds()))
    return mesh;
  return MeshAttr::get(mesh.getContext(), mesh.getAxes(), {});
}

} // namespace tessera::sdy
