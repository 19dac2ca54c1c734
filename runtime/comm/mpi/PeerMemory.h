// Which peers' memory a process may read and write: those of its machine, where the system lets all of
// them (process_vm_readv; a container may forbid it, or Yama where processes have other parents).
// TESSERA_PEER_MEMORY=off forbids it.
#pragma once

#include "runtime/comm/mpi/PeerProcess.h"
#include <vector>

namespace tessera::comm {

class PeerMemory {
public:
  // Of all ranks, gathered.
  PeerMemory(const std::vector<ProcessName> &names, int rank) : names_(names), rank_(rank) {}

  // Whether this process reaches all others of its machine.
  bool reachesAll() const;
  // By rank, the process where both reach each other, as `reach` of all ranks says; this one's own
  // too. Otherwise 0.
  std::vector<int64_t> reachable(const std::vector<char> &reach) const;

private:
  bool isHere(size_t rank) const;

  const std::vector<ProcessName> &names_;
  const int rank_;
};

} // namespace tessera::comm
