// Text as JSON has it.
#pragma once

#include <string>

namespace tessera::text {

// In quotation marks, with what cannot stand between them escaped; bytes of UTF-8 stay what they
// are.
std::string quoted(const std::string &text);

} // namespace tessera::text
