#include "lib/files/OutputFile.h"

#include "lib/files/Write.h"
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tessera::files {

namespace {

constexpr size_t kBuffered = 1 << 18;

// 0 or errno. Some file systems know no such thing.
int synchronize(int descriptor) {
  if (fsync(descriptor) == 0 || errno == EINVAL || errno == ENOSYS || errno == EOPNOTSUPP ||
      errno == EBADF)
    return 0;
  return errno;
}

} // namespace

OutputFile::~OutputFile() { closeStream(); }

std::string OutputFile::open(const std::string &path) {
  path_ = path;
  struct stat here, standard;
  isStandardOutput_ =
      path == "-" || (stat(path.c_str(), &here) == 0 && fstat(STDOUT_FILENO, &standard) == 0 &&
                      here.st_dev == standard.st_dev && here.st_ino == standard.st_ino);
  if (std::string reason = target_.find(path); !reason.empty())
    return fail(reason);
  if (target_.kind != OutputTarget::Kind::File)
    return openStream();
  removeLeftOvers(target_.directory);
  // Until it is finished nobody may read more of it than of the file that it replaces.
  if (int error = file_.create(target_.directory, target_.exists ? 0600 : 0666))
    return fail(error);
  descriptor_ = file_.descriptor();
  return "";
}

std::string OutputFile::openStream() {
  if (target_.kind == OutputTarget::Kind::StandardOutput) {
    path_ = "standard output";
    descriptor_ = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    return descriptor_ < 0 ? fail(errno) : "";
  }
  constexpr int flags = O_WRONLY | O_TRUNC | O_NOCTTY | O_CLOEXEC | O_NONBLOCK;
  for (int wait = 0; wait < 250; ++wait) {
    descriptor_ = ::open(path_.c_str(), flags);
    struct stat info;
    if (descriptor_ >= 0)
      break;
    int error = errno;
    if (error != ENXIO || stat(path_.c_str(), &info) != 0 || !S_ISFIFO(info.st_mode))
      return fail(error);
    poll(nullptr, 0, 20);
  }
  if (descriptor_ < 0)
    return fail("nobody reads this pipe");
  fcntl(descriptor_, F_SETFL, fcntl(descriptor_, F_GETFL) & ~O_NONBLOCK);
  return "";
}

std::string OutputFile::write(std::string_view bytes) {
  if (!wrong_.empty())
    return wrong_;
  if (buffer_.size() + bytes.size() <= kBuffered) {
    buffer_.append(bytes);
    return "";
  }
  int error = flush();
  if (!error)
    error = writeAll(descriptor_, bytes);
  return error ? fail(error) : "";
}

int OutputFile::flush() {
  int error = writeAll(descriptor_, buffer_);
  buffer_.clear();
  return error;
}

std::string OutputFile::finish() {
  if (!wrong_.empty() || finished_ || !isOpen())
    return wrong_;
  if (int error = flush())
    return fail(error);
  finished_ = true;
  if (target_.kind != OutputTarget::Kind::File) {
    int closed = ::close(descriptor_);
    descriptor_ = -1;
    return closed != 0 && errno != EINTR ? fail(errno) : "";
  }
  struct stat info;
  if (target_.exists && fstat(descriptor_, &info) == 0) {
    if ((target_.owner != info.st_uid || target_.group != info.st_gid) &&
        fchown(descriptor_, target_.owner, target_.group) != 0 &&
        fchown(descriptor_, -1, target_.group) != 0)
      target_.mode &= 0707; // another group's rights are not given to ours
    if (fchmod(descriptor_, target_.mode) != 0)
      return fail(errno);
  }
  int error = synchronize(descriptor_);
  return error ? fail(error) : "";
}

std::string OutputFile::commit() {
  if (std::string wrong = finish(); !wrong.empty() || !file_.isPending())
    return wrong;
  descriptor_ = -1;
  if (int error = file_.moveTo(target_.name))
    return fail(error);
  int error = synchronize(target_.directory);
  return error ? fail(error) : "";
}

bool OutputFile::isSameFile(const OutputFile &other) const {
  struct stat here, there;
  return file_.isPending() && other.file_.isPending() && target_.name == other.target_.name &&
         fstat(target_.directory, &here) == 0 && fstat(other.target_.directory, &there) == 0 &&
         here.st_dev == there.st_dev && here.st_ino == there.st_ino;
}

std::string openTogether(std::initializer_list<std::pair<std::string, OutputFile *>> outputs) {
  for (auto &[path, file] : outputs) {
    if (path.empty())
      continue;
    if (std::string wrong = file->open(path); !wrong.empty())
      return wrong;
    for (auto &[earlier, other] : outputs)
      if (other != file && file->isSameFile(*other))
        return path + ": two outputs in one file";
  }
  return "";
}

std::string commitTogether(std::initializer_list<OutputFile *> files) {
  for (OutputFile *file : files)
    if (std::string wrong = file->finish(); !wrong.empty())
      return wrong;
  for (OutputFile *file : files)
    if (std::string wrong = file->commit(); !wrong.empty())
      return wrong;
  return "";
}

std::string OutputFile::fail(int error) { return fail(std::strerror(error)); }

std::string OutputFile::fail(const std::string &reason) {
  wrong_ = path_ + ": cannot be written: " + reason;
  closeStream();
  file_.remove();
  descriptor_ = -1;
  buffer_.clear();
  return wrong_;
}

void OutputFile::closeStream() {
  if (descriptor_ >= 0 && target_.kind != OutputTarget::Kind::File)
    ::close(descriptor_);
}

} // namespace tessera::files
