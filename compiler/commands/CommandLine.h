// `tessera compile`, `tessera plan`, `tessera explain` and `tessera calibrate`.
#pragma once

#include "lib/command/MeasureProgram.h"

namespace tessera {

// argv[0] is the first argument after the subcommand. Returns the exit code.
int compileCommand(int argc, const char *const *argv);
int planCommand(int argc, const char *const *argv);
int explainCommand(int argc, const char *const *argv);
int calibrateCommand(int argc, const char *const *argv, const command::Measuring &measuring);

} // namespace tessera
