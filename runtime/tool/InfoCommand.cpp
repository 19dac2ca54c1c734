#include "runtime/tool/InfoCommand.h"
#include "lib/command/Arguments.h"
#include "runtime/tool/ProgramInfo.h"
#include <cstdio>
#include <new>

namespace tessera {

namespace {

int describe(int argc, const char *const *argv) {
  command::Arguments arguments(*command::findCommand("info"), argc, argv);
  if (!arguments.wrong().empty()) {
    std::fprintf(stderr, "error: %s\n", arguments.wrong().c_str());
    return 1;
  }
  const std::string &path = arguments.operand();
  std::string digest;
  auto file = runtime::LoadedProgram::inspectFile(path, digest);
  if (!file.ok()) {
    std::fprintf(stderr, "error: %s\n", file.status().message().c_str());
    return 1;
  }
  runtime::FileInfo info = runtime::describeFile(**file);
  info.path = path;
  info.sha256 = digest;
  std::fputs((arguments.has("--json") ? runtime::infoJson(info) : runtime::infoText(info)).c_str(),
             stdout);
  return 0;
}

} // namespace

int infoCommand(int argc, const char *const *argv) {
  try {
    return describe(argc, argv);
  } catch (const std::bad_alloc &) {
    std::fputs("error: out of memory\n", stderr);
    return 1;
  }
}

} // namespace tessera
