// The links of a topology file, for the local communicator to simulate.
#pragma once

#include "runtime/Status.h"
#include "runtime/comm/local/Links.h"
#include "runtime/program/LoadedProgram.h"
#include <memory>
#include <string>
#include <string_view>

namespace tessera::runtime {

// A machine's name, or JSON as docs/topology.md gives it: {"alpha": 1e-6, "beta": 1e10, "axes": {"data": {"alpha":
// .., "beta": ..}}}. Other members are the compiler's. Links are those of one mesh: files of several
// programs are refused.
Result<std::shared_ptr<const Links>> parseTopology(std::string_view nameOrText,
                                                   const LoadedProgram &program);
Result<std::shared_ptr<const Links>> readTopology(const std::string &path,
                                                  const LoadedProgram &program);

} // namespace tessera::runtime
