#include "passes/codegen/cpu/SharedObject.h"

#include "lld/Common/Driver.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <mutex>
#include <sys/mman.h>
#include <unistd.h>

LLD_HAS_DRIVER(elf)

namespace tessera::codegen {

std::optional<std::vector<char>>
linkSharedObject(llvm::ArrayRef<llvm::SmallVector<char, 0>> objects, std::string &error) {
  static std::mutex oneAtATime; // lld keeps its state in globals
  std::lock_guard lock(oneAtATime);

  // Inputs are files in memory; lld renames its output into place, so that one is a temporary file.
  std::vector<std::string> arguments{
      "ld.lld",      "-shared", "--build-id=none", "--hash-style=gnu", "-z",
      "noexecstack", "-O0",     "--threads=1"};
  std::vector<int> files;
  llvm::SmallString<128> output;
  llvm::scope_exit cleanUp([&] {
    for (int file : files)
      close(file);
    if (!output.empty())
      llvm::sys::fs::remove(output);
  });
  for (const auto &object : objects) {
    int file = memfd_create("tessera-kernels.o", MFD_CLOEXEC);
    if (file < 0) {
      error = "cannot create a file in memory";
      return std::nullopt;
    }
    files.push_back(file);
    llvm::raw_fd_ostream stream(file, /*shouldClose=*/false);
    stream.write(object.data(), object.size());
    stream.flush();
    arguments.push_back("/proc/self/fd/" + std::to_string(file));
  }
  if (llvm::sys::fs::createTemporaryFile("tessera-kernels", "so", output)) {
    error = "cannot create a temporary file for the linker (is TMPDIR writable?)";
    output.clear();
    return std::nullopt;
  }
  arguments.push_back("-o");
  arguments.push_back(output.str().str());

  std::vector<const char *> raw;
  for (const std::string &argument : arguments)
    raw.push_back(argument.c_str());
  llvm::raw_string_ostream messages(error);
  lld::Result result = lld::lldMain(raw, messages, messages, {{lld::Gnu, &lld::elf::link}});
  if (result.retCode != 0)
    return std::nullopt;
  auto linked =
      llvm::MemoryBuffer::getFile(output, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!linked) {
    error = "cannot read the linker's output";
    return std::nullopt;
  }
  error.clear();
  return std::vector<char>((*linked)->getBufferStart(), (*linked)->getBufferEnd());
}

} // namespace tessera::codegen
