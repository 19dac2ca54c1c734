#include "runtime/tool/InfoCommand.h"
#include "runtime/tool/ProgramInfo.h"
#include <cstdio>
#include <cstring>
#include <new>

namespace tessera {

namespace {

const char kUsage[] = R"(usage: tessera info P.tsr [--json]

Says what a compiled program takes and gives, by name, type, shape and sharding; its devices, targets and memory; and what it
moves between devices. Nothing of it is run, and no machine is wrong for it.

  --json  the same for scripts
)";

int describe(int argc, const char *const *argv) {
  const char *path = nullptr;
  bool json = false;
  for (int i = 0; i < argc; ++i) {
    bool isOption = argv[i][0] == '-' && argv[i][1];
    if (!std::strcmp(argv[i], "--json")) {
      json = true;
    } else if (isOption || path) {
      std::fprintf(stderr,
                   isOption ? "error: unknown option %s; see tessera info --help\n"
                            : "error: two programs: %s is the second\n",
                   argv[i]);
      return 1;
    } else {
      path = argv[i];
    }
  }
  if (!path) {
    std::fputs("error: no program: tessera info P.tsr; see tessera info --help\n", stderr);
    return 1;
  }
  std::string digest;
  auto file = runtime::LoadedProgram::inspectFile(path, digest);
  if (!file.ok()) {
    std::fprintf(stderr, "error: %s\n", file.status().message().c_str());
    return 1;
  }
  runtime::FileInfo info = runtime::describeFile(**file);
  info.path = path;
  info.sha256 = digest;
  std::fputs((json ? runtime::infoJson(info) : runtime::infoText(info)).c_str(), stdout);
  return 0;
}

} // namespace

int infoCommand(int argc, const char *const *argv) {
  if (argc > 0 && (!std::strcmp(argv[0], "--help") || !std::strcmp(argv[0], "-h"))) {
    std::fputs(kUsage, stdout);
    return 0;
  }
  try {
    return describe(argc, argv);
  } catch (const std::bad_alloc &) {
    std::fputs("error: out of memory\n", stderr);
    return 1;
  }
}

} // namespace tessera
