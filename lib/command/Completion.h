// Scripts that make a shell complete `tessera`, made from the table.
#pragma once

#include <string>
#include <string_view>

namespace tessera::command {

// Of bash, zsh or fish; empty for any other shell.
std::string completionFor(std::string_view shell);

} // namespace tessera::command
