#include "passes/import/MemoryKinds.h"

#include "llvm/ADT/StringSwitch.h"

namespace tessera::import {

std::optional<comm::Space> spaceOfKind(llvm::StringRef kind) {
  return llvm::StringSwitch<std::optional<comm::Space>>(kind)
      .Case("device", comm::Space::Device)
      .Cases({"pinned_host", "unpinned_host"}, comm::Space::Host)
      .Default(std::nullopt);
}

std::string unknownKind(llvm::StringRef kind) {
  return ("memory of the kind '" + kind +
          "' is none that a device has; there are 'device', 'pinned_host' and 'unpinned_host'")
      .str();
}

} // namespace tessera::import
