// The meshes that a number of devices can be seen as.
#pragma once

#include "lib/links/Network.h"
#include "lib/mesh/Mesh.h"

#include <optional>

namespace tessera::plan {

constexpr size_t kMostAxes = 3; // of a mesh that is tried
constexpr int64_t kMostDevices = 1 << 20;

// Every way to write `devices` as a product of up to three sizes, named x, y, z.
//   8 devices, links alike     x=8   x=2,y=4   x=2,y=2,z=2
// Where links are alike the order of axes is of no matter: each product once. Axes end where the units
// of a level do, as far as they can:
//   16 devices, hosts of 4     x=16  x=4,y=4   x=2,y=2,z=4   x=4,y=2,z=2
// Where the machine names axes, those are the names, and each size is tried on each.
std::vector<sharding::Mesh> meshesOf(int64_t devices, const links::Network &network);

// Of "data=2,model=4"; none, and what is wrong, where it is no mesh.
std::optional<sharding::Mesh> readMesh(llvm::StringRef text, std::string &wrong);

// "data=2,model=4".
std::string meshText(const sharding::Mesh &mesh);

} // namespace tessera::plan
