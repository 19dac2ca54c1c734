// `tessera info`.
#pragma once

namespace tessera {

// argv[0] is the first argument after the subcommand. Returns the exit code.
int infoCommand(int argc, const char *const *argv);

} // namespace tessera
