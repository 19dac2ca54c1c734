#include "runtime/comm/mpi/Arrivals.h"

#include "runtime/comm/LaunchedRank.h"
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
}

std::string Arrivals::pathOf(int rank) const {
  return folder_ + "/tessera-" + job_ + "-" + std::to_string(rank);
}

void Arrivals::end(const std::string &lastWords) const {
  if (mark_ >= 0 && write(mark_, lastWords.data(), lastWords.size()) < 0)
    return; // then without
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
    if (mark < 0 && errno == ENOENT && isWhole_) {
      absent += (absentCount++ ? ", " : "") + std::to_string(rank);
      continue;
    }
    char words[400];
    ssize_t length = mark < 0 ? 0 : read(mark, words, sizeof words);
    bool ended = mark >= 0 && flock(mark, LOCK_SH | LOCK_NB) == 0;
    if (ended || length > 0)
      text += (text.empty() ? "rank " : "; rank ") + std::to_string(rank) + " ended" +
              (length > 0 ? ": " + std::string(words, length) : "");
    if (mark >= 0)
      close(mark);
  }
  if (absentCount)
    text += (text.empty() ? "" : "; ") + std::string(absentCount > 1 ? "ranks " : "rank ") +
            absent + (absentCount > 1 ? " have" : " has") +
            " not begun to (ended, or without --comm=mpi)";
  return text;
}

} // namespace tessera::comm
