// The symbols that libtessera_compiler.so exports.
#include "lib/compiler/CommandLine.h"

#define TESSERA_EXPORT extern "C" __attribute__((visibility("default")))

TESSERA_EXPORT int tessera_compile_command(int argc, const char *const *argv) {
  return tessera::compileCommand(argc, argv);
}
