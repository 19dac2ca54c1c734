// The links of a topology file, for the local communicator to simulate.
#pragma once

#include "runtime/Status.h"
#include "runtime/comm/local/Links.h"
#include <memory>
#include <string>
#include <string_view>

namespace tessera::runtime {

// JSON as docs/topology.md gives it: {"alpha": 1e-6, "beta": 1e10, "axes": {"data": {"alpha":
// .., "beta": ..}}}. Other members are the compiler's.
Result<std::shared_ptr<const Links>> parseTopology(std::string_view text,
                                                   const program::Mesh &mesh);
Result<std::shared_ptr<const Links>> readTopology(const std::string &path,
                                                  const program::Mesh &mesh);

} // namespace tessera::runtime
