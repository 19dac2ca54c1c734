// Runs a program for `tessera calibrate`.
#pragma once

#include "lib/command/MeasureProgram.h"

namespace tessera {

std::string measureProgram(const command::ProgramToMeasure &program, std::vector<double> &seconds);

} // namespace tessera
