// A program without a value needs no memory, and none can be spared.
// RUN: tessera explain %s --memory | FileCheck %s

func.func @main() {
  return
}

// CHECK: Nothing that could be computed again would make it less
