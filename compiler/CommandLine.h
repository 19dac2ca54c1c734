// `tessera compile` and `tessera explain`.
#pragma once

namespace tessera {

// argv[0] is the first argument after the subcommand. Returns the exit code.
int compileCommand(int argc, const char *const *argv);
int explainCommand(int argc, const char *const *argv);

} // namespace tessera
