// tessera: compiles programs and runs them. Neither half loads what only the other needs: the
// compiler (and with it MLIR and LLVM) is a shared library that is opened when a subcommand asks
// for it.
#include "runtime/tool/InfoCommand.h"
#include "runtime/tool/RunCommand.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <string>

namespace {

const char kUsage[] = R"(usage: tessera compile IN.mlir -o OUT.tsr [options]
       tessera explain IN.mlir [options]
       tessera run P.tsr --inputs=IN.npz --outputs=OUT.npz [options]
       tessera info P.tsr [--json]

compile  turns a StableHLO module with Shardy annotations into a program for many devices
explain  says why such a module is sharded as it is, and what that moves
run      executes a compiled program
info     says what a compiled program takes, gives, needs and moves
`tessera SUBCOMMAND --help` tells the options.
)";

// The build and an installation both keep libraries in ../lib of the binary.
std::string besideBinary(const char *library) {
  char path[4096];
  ssize_t length = readlink("/proc/self/exe", path, sizeof path);
  std::string binary(path, length > 0 ? length : 0);
  return binary.substr(0, binary.rfind('/') + 1) + "../lib/" + library;
}

int commandInLibrary(const char *name, int argc, char **argv) {
  // What the libraries alone take. With less, their own start would end the process.
  constexpr rlim_t least = rlim_t{384} << 20;
  rlimit memory;
  if (getrlimit(RLIMIT_AS, &memory) == 0 && memory.rlim_cur < least) {
    std::fprintf(stderr,
                 "error: the compiler needs at least 384 MiB of address space, and the "
                 "limit is %llu MiB (ulimit -v)\n",
                 static_cast<unsigned long long>(memory.rlim_cur >> 20));
    return 1;
  }
  std::string path = besideBinary("libtessera_compiler.so");
  bool isHere = access(path.c_str(), F_OK) == 0;
  void *library = dlopen(isHere ? path.c_str() : "libtessera_compiler.so", RTLD_LAZY | RTLD_LOCAL);
  if (!library) {
    const char *what = isHere ? "the compiler cannot be loaded" // no memory, no MLIR
                              : "the compiler is not installed beside tessera";
    std::fprintf(stderr, "error: %s: %s\n", what, dlerror());
    return 1;
  }
  using Command = int (*)(int, const char *const *);
  return reinterpret_cast<Command>(dlsym(library, name))(argc, argv);
}

// A closed standard stream would be the number of the next file that is opened, and what is printed
// would go into that. These give errors instead.
void occupyClosedStreams() {
  for (int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(stream, F_GETFD) < 0)
      open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

int runSubcommand(int argc, char **argv) {
  const char *command = argc > 1 ? argv[1] : "";
  if (!std::strcmp(command, "compile"))
    return commandInLibrary("tessera_compile_command", argc - 2, argv + 2);
  if (!std::strcmp(command, "explain"))
    return commandInLibrary("tessera_explain_command", argc - 2, argv + 2);
  if (!std::strcmp(command, "run"))
    return tessera::runCommand(argc - 2, argv + 2);
  if (!std::strcmp(command, "info"))
    return tessera::infoCommand(argc - 2, argv + 2);
  if (!std::strcmp(command, "--help") || !std::strcmp(command, "-h") ||
      !std::strcmp(command, "help")) {
    std::fputs(kUsage, stdout);
    return 0;
  }
  std::fprintf(stderr, "error: %s; see tessera --help\n",
               *command ? ("no subcommand " + std::string(command)).c_str() : "no subcommand");
  return 1;
}

} // namespace

int main(int argc, char **argv) {
  occupyClosedStreams();
  std::signal(SIGXFSZ, SIG_IGN); // `ulimit -f`: an error of the file that is written
  int code = runSubcommand(argc, argv);
  if (std::fflush(stdout) != 0 || std::ferror(stdout)) {
    std::fprintf(stderr, "error: standard output: cannot be written: %s\n", std::strerror(errno));
    code = 1;
  }
  return code;
}
