// Which of a file's images of code this machine runs.
#pragma once

#include "include/tessera/program.pb.h"
#include "runtime/Status.h"

namespace tessera::runtime {

// Of the images that the machine can run the one with the most features, the first of several such;
// null where the file has none. An error where none can be run: what the machine lacks of the one
// that asks for least.
Result<const program::CodeImage *> chooseImage(const program::File &file);

} // namespace tessera::runtime
