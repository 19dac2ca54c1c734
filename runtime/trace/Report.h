// What `tessera run --report` writes.
#pragma once

#include "runtime/execute/Session.h"
#include <string>
#include <vector>

namespace tessera::runtime {

// {"devices":N,"steps":[seconds],"collectives":{"count","bytes"},"peak_bytes"}
std::string reportJson(int64_t devices, const std::vector<double> &steps, const Counters &counters);

// Of each counter the larger one.
Counters larger(const Counters &a, const Counters &b);

} // namespace tessera::runtime
