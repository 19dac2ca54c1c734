#include "dialects/vhlo/Version.h"
#include "llvm/ADT/SmallVector.h"

namespace tessera::vhlo {

std::optional<Version> Version::parse(llvm::StringRef text) {
  if (text == "current")
    return current;
  llvm::SmallVector<llvm::StringRef> parts;
  text.split(parts, '.');
  Version version;
  unsigned patch;
  if (parts.size() != 3 || parts[0].getAsInteger(10, version.major) ||
      parts[1].getAsInteger(10, version.minor) || parts[2].getAsInteger(10, patch))
    return std::nullopt;
  return version;
}

std::string Version::str() const {
  return std::to_string(major) + "." + std::to_string(minor) + ".0";
}

int Version::bytecodeVersion() const {
  if (*this < Version{0, 10})
    return 0;
  if (*this < Version{0, 12})
    return 1;
  if (*this < Version{0, 14})
    return 3;
  if (*this < Version{0, 15})
    return 4;
  return 6;
}

std::optional<Version> artifactVersion(llvm::StringRef bytes) {
  if (!bytes.consume_front("ML\xefR"))
    return std::nullopt;
  // The bytecode version, a number of one byte so far, and the producer up to a zero byte.
  llvm::StringRef producer = bytes.take_front(64);
  producer = producer.take_front(producer.find('\0'));
  size_t at = producer.find("StableHLO_v");
  if (at == llvm::StringRef::npos)
    return std::nullopt;
  return Version::parse(producer.drop_front(at + strlen("StableHLO_v")));
}

} // namespace tessera::vhlo
