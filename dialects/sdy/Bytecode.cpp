// Reads the version that JAX's artifacts carry for this dialect. Attributes travel as text, which
// hasn't changed in a way that older text would be refused, so there is nothing to upgrade.
#include "dialects/sdy/SdyOps.h"
#include "mlir/Bytecode/BytecodeImplementation.h"

using namespace mlir;

namespace tessera::sdy {
namespace {

struct Version : DialectVersion {
  uint64_t parts[3];
};

struct Bytecode : BytecodeDialectInterface {
  explicit Bytecode(Dialect *dialect) : BytecodeDialectInterface(dialect) {}

  std::unique_ptr<DialectVersion> readVersion(DialectBytecodeReader &reader) const override {
    auto version = std::make_unique<Version>();
    for (uint64_t &part : version->parts)
      if (failed(reader.readVarInt(part)))
        return nullptr;
    return version;
  }
};

} // namespace

void SdyDialect::registerBytecode() { addInterfaces<Bytecode>(); }

} // namespace tessera::sdy
