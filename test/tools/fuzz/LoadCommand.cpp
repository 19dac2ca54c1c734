#include "runtime/execute/Session.h"
#include "runtime/program/LoadedProgram.h"
#include "test/tools/fuzz/Commands.h"
#include <cstdio>
#include <exception>

namespace tessera::fuzz {

int load(const std::string &path) {
  runtime::Status status;
  try {
    auto program = runtime::LoadedProgram::loadFile(path);
    status = program.status();
    if (program.ok())
      status = runtime::Session::create(*program, {}).status();
  } catch (const std::exception &e) {
    status = {runtime::Code::Failed, e.what()};
  }
  if (status.ok())
    return 0;
  std::fprintf(stderr, "error: %s\n", status.message().c_str());
  return 1;
}

} // namespace tessera::fuzz
