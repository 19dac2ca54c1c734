// SHA-256, as of FIPS 180-4: which file a program is. Checksums in the file find damage; this finds
// another file.
#pragma once

#include <string>
#include <string_view>

namespace tessera::runtime {

// 64 hexadecimal digits, lower case.
std::string sha256(std::string_view bytes);

// The digest that a person gave, in lower case; "" when it is not 64 hexadecimal digits.
std::string readSha256(std::string_view text);

} // namespace tessera::runtime
