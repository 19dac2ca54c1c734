#include "runtime/comm/mpi/Arrivals.h"

#include "runtime/comm/LaunchedRank.h"
#include "runtime/comm/mpi/PeerProcess.h"
#include <cerrno>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

namespace tessera::comm {

static std::string variable(const char *name) {
  const char *text = std::getenv(name);
  return text ? text : "";
}

Arrivals::Arrivals()
    : folder_(variable("PMIX_SERVER_TMPDIR")), job_(variable("PMIX_NAMESPACE")),
      rank_(launchedRank()), size_(launcherNumber("OMPI_COMM_WORLD_SIZE")),
      isWhole_(launcherNumber("OMPI_COMM_WORLD_LOCAL_SIZE") == size_) {
  if (folder_.empty() || job_.find('/') != job_.npos || rank_ < 0 || size_ < 0)
    return;
  constexpr int flags = O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC;
  mark_ = open(pathOf(rank_).c_str(), flags, 0600);
  if (mark_ >= 0 && flock(mark_, LOCK_EX | LOCK_NB) != 0) {
    close(mark_); // this file system has no locks
    mark_ = -1;
  }
  ProcessName own = ProcessName::ofThisOne();
  if (mark_ >= 0 && write(mark_, &own, sizeof own) != sizeof own)
    return; // then without
}

std::string Arrivals::pathOf(int rank) const {
  return folder_ + "/tessera-" + job_ + "-" + std::to_string(rank);
}

void Arrivals::end(const std::string &lastWords) const {
  if (mark_ >= 0 && write(mark_, lastWords.data(), lastWords.size()) < 0)
    return; // then without
}

// "ended: ..", or nothing where it has come and runs.
std::string Arrivals::whatBefell(int mark) {
  ProcessName name = {};
  char words[400];
  bool isNamed = read(mark, &name, sizeof name) == sizeof name;
  ssize_t length = isNamed ? read(mark, words, sizeof words) : 0;
  if (length > 0)
    return " ended: " + std::string(words, length);
  if (flock(mark, LOCK_SH | LOCK_NB) == 0)
    return " ended";
  if (!isNamed || !PeerProcess(name).isStopped())
    return "";
  name.host[sizeof name.host - 1] = '\0';
  return " (process " + std::to_string(name.process) + " on " + name.host + ") is stopped";
}

std::string Arrivals::missing() const {
  std::string text, absent;
  int absentCount = 0;
  if (mark_ < 0)
    return "";
  for (int rank = 0; rank < size_; ++rank) {
    if (rank == rank_)
      continue;
    int mark = open(pathOf(rank).c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (mark >= 0) {
      if (std::string what = whatBefell(mark); !what.empty())
        text += (text.empty() ? "rank " : "; rank ") + std::to_string(rank) + what;
      close(mark);
    } else if (errno == ENOENT) {
      absent += (absentCount++ ? ", " : "") + std::to_string(rank);
    }
  }
  if (absentCount) {
    bool areMany = absentCount > 1;
    text += (text.empty() ? "" : "; ") + std::string(areMany ? "ranks " : "rank ") + absent +
            (areMany ? " have" : " has") + " not begun to " +
            (isWhole_ ? "(ended or stopped before, or without --comm=mpi)"
                      : "on this machine (on another one, or ended or stopped before)");
  }
  return text;
}

} // namespace tessera::comm
