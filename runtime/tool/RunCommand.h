// `tessera run`.
#pragma once

namespace tessera {

// argv[0] is the first argument after the subcommand. Returns the exit code.
int runCommand(int argc, const char *const *argv);

} // namespace tessera
