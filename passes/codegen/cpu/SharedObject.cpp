#include "passes/codegen/cpu/SharedObject.h"

#include "lib/files/MemoryFile.h"
#include "lld/Common/Driver.h"
#include "llvm/Support/raw_ostream.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <mutex>
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

LLD_HAS_DRIVER(elf)

namespace tessera::codegen {

namespace {

// A name to write to, and a thread that receives what is written. lld makes a temporary file beside
// an output that is a regular file, and maps it: not where it is a pipe.
class ReceivedFile {
public:
  ReceivedFile() {
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0)
      return;
    // Of the writer's name for it, not of this descriptor: lld opens its own, which waits.
    if ((written = eventfd(0, EFD_CLOEXEC)) >= 0)
      started = (errno = pthread_create(&thread, nullptr, receive, this)) == 0;
  }
  ReceivedFile(const ReceivedFile &) = delete;
  ~ReceivedFile() {
    if (started)
      finish();
    for (int descriptor : {ends[0], ends[1], written})
      if (descriptor >= 0)
        close(descriptor);
  }
  // If not, errno says why.
  bool isOpen() const { return started; }
  std::string path() const { return "/proc/self/fd/" + std::to_string(ends[1]); }

  // After all is written. The pipe's end would be no sign of it: a child that somebody forked
  // meanwhile holds it open.
  std::vector<char> finish() {
    eventfd_write(written, 1);
    pthread_join(thread, nullptr);
    started = false;
    return std::move(bytes);
  }

private:
  void receiveWhatIsThere() {
    char part[1 << 14];
    for (ssize_t count; (count = read(ends[0], part, sizeof part)) > 0;)
      bytes.insert(bytes.end(), part, part + count);
  }
  static void *receive(void *self) {
    auto &file = *static_cast<ReceivedFile *>(self);
    pollfd either[] = {{file.ends[0], POLLIN, 0}, {file.written, POLLIN, 0}};
    do {
      poll(either, 2, -1);
      file.receiveWhatIsThere();
    } while (!(either[1].revents & POLLIN));
    return nullptr;
  }

  int ends[2] = {-1, -1}, written = -1;
  bool started = false;
  pthread_t thread;
  std::vector<char> bytes;
};

} // namespace

std::optional<std::vector<char>>
linkSharedObject(llvm::ArrayRef<llvm::SmallVector<char, 0>> objects, std::string &error) {
  static std::mutex oneAtATime; // lld keeps its state in globals
  std::lock_guard lock(oneAtATime);
  auto noMemory = [&](int reason) {
    error = std::string("no memory for the linker's files: ") + std::strerror(reason);
    return std::nullopt;
  };

  std::vector<std::string> arguments{
      "ld.lld",      "-shared", "--build-id=none", "--hash-style=gnu", "-z",
      "noexecstack", "-O0",     "--threads=1"};
  std::vector<files::MemoryFile> inputs;
  for (const auto &object : objects) {
    files::MemoryFile &input = inputs.emplace_back("tessera-kernels.o");
    if (!input.isOpen())
      return noMemory(errno);
    if (int reason = input.write({object.data(), object.size()}))
      return noMemory(reason);
    arguments.push_back(input.path());
  }
  ReceivedFile output;
  if (!output.isOpen())
    return noMemory(errno);
  arguments.insert(arguments.end(), {"-o", output.path()});

  std::vector<const char *> raw;
  for (const std::string &argument : arguments)
    raw.push_back(argument.c_str());
  llvm::raw_string_ostream messages(error);
  lld::Result result = lld::lldMain(raw, messages, messages, {{lld::Gnu, &lld::elf::link}});
  if (result.retCode != 0)
    return std::nullopt;
  std::vector<char> linked = output.finish();
  if (linked.empty()) {
    error = "the linker wrote nothing";
    return std::nullopt;
  }
  error.clear();
  return linked;
}

} // namespace tessera::codegen
