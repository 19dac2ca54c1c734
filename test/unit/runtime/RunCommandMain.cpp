// `tessera run` without the compiler beside it, for tests that start processes.
#include "runtime/tool/RunCommand.h"

int main(int argc, char **argv) { return tessera::runCommand(argc - 1, argv + 1); }
