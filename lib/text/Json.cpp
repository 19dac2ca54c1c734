#include "lib/text/Json.h"
#include <cstdio>

namespace tessera::text {

std::string quoted(const std::string &text) {
  std::string out = "\"";
  for (char c : text) {
    char escaped[8];
    std::snprintf(escaped, sizeof escaped, "\\u%04x", static_cast<unsigned>(c) & 0xff);
    if (c == '"' || c == '\\')
      out += std::string("\\") + c;
    else
      out += static_cast<unsigned char>(c) < 32 ? escaped : std::string(1, c);
  }
  return out + '"';
}

} // namespace tessera::text
