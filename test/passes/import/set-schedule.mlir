// What is asked of the order is said on the module; the default is no mark, and what is neither is refused.
// RUN: tessera-opt %s --tessera-set-schedule="overlap=off memory=80GB" | FileCheck %s
// RUN: tessera-opt %s --tessera-set-schedule="memory=1.5KiB" | FileCheck %s --check-prefix=MEMORY
// RUN: tessera-opt %s --tessera-set-schedule | FileCheck %s --check-prefix=DEFAULT
// RUN: not tessera-opt %s --tessera-set-schedule="overlap=most" 2>&1 | FileCheck %s --check-prefix=WRONG
// RUN: not tessera-opt %s --tessera-set-schedule="memory=much" 2>&1 | FileCheck %s --check-prefix=WRONG

// CHECK: module attributes {tessera.schedule = #tessera.schedule<overlap = off, memory = 80000000000>}
// MEMORY: module attributes {tessera.schedule = #tessera.schedule<overlap = auto, memory = 1536>}
// DEFAULT-NOT: tessera.schedule
// WRONG: error: overlap must be auto, on or off, and memory a size such as 80GB

func.func @main() { return }
