// Releases of StableHLO as portable artifacts name them: "1.13.0".
#pragma once

#include "llvm/ADT/StringRef.h"
#include <compare>
#include <optional>
#include <string>

namespace tessera::vhlo {

/// A release without its patch number, which never changes what an artifact may hold.
struct Version {
  unsigned major = 0, minor = 0;

  auto operator<=>(const Version &) const = default;

  /// Reads "1.13.0" or "current"; nothing when it is neither.
  static std::optional<Version> parse(llvm::StringRef text);
  std::string str() const;

  /// The version of MLIR's bytecode that readers of this release know.
  int bytecodeVersion() const;
};

/// The first release whose artifacts can be read for ever after, and the newest known here.
inline constexpr Version oldest{0, 9}, current{1, 20};

/// From this release on, operations of other dialects (sdy) stand between those of vhlo.
inline constexpr Version mixesDialects{1, 11};

/// The release that wrote an artifact, by the producer in its header ("StableHLO_v1.13.0"); nothing
/// when `bytes` is no portable artifact.
std::optional<Version> artifactVersion(llvm::StringRef bytes);

} // namespace tessera::vhlo
