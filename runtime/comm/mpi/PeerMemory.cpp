#include "runtime/comm/mpi/PeerMemory.h"
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <sys/uio.h>

namespace tessera::comm {

bool PeerMemory::isHere(size_t rank) const {
  const ProcessName &own = names_[rank_];
  return *own.machine && std::strncmp(own.machine, names_[rank].machine, sizeof own.machine) == 0;
}

bool PeerMemory::reachesAll() const {
  const char *wish = std::getenv("TESSERA_PEER_MEMORY");
  if (wish && std::string_view(wish) == "off")
    return false;
  for (size_t peer = 0; peer < names_.size(); ++peer) {
    if (!isHere(peer) || peer == static_cast<size_t>(rank_))
      continue;
    // What stands there is known: the process itself, and not another of its number.
    int64_t process = 0;
    iovec here = {&process, sizeof process};
    iovec there = {reinterpret_cast<void *>(names_[peer].known), sizeof process};
    if (process_vm_readv(static_cast<pid_t>(names_[peer].process), &here, 1, &there, 1, 0) !=
            sizeof process ||
        process != names_[peer].process)
      return false;
  }
  return true;
}

std::vector<int64_t> PeerMemory::reachable(const std::vector<char> &reach) const {
  std::vector<int64_t> processes(names_.size());
  for (size_t rank = 0; rank < names_.size(); ++rank)
    if (isHere(rank) && !reach[rank])
      return std::vector<int64_t>(names_.size());
  for (size_t rank = 0; rank < names_.size(); ++rank)
    if (isHere(rank))
      processes[rank] = names_[rank].process;
  return processes;
}

} // namespace tessera::comm
