#include "lib/cost/ProductTile.h"

#include <algorithm>
#include <cmath>

namespace tessera::cost {

Tile tileOf(const Product &product, double lanesOfVector) {
  double width = lanesOfVector / (product.type == ProductType::F64 ? 2 : 1);
  double lanes = std::min(width, std::exp2(std::ceil(std::log2(std::max(product.n, 1.0)))));
  if (product.isTurned)
    return {std::min(product.m, width), lanes, 1};
  double vectors = product.n > lanes ? 2 : 1;
  double registers = lanesOfVector >= 16 ? 32 : 16;
  double most = std::min(std::floor((registers - 2 - vectors) / vectors), 12.0);
  if (product.m <= most)
    return {product.m, lanes * vectors, vectors};
  double best = 1e300, chosen = 4;
  for (double rows = std::min(most, 8.0); rows >= 4; --rows)
    if (double cost = std::ceil(product.m / rows) * (rows + 1.5); cost < best)
      best = cost, chosen = rows;
  return {chosen, lanes * vectors, vectors};
}

} // namespace tessera::cost
