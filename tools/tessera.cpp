// tessera: compiles programs and runs them. Neither half loads what only the other needs: the
// compiler (and with it MLIR and LLVM) is a shared library that is opened when a subcommand asks
// for it.
#include "lib/command/Arguments.h"
#include "lib/command/Completion.h"
#include "lib/command/Help.h"
#include "lib/version/Version.h"
#include "runtime/tool/InfoCommand.h"
#include "runtime/tool/MeasureProgram.h"
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
#include <vector>

namespace command = tessera::command;

namespace {

// Null where it cannot be had, which has been said.
void *findInLibrary(const char *name) {
  // What the libraries alone take. With less, their own start would end the process.
  constexpr rlim_t least = rlim_t{384} << 20;
  rlimit memory;
  if (getrlimit(RLIMIT_AS, &memory) == 0 && memory.rlim_cur < least) {
    std::fprintf(stderr,
                 "error: the compiler needs at least 384 MiB of address space, and the "
                 "limit is %llu MiB (ulimit -v)\n",
                 static_cast<unsigned long long>(memory.rlim_cur >> 20));
    return nullptr;
  }
  // Found by the binary's run path, in the build as in an installation.
  void *library = dlopen(TESSERA_COMPILER_LIBRARY, RTLD_LAZY | RTLD_LOCAL);
  if (!library) {
    std::string why = dlerror();
    bool isAbsent = why == TESSERA_COMPILER_LIBRARY ": cannot open shared object file: "
                                                    "No such file or directory";
    const char *what = isAbsent ? "the compiler is not installed beside tessera"
                                : "the compiler cannot be loaded"; // no memory, no MLIR
    std::fprintf(stderr, "error: %s: %s\n", what, why.c_str());
    return nullptr;
  }
  return dlsym(library, name);
}

int commandInLibrary(const char *name, int argc, const char *const *argv) {
  auto run = reinterpret_cast<int (*)(int, const char *const *)>(findInLibrary(name));
  return run ? run(argc, argv) : 1;
}

// A closed standard stream would be the number of the next file that is opened, and what is printed
// would go into that. These give errors instead.
void occupyClosedStreams() {
  for (int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(stream, F_GETFD) < 0)
      open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

int compileCommand(int argc, const char *const *argv) {
  return commandInLibrary("tessera_compile_command", argc, argv);
}
int planCommand(int argc, const char *const *argv) {
  return commandInLibrary("tessera_plan_command", argc, argv);
}
int explainCommand(int argc, const char *const *argv) {
  return commandInLibrary("tessera_explain_command", argc, argv);
}

// The compiler makes the programs, the runtime runs them.
int calibrateCommand(int argc, const char *const *argv) {
  using Command = int (*)(int, const char *const *, const command::Measuring &);
  auto run = reinterpret_cast<Command>(findInLibrary("tessera_calibrate_command"));
  return run ? run(argc, argv, tessera::measuring()) : 1;
}

int print(const std::string &text) {
  std::fputs(text.c_str(), stdout);
  return 0;
}

int fail(const std::string &what) {
  std::fprintf(stderr, "error: %s\n", what.c_str());
  return 1;
}

int completionCommand(int argc, const char *const *argv) {
  command::Arguments arguments(*command::findCommand("completion"), argc, argv);
  std::string script = command::completionFor(arguments.operand());
  if (script.empty())
    arguments.fail("no completion for the shell '" + arguments.operand() +
                   "'; there is bash, zsh and fish");
  return arguments.wrong().empty() ? print(script) : fail(arguments.wrong());
}

struct Handler {
  std::string_view name;
  int (*run)(int argc, const char *const *argv);
};
constexpr Handler kHandlers[] = {
    {"compile", compileCommand},       {"plan", planCommand},
    {"explain", explainCommand},       {"run", tessera::runCommand},
    {"info", tessera::infoCommand},    {"calibrate", calibrateCommand},
    {"completion", completionCommand},
};

int failUnknown(const std::string &name) {
  if (name.empty())
    return fail("no subcommand; see tessera --help");
  std::vector<std::string_view> names;
  for (const command::Command &each : command::commands())
    names.push_back(each.name);
  std::string_view meant = command::nearest(name, names);
  return fail("no subcommand " + name +
              (meant.empty() ? "" : ", did you mean " + std::string(meant) + "?") +
              "; see tessera --help");
}

// Help needs no library of the compiler.
int runSubcommand(int argc, const char *const *argv) {
  std::string name = argc > 1 ? argv[1] : "";
  if (name == "--version")
    return print(std::string("tessera ") + tessera::versionText() + "\n");
  if (name == "--help" || name == "-h" || (name == "help" && argc == 2))
    return print(command::helpOfAll());
  bool asksForHelp = name == "help";
  if (asksForHelp)
    name = argv[2];
  const command::Command *found = command::findCommand(name);
  if (!found)
    return failUnknown(name);
  if (asksForHelp || command::Arguments(*found, argc - 2, argv + 2).asksForHelp())
    return print(command::helpOf(*found));
  for (const Handler &handler : kHandlers)
    if (handler.name == name)
      return handler.run(argc - 2, argv + 2);
  return failUnknown(name);
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
