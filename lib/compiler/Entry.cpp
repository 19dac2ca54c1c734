#include "lib/compiler/Entry.h"

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

} // namespace tessera
