// tessera-fuzz: runs command lines of tessera, each in a child process that is forked when all
// libraries and dialects are there, so that a bad end costs nobody but the child, and a good one a
// few milliseconds. For test/fuzz.
//
//   tessera-fuzz [--seconds=10] [--bytes=4294967296]
//
// Reads command lines, one a line, arguments separated by tabs: `compile ..`, `plan ..`,
// `explain ..`, `run ..`, and those of Commands.h. Answers each by a line `END CODE SECONDS BYTES`,
// END one of exit, signal, and then BYTES of what the child wrote to its standard error. A child
// has `seconds` of a core and sixteen times that by the clock (others may need the machine, too),
// and `bytes` of memory.
#include "compiler/commands/CommandLine.h"
#include "compiler/source/SandboxedRead.h"
#include "runtime/tool/RunCommand.h"
#include "test/tools/fuzz/Commands.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <string>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace tessera::fuzz {
namespace {

struct Limits {
  rlim_t seconds = 10;
  rlim_t bytes = rlim_t(4) << 30; // beyond what the libraries take; 0: no limit
};

void setLimit(int resource, rlim_t value) {
  rlimit limits{value, value};
  setrlimit(resource, &limits);
}

int execute(const std::vector<std::string> &line) {
  std::vector<const char *> arguments;
  for (const std::string &argument : line)
    arguments.push_back(argument.c_str());
  int argc = static_cast<int>(line.size()) - 1;
  auto is = [&](const char *name, size_t operands) {
    return line[0] == name && line.size() == operands + 1;
  };
  if (line[0] == "compile")
    return compileCommand(argc, arguments.data() + 1);
  if (line[0] == "plan")
    return planCommand(argc, arguments.data() + 1);
  if (line[0] == "explain")
    return explainCommand(argc, arguments.data() + 1);
  if (line[0] == "run")
    return runCommand(argc, arguments.data() + 1);
  if (is("roundtrip", 1))
    return roundTrip(line[1]);
  if (is("cells", 1))
    return cells(line[1]);
  if (is("bytecode", 2))
    return writeBytecode(line[1], line[2]);
  if (is("portable", 3))
    return writePortable(line[1], line[2], line[3]);
  std::fprintf(stderr, "error: no command %s\n", line[0].c_str());
  return 2;
}

[[noreturn]] void child(const std::vector<std::string> &line, const Limits &limits, int messages) {
  setLimit(RLIMIT_CORE, 0);
  setLimit(RLIMIT_CPU, limits.seconds);
  if (limits.bytes)
    setLimit(RLIMIT_AS, addressSpaceInUse() + limits.bytes);
  alarm(static_cast<unsigned>(16 * limits.seconds));
  dup2(messages, STDERR_FILENO);
  if (!std::freopen("/dev/null", "w", stdout))
    _exit(2);
  int code = execute(line);
  std::fflush(nullptr);
  _exit(code);
}

void answer(const std::vector<std::string> &line, const Limits &limits) {
  int messages = memfd_create("messages", MFD_CLOEXEC);
  auto begin = std::chrono::steady_clock::now();
  pid_t pid = fork();
  if (pid == 0)
    child(line, limits, messages);
  int status = 0;
  while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
    ;
  double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  off_t size = lseek(messages, 0, SEEK_END);
  std::string text(size > 0 ? size : 0, '\0');
  if (size > 0 && pread(messages, text.data(), text.size(), 0) < 0)
    text.clear();
  close(messages);
  bool exited = pid > 0 && WIFEXITED(status);
  std::printf("%s %d %.3f %zu\n", exited ? "exit" : "signal",
              exited ? WEXITSTATUS(status) : WTERMSIG(status), seconds, text.size());
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

} // namespace
} // namespace tessera::fuzz

int main(int argc, char **argv) {
  using namespace tessera::fuzz;
  Limits limits;
  for (int i = 1; i < argc; ++i)
    if (!std::strncmp(argv[i], "--seconds=", 10))
      limits.seconds = std::strtoul(argv[i] + 10, nullptr, 10);
    else if (!std::strncmp(argv[i], "--bytes=", 8))
      limits.bytes = std::strtoull(argv[i] + 8, nullptr, 10);
  warmUp();
  std::string text;
  while (std::getline(std::cin, text)) {
    std::vector<std::string> line(1);
    for (char c : text)
      if (c == '\t')
        line.emplace_back();
      else
        line.back() += c;
    answer(line, limits);
  }
}
