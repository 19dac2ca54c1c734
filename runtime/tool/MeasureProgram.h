// Runs a program for `tessera calibrate`.
#pragma once

#include "lib/command/MeasureProgram.h"

namespace tessera {

const command::Measuring &measuring();

} // namespace tessera
