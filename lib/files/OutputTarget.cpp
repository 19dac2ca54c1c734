#include "lib/files/OutputTarget.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

namespace tessera::files {

OutputTarget::~OutputTarget() {
  if (directory >= 0)
    close(directory);
}

// Opens the directory part of a path that is relative to another one.
static int openDirectory(int from, const std::string &path) {
  size_t slash = path.rfind('/');
  std::string part = slash == path.npos ? "." : path.substr(0, slash + 1);
  int opened = openat(from, part.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  // One may write into a directory without being allowed to list it.
  return opened < 0 && errno == EACCES
             ? openat(from, part.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)
             : opened;
}

std::string OutputTarget::find(const std::string &path) {
  if (path == "-" || path == "/dev/stdout") {
    kind = Kind::StandardOutput;
    return "";
  }
  std::string rest = path;
  for (int links = 0; links < 40; ++links) {
    int from = directory < 0 ? AT_FDCWD : directory, opened = openDirectory(from, rest);
    if (opened < 0)
      return std::strerror(errno);
    if (directory >= 0)
      close(directory);
    directory = opened;
    name = rest.substr(rest.rfind('/') + 1);
    if (name.empty() || name == "." || name == "..")
      return std::strerror(EISDIR);
    // Links in /proc are no paths.
    struct statfs system;
    if (fstatfs(directory, &system) == 0 && system.f_type == PROC_SUPER_MAGIC) {
      kind = Kind::Stream;
      return "";
    }
    struct stat info;
    if (fstatat(directory, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0)
      return errno == ENOENT ? "" : std::strerror(errno);
    if (S_ISLNK(info.st_mode)) {
      char link[4096];
      ssize_t length = readlinkat(directory, name.c_str(), link, sizeof link);
      if (length < 0 || length == sizeof link)
        return std::strerror(length < 0 ? errno : ENAMETOOLONG);
      rest.assign(link, length);
      continue;
    }
    if (S_ISDIR(info.st_mode))
      return std::strerror(EISDIR);
    if (!S_ISREG(info.st_mode)) {
      kind = Kind::Stream;
      return "";
    }
    exists = true;
    mode = info.st_mode & 0777;
    owner = info.st_uid;
    group = info.st_gid;
    return checkReplaceable();
  }
  return std::strerror(ELOOP);
}

// What would only come out when the file is moved into place, after all the work.
std::string OutputTarget::checkReplaceable() {
  if (faccessat(directory, name.c_str(), W_OK, AT_EACCESS) != 0)
    return std::strerror(errno);
  struct stat above;
  if (fstat(directory, &above) == 0 && (above.st_mode & S_ISVTX) && geteuid() != 0 &&
      above.st_uid != geteuid() && owner != geteuid())
    return "another user's file in a directory where only its owner may replace it";
  struct statx details;
  if (statx(directory, name.c_str(), AT_SYMLINK_NOFOLLOW, STATX_BASIC_STATS, &details) == 0) {
    if (details.stx_attributes & details.stx_attributes_mask & STATX_ATTR_MOUNT_ROOT)
      return "it is a mount point, which no file can be moved over";
    if (details.stx_attributes & details.stx_attributes_mask &
        (STATX_ATTR_IMMUTABLE | STATX_ATTR_APPEND))
      return "it is immutable or append-only";
  }
  return "";
}

} // namespace tessera::files
