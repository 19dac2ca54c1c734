// Numbers that environment variables set. What is no number or out of range is an error that names
// the variable; it is never read as another number.
#pragma once

#include "runtime/Status.h"
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace tessera::runtime {

// Nothing when the variable is not set.
inline Result<std::optional<double>> environmentNumber(const char *name, double least,
                                                       double most) {
  const char *text = std::getenv(name);
  if (!text)
    return std::optional<double>();
  char *end = nullptr;
  double value = std::strtod(text, &end);
  bool isNumber = std::strchr("0123456789.", *text) && end != text && *end == '\0';
  if (*text && isNumber && value >= least && value <= most)
    return std::optional<double>(value);
  char range[64];
  std::snprintf(range, sizeof range, "%.10g to %.10g", least, most);
  return invalidArgument(std::string(name) + "=" + std::string(text).substr(0, 80) +
                         ": takes a number from " + range);
}

// Seconds for which a GPU, or a rank that others wait for, may stand still; 0: any time.
inline Result<double> progressTimeout() {
  constexpr double kHalfAnHour = 1800;
  auto seconds = environmentNumber("TESSERA_PROGRESS_TIMEOUT", 0, 864000);
  if (!seconds.ok())
    return seconds.status();
  return seconds->value_or(kHalfAnHour);
}

} // namespace tessera::runtime
