#include "lib/cost/BranchLinks.h"

#include <algorithm>
#include <cmath>

namespace tessera::cost {

LinkUse eitherOf(LinkUse one, double secondsOfOne, LinkUse other, double secondsOfOther) {
  double more = secondsOfOne - secondsOfOther;
  LinkUse &shorter = more > 0 ? other : one;
  shorter.from += std::abs(more);
  shorter.until += std::abs(more);
  if (!one.links || !other.links)
    return one.links ? one : other;
  return {one.links | other.links, std::min(one.from, other.from),
          std::min(one.until, other.until)};
}

} // namespace tessera::cost
