// Shardings as JAX writes them.
#pragma once

#include "lib/sharding/Sharding.h"

#include <string>

namespace tessera::mends {

// `P(("data", "model"), None)`; of whole axes only.
std::string specText(const sharding::Mesh &mesh, const sharding::TensorSharding &sharding);

} // namespace tessera::mends
