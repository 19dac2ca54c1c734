#include "compiler/Entry.h"

#include "dialects/exec/ExecOps.h"
#include "dialects/sdy/PlainData.h"
#include "dialects/sdy/SdyOps.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/SetVector.h"

namespace tessera {

std::string entryOf(mlir::ModuleOp module, llvm::StringRef asked) {
  mlir::SymbolTable symbols(module);
  auto function = symbols.lookup<mlir::func::FuncOp>(asked);
  if (asked != "main" || (function && !function.isExternal()))
    return asked.str();
  llvm::SmallVector<mlir::func::FuncOp> entries;
  for (auto other : module.getOps<mlir::func::FuncOp>())
    if (other.isPublic() && !other.isExternal())
      entries.push_back(other);
  return entries.size() == 1 ? entries.front().getSymName().str() : asked.str();
}

void dropUncalled(mlir::ModuleOp module, llvm::StringRef entry) {
  mlir::SymbolTable symbols(module);
  llvm::SetVector<mlir::Operation *> called;
  if (auto function = symbols.lookup<mlir::func::FuncOp>(entry))
    called.insert(function);
  for (size_t i = 0; i < called.size(); ++i)
    if (auto uses = mlir::SymbolTable::getSymbolUses(called[i]))
      for (mlir::SymbolTable::SymbolUse use : *uses)
        if (auto *other = symbols.lookup(use.getSymbolRef().getRootReference()))
          called.insert(other);
  if (called.empty())
    return;
  for (auto function : llvm::make_early_inc_range(module.getOps<mlir::func::FuncOp>()))
    if (!called.contains(function))
      symbols.erase(function);
}

llvm::LogicalResult selectEntry(mlir::ModuleOp module, llvm::StringRef entry) {
  mlir::SymbolTable symbols(module);
  auto function = symbols.lookup<mlir::func::FuncOp>(entry);
  if (!function || function.isExternal()) {
    std::string others;
    for (auto other : module.getOps<mlir::func::FuncOp>())
      if (other.isPublic() && !other.isExternal())
        others += " " + other.getSymName().str();
    return module.emitError() << "no function @" << entry << " with a body"
                              << (others.empty() ? ", and no other public one"
                                                 : "; --entry=NAME takes one of:" + others);
  }
  for (auto other : module.getOps<mlir::func::FuncOp>())
    if (other != function)
      other.setPrivate();
  function.setPublic();
  if (entry == "main")
    return llvm::success();
  if (mlir::Operation *other = symbols.lookup("main")) { // a mesh may have that name, too
    auto external = llvm::dyn_cast<mlir::func::FuncOp>(other);
    auto uses = mlir::SymbolTable::getSymbolUses(other, module);
    if (external && external.isExternal() && uses && !uses->empty())
      return uses->begin()->getUser()->emitError("calls @main, which has no body in this module");
    if (failed(symbols.rename(other, "main_not_the_entry")))
      return llvm::failure();
  }
  return symbols.rename(function, "main");
}

void dropUnusedMeshes(mlir::ModuleOp module) {
  llvm::SmallVector<sdy::MeshOp> meshes, unused;
  for (auto mesh : module.getOps<sdy::MeshOp>())
    if (!mesh.getMesh().getAxes().empty()) // they say how many devices there are
      meshes.push_back(mesh);
  if (meshes.size() > 1)
    llvm::copy_if(meshes, std::back_inserter(unused), [&](sdy::MeshOp mesh) {
      return mlir::SymbolTable::symbolKnownUseEmpty(mesh, module);
    });
  if (unused.size() == meshes.size() && !unused.empty())
    unused.erase(unused.begin());
  for (sdy::MeshOp mesh : unused)
    mesh.erase();
}

int64_t countDevices(mlir::ModuleOp module) {
  auto programs = module.getOps<exec::ProgramOp>();
  if (!programs.empty()) {
    int64_t devices = 0;
    for (auto program : programs) {
      auto mesh =
          program.getMesh() ? module.lookupSymbol<sdy::MeshOp>(*program.getMesh()) : nullptr;
      devices += mesh ? std::max<int64_t>(mesh.getMesh().getNumDevices(), 1) : 1;
    }
    return devices;
  }
  for (auto mesh : module.getOps<sdy::MeshOp>())
    if (!mesh.getMesh().getAxes().empty())
      return mesh.getMesh().getNumDevices();
  return 1;
}

} // namespace tessera
