// Shardings as JAX writes them.
#pragma once

#include "lib/sharding/Sharding.h"

#include <string>

namespace tessera::mends {

// `data`, and of a part `data:(1)2`, which JAX has no word for.
std::string axisText(const sharding::Mesh &mesh, const sharding::AxisRef &axis);

// `P(("data", "model"), None)`.
std::string specText(const sharding::Mesh &mesh, const sharding::TensorSharding &sharding);

} // namespace tessera::mends
