// The texts of `--help`, made from the table.
#pragma once

#include "lib/command/Commands.h"

#include <string>

namespace tessera::command {

std::string helpOf(const Command &command);
std::string helpOfAll();

} // namespace tessera::command
