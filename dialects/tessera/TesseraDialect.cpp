#include "dialects/tessera/TesseraDialect.h"

#include "dialects/tessera/TesseraDialect.cpp.inc"

namespace tessera {

void TesseraDialect::initialize() { registerAttributes(); }

} // namespace tessera
