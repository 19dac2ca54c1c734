#include "lib/compiler/Entry.h"

#include "dialects/sdy/PlainData.h"
#include "dialects/sdy/SdyOps.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/SymbolTable.h"

namespace tessera {

llvm::LogicalResult selectEntry(mlir::ModuleOp module, llvm::StringRef entry) {
  mlir::SymbolTable symbols(module);
  auto function = symbols.lookup<mlir::func::FuncOp>(entry);
  if (!function || function.isExternal()) {
    auto diagnostic = module.emitError()
                      << "no function @" << entry << " with a body; --entry=NAME takes one of:";
    for (auto other : module.getOps<mlir::func::FuncOp>())
      if (other.isPublic() && !other.isExternal())
        diagnostic << " " << other.getSymName();
    return diagnostic;
  }
  for (auto other : module.getOps<mlir::func::FuncOp>())
    if (other != function)
      other.setPrivate();
  function.setPublic();
  if (entry == "main")
    return llvm::success();
  if (auto other = symbols.lookup<mlir::func::FuncOp>("main"))
    if (failed(symbols.rename(other, "main_not_the_entry")))
      return llvm::failure();
  return symbols.rename(function, "main");
}

mlir::FailureOr<int64_t> countDevices(mlir::ModuleOp module) {
  sdy::MeshOp first;
  int64_t devices = 1;
  for (auto mesh : module.getOps<sdy::MeshOp>()) {
    sharding::Mesh plain = sdy::toMesh(mesh);
    if (plain.axes.empty())
      continue;
    if (!first) {
      first = mesh;
      devices = plain.numDevices();
    } else if (plain.numDevices() != devices) {
      return mesh.emitError() << "mesh @" << mesh.getSymName() << " has " << plain.numDevices()
                              << " devices and mesh @" << first.getSymName() << " has " << devices
                              << "; all meshes of a program must have the same number";
    }
  }
  return devices;
}

} // namespace tessera
