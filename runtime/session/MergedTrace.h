// One trace of all processes, in the time of rank 0's clock.
#pragma once

#include "lib/files/OutputFile.h"
#include "runtime/trace/Trace.h"

namespace tessera::runtime {

class Transport;

// Null: all is here. Otherwise all ranks call, and rank 0 writes what the others send it. The caller
// commits the file.
Status writeTrace(files::OutputFile &file, Timeline timeline, Transport *transport);

} // namespace tessera::runtime
