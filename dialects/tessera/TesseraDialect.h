// The tessera dialect: the types of what one phase leaves for another. Read and written by the
// functions of Marks.h.
#pragma once

#include "dialects/sdy/SdyAttrs.h"
#include "lib/cost/ScheduleOptions.h"
#include "lib/sharding/Sharding.h"
#include "lib/target/Target.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Dialect.h"

namespace tessera::cost {
struct Topology;
}

#include "dialects/tessera/TesseraDialect.h.inc"
#include "dialects/tessera/TesseraEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/tessera/TesseraAttrs.h.inc"
