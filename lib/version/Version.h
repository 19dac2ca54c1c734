// Which release this is.
#pragma once

namespace tessera {

// "0.1.0": what CMakeLists.txt says of the project.
const char *versionText();

} // namespace tessera
