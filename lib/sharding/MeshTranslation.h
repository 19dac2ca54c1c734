// The axes of one mesh in the words of another over as many devices or more.
#pragma once

#include "lib/mesh/Mesh.h"
#include <optional>

namespace tessera::sharding {

// Where the axes of `from` are axes of `to`, or parts of them, every part stays on its device:
//   from <["p"=4, "q"=2]> to <["x"=2, "y"=4]>      p is x, y:(1)2; q is y:(2)2
// Elsewhere the devices of `from` are renumbered: its axes are cut into primes, of which both
// meshes have the same, and each prime is taken for one of `to`. Which device holds a part changes,
// but for all values on `from` alike, so a program that names no devices means the same.
//   from <["p"=3, "q"=2]> to <["x"=2, "y"=3]>      p is y, q is x
// A mesh of fewer devices has a part of the primes: devices beyond it repeat what lies on it.
//   from <["p"=4]> to <["x"=2, "y"=4]>             p is y, and x repeats it
// Where its number doesn't divide that of the others, primes that these lack have no place: values
// are cut into fewer parts.
//   from <["p"=4]> to <["x"=2, "y"=3]>             p:(1)2 is x, p:(2)2 is lost
// `used`: parts of axes that should have a translation each. All do but where they cut an axis in
// ways that don't nest, as z:(1)2 and z:(1)3.
class MeshTranslation {
public:
  MeshTranslation(const Mesh &to, const Mesh &from, llvm::ArrayRef<AxisRef> usedOfTo,
                  llvm::ArrayRef<AxisRef> usedOfFrom);

  bool isPossible() const { return possible; } // false: `from` has more devices
  bool keepsDevices() const { return keeps; }  // those of `from` hold what it says they do
  // Whether all of the axis has a place in `to`.
  bool holds(const AxisRef &axis) const;

  // Without what is lost. None where no parts of `to` are this one.
  std::optional<AxisRefs> axesOf(const AxisRef &axis) const;
  std::optional<AxisRefs> axesOf(llvm::ArrayRef<AxisRef> axes) const; // normalized

private:
  struct Part {
    AxisRef from;
    std::optional<AxisRef> to; // none: lost
  };
  std::vector<Part> parts;
  bool possible = false, keeps = false;
};

// The mesh with axes cut so that each of `needed` is whole: x:(2)2 of "x"=8 makes "x_0"=2, "x_1"=2,
// "x_2"=2.
Mesh refined(const Mesh &mesh, llvm::ArrayRef<AxisRef> needed);

} // namespace tessera::sharding
