// Whether what the devices hold of one parameter is what they hold of another.
#pragma once

#include "runtime/array/Layout.h"
#include <string>

namespace tessera::runtime {

// Same type and shape, and every device holds the same tile: an array of the one kind can be used
// as the other.
bool samePlacement(const program::Parameter &a, const MeshGrid &aMesh, const program::Parameter &b,
                   const MeshGrid &bMesh);
std::string describeGlobal(const program::Parameter &parameter); // "f32[8,16]"
std::string describe(const program::Parameter &parameter);       // "f32[8,16] in tiles [4,16]"

} // namespace tessera::runtime
