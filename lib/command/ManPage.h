// The manual page tessera(1), made from the table.
#pragma once

#include <string>
#include <string_view>

namespace tessera::command {

// In the macros of man(7).
std::string manPage(std::string_view version);

} // namespace tessera::command
