// Which rank this process will be, before it has connected: what a launcher (mpirun, srun) says in
// the environment.
#pragma once

#include <cstdlib>
#include <string>

namespace tessera::comm {

/// A number that the first of these variables that is set holds; -1 without one.
template <class... Names> int launcherNumber(Names... names) {
  for (const char *name : {names...}) {
    const char *text = std::getenv(name);
    if (!text || !*text)
      continue;
    char *end = nullptr;
    long value = std::strtol(text, &end, 10);
    return *end == '\0' && value >= 0 && value < 1 << 30 ? static_cast<int>(value) : -1;
  }
  return -1;
}

inline int launchedRank() {
  return launcherNumber("OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID");
}

/// "rank 2: ", to begin an error with; nothing where no launcher says.
inline std::string launchedAs() {
  int rank = launchedRank();
  return rank < 0 ? "" : "rank " + std::to_string(rank) + ": ";
}

} // namespace tessera::comm
