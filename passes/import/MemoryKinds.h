// The kinds of memory that JAX names.
#pragma once

#include "dialects/comm/CommOps.h"
#include <optional>
#include <string>

namespace tessera::import {

// Nothing for a kind that no device has.
std::optional<comm::Space> spaceOfKind(llvm::StringRef kind);
std::string unknownKind(llvm::StringRef kind);

} // namespace tessera::import
