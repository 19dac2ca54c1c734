#include "lib/files/InputFile.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace tessera::files {

namespace {

constexpr size_t kMostOfStream = size_t{512} << 20;

// Closed when it goes.
struct Opened {
  int descriptor;
  struct stat info = {};

  // Without waiting for a pipe's other end.
  explicit Opened(const std::string &path)
      : descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)) {
    stat();
  }
  explicit Opened(int own) : descriptor(own) { stat(); }
  ~Opened() {
    if (descriptor >= 0)
      close(descriptor);
  }
  // errno says why not.
  bool ok() const { return descriptor >= 0; }
  int release() { return std::exchange(descriptor, -1); }

private:
  void stat() {
    if (descriptor >= 0 && (fstat(descriptor, &info) != 0 || S_ISDIR(info.st_mode))) {
      int error = S_ISDIR(info.st_mode) ? EISDIR : errno;
      close(release());
      errno = error;
    }
  }
};

// Until its end. A named pipe ends before it begins where nobody has opened it for writing yet:
// then its writer is waited for.
std::string readStream(int descriptor, bool named, bool waitsForMore, std::string &text) {
  int waits = named ? 250 : 0;
  // Amounts that grow with the text, so that it is moved seldom and never twice as large.
  while (text.size() <= kMostOfStream) {
    size_t before = text.size(), step = std::max<size_t>(1 << 16, before / 4);
    text.resize(before + step);
    ssize_t count = ::read(descriptor, text.data() + before, step);
    int error = errno;
    text.resize(before + std::max<ssize_t>(count, 0));
    if (count > 0 || (count < 0 && error == EAGAIN))
      waits = 0; // there is a writer
    if (count == 0 && waits == 0)
      return named && text.empty() ? "nothing came out of this pipe" : "";
    if (count == 0) {
      --waits;
      poll(nullptr, 0, 20);
    } else if (count < 0 && error == EAGAIN && waitsForMore) {
      pollfd ready = {descriptor, POLLIN, 0};
      poll(&ready, 1, -1);
    } else if (count < 0 && error != EINTR) {
      return std::strerror(error);
    }
  }
  return "more than " + std::to_string(kMostOfStream >> 20) +
         " MiB from what is no regular file: write them to a file first";
}

std::string readRegular(int descriptor, size_t size, std::string &text) {
  text.resize(size);
  size_t at = 0;
  while (at < size) {
    ssize_t count = ::read(descriptor, text.data() + at, size - at);
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      return std::strerror(errno);
    if (count == 0)
      break;
    at += count;
  }
  text.resize(at);
  return "";
}

} // namespace

std::optional<InputFile> InputFile::open(const std::string &path, std::string &wrong) {
  Opened opened(path);
  if (!opened.ok()) {
    wrong = path + ": " + std::strerror(errno);
    return std::nullopt;
  }
  if (!S_ISREG(opened.info.st_mode)) {
    wrong = path + ": is no regular file: a pipe or a device cannot be read by position";
    return std::nullopt;
  }
  return InputFile(path, opened.release(), opened.info.st_size);
}

InputFile::InputFile(InputFile &&other) noexcept
    : path_(std::move(other.path_)), descriptor_(std::exchange(other.descriptor_, -1)),
      size_(other.size_) {}

InputFile::~InputFile() {
  if (descriptor_ >= 0)
    close(descriptor_);
}

std::string InputFile::read(uint64_t offset, char *to, size_t bytes) const {
  while (bytes > 0) {
    ssize_t count = pread(descriptor_, to, bytes, static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      return path_ + ": " + std::strerror(errno);
    if (count == 0)
      return path_ + ": it ends after " + std::to_string(offset) +
             " bytes (was it changed meanwhile?)";
    offset += count;
    to += count;
    bytes -= count;
  }
  return "";
}

std::optional<std::string> readWhole(const std::string &path, std::string &wrong) {
  bool standard = path == "-" || path == "/dev/stdin";
  Opened opened = standard ? Opened(fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)) : Opened(path);
  if (!opened.ok()) {
    wrong = path + ": cannot be read: " + std::strerror(errno);
    return std::nullopt;
  }
  std::string text, reason;
  mode_t type = opened.info.st_mode & S_IFMT;
  if (type == S_IFREG && opened.info.st_size > 0 && lseek(opened.descriptor, 0, SEEK_CUR) == 0)
    reason = readRegular(opened.descriptor, opened.info.st_size, text);
  else if (type == S_IFREG) // /proc/kmsg waits for messages, and has no end
    reason = readStream(opened.descriptor, false, false, text);
  else if (type == S_IFIFO || type == S_IFSOCK || (standard && isatty(opened.descriptor)))
    reason = readStream(opened.descriptor, !standard, true, text);
  else
    reason = "it is a device";
  if (reason.empty())
    return text;
  wrong = path + ": cannot be read: " + reason;
  return std::nullopt;
}

} // namespace tessera::files
