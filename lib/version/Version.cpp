#include "lib/version/Version.h"

namespace tessera {

const char *versionText() { return TESSERA_VERSION; }

} // namespace tessera
