#include "passes/codegen/gpu/Cubin.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdlib>

namespace tessera::codegen::gpu {

namespace {

// A file that is gone with this.
class Temporary {
public:
  explicit Temporary(llvm::StringRef suffix) {
    if (std::error_code code = llvm::sys::fs::createTemporaryFile("tessera", suffix, path_))
      problem_ = "no temporary file: " + code.message();
    remover_.setFile(path_);
  }
  llvm::StringRef path() const { return path_; }
  const std::string &problem() const { return problem_; }

  void write(llvm::StringRef text) {
    std::error_code code;
    llvm::raw_fd_ostream to(path_, code);
    to << text;
    to.close();
    if (code || to.has_error()) {
      problem_ = ("cannot write " + path_).str();
      to.clear_error();
    }
  }
  std::string read() const {
    auto buffer = llvm::MemoryBuffer::getFile(path_);
    return buffer ? (*buffer)->getBuffer().str() : std::string();
  }

private:
  llvm::SmallString<128> path_;
  llvm::FileRemover remover_;
  std::string problem_;
};

// Kernels are assembled side by side, by as many threads at most. The number is a part of the file, and
// the machine's own is not: the same text gives the same file everywhere.
constexpr char kThreads[] = "--split-compile=8";
constexpr unsigned kWithThreads = 13; // the first release that is known to take it

// Runs it; `said`: what it printed.
bool run(llvm::StringRef program, llvm::ArrayRef<llvm::StringRef> arguments, std::string &said) {
  Temporary output("txt");
  if (said = output.problem(); !said.empty())
    return false;
  llvm::SmallVector<llvm::StringRef> all = {program};
  llvm::append_range(all, arguments);
  std::string wrong;
  int status =
      llvm::sys::ExecuteAndWait(program, all, std::nullopt, {"", output.path(), output.path()},
                                /*SecondsToWait=*/0, /*MemoryLimit=*/0, &wrong);
  said = output.read() + wrong;
  return status == 0;
}

} // namespace

llvm::Expected<Ptxas> Ptxas::find() {
  llvm::SmallVector<std::string> folders;
  for (const char *variable : {"CUDA_HOME", "CUDA_PATH"})
    if (const char *folder = std::getenv(variable); folder && *folder)
      folders.push_back(std::string(folder) + "/bin");
  folders.push_back("/usr/local/cuda/bin");
  auto found = llvm::sys::findProgramByName("ptxas");
  if (!found)
    found = llvm::sys::findProgramByName(
        "ptxas", llvm::SmallVector<llvm::StringRef>(folders.begin(), folders.end()));
  if (!found)
    return llvm::createStringError("there is no ptxas on the path, nor in " +
                                   llvm::join(folders, " or ") +
                                   ": install CUDA's compiler, or leave +cubin out");
  Ptxas ptxas;
  ptxas.path_ = *found;
  std::string said; // "Cuda compilation tools, release 13.0, V13.0.88"
  if (!run(ptxas.path_, {"--version"}, said))
    return llvm::createStringError(ptxas.path_ + " --version: " + said);
  llvm::StringRef version = llvm::StringRef(said).split(", V").second.take_while(
      [](char c) { return llvm::isDigit(c) || c == '.'; });
  ptxas.version_ = "ptxas-" + version.str();
  unsigned major = 0;
  ptxas.hasThreads_ = !version.split('.').first.getAsInteger(10, major) && major >= kWithThreads;
  return ptxas;
}

llvm::Error Ptxas::assemble(llvm::StringRef ptx, llvm::StringRef architecture,
                            llvm::SmallVectorImpl<char> &cubin) const {
  Temporary source("ptx"), target("cubin");
  source.write(ptx);
  std::string said, name = "--gpu-name=" + architecture.str();
  for (const Temporary *file : {&source, &target})
    if (!file->problem().empty())
      return llvm::createStringError(file->problem());
  // No product and sum become one operation, as the driver is not to make of them either.
  llvm::SmallVector<llvm::StringRef> arguments = {name, "--fmad=false", "--output-file",
                                                  target.path(), source.path()};
  if (hasThreads_)
    arguments.insert(arguments.begin() + 1, kThreads);
  if (!run(path_, arguments, said))
    return llvm::createStringError(path_ + " refuses the code for " + architecture + ": " +
                                   llvm::StringRef(said).trim().take_front(500));
  std::string bytes = target.read();
  if (bytes.empty())
    return llvm::createStringError(path_ + " wrote nothing");
  cubin.assign(bytes.begin(), bytes.end());
  return llvm::Error::success();
}

} // namespace tessera::codegen::gpu
