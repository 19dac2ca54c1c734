#include "compiler/source/InputShapes.h"

#include "dialects/sdy/SignatureAttributes.h"
#include "dialects/stablehlo/StablehloOps.h"
#include "dialects/tessera/Marks.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/StringExtras.h"

namespace tessera {
namespace {

// The sizes of `8x128xf32` or `8x128`; what is left of the text is the element type, or empty.
mlir::FailureOr<llvm::SmallVector<int64_t>> takeSizes(llvm::StringRef &text) {
  llvm::SmallVector<int64_t> sizes;
  while (!text.empty() && llvm::isDigit(text.front())) {
    int64_t size;
    if (text.consumeInteger(10, size) || size > int64_t(1) << 40)
      return mlir::failure();
    sizes.push_back(size);
    if (!text.consume_front("x"))
      break;
  }
  return sizes;
}

} // namespace

llvm::LogicalResult noteInputShapes(mlir::ModuleOp module, llvm::StringRef text) {
  auto main = module.lookupSymbol<mlir::func::FuncOp>("main");
  sdy::SignatureAttributes attributes(main);
  llvm::SmallVector<llvm::StringRef> entries;
  text.split(entries, ',', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  for (llvm::StringRef entry : entries) {
    auto wrong = [&]() -> mlir::InFlightDiagnostic {
      return main.emitError() << "--input-shapes: '" << entry << "': ";
    };
    auto [name, shape] = entry.trim().split(':');
    unsigned index;
    if (!name.consume_front("in") || name.getAsInteger(10, index) || !entry.contains(':'))
      return wrong() << "expected in<number>:<sizes>, such as in0:8x128xf32";
    if (index >= main.getNumArguments())
      return wrong() << "@main has " << main.getNumArguments() << " arguments";
    if (getGivenShape(attributes.ofArgument(index)))
      return wrong() << "argument " << index << " is given twice";
    auto type = llvm::dyn_cast<mlir::RankedTensorType>(main.getArgumentTypes()[index]);
    mlir::FailureOr<llvm::SmallVector<int64_t>> sizes = takeSizes(shape);
    if (!type || failed(sizes))
      return wrong() << "no shape for an argument of type " << main.getArgumentTypes()[index];
    if (!shape.empty()) {
      std::string element;
      llvm::raw_string_ostream(element) << type.getElementType();
      if (shape != element)
        return wrong() << "argument " << index << " has elements " << element << ", not " << shape;
    }
    bool fits = sizes->size() == size_t(type.getRank());
    for (int64_t d = 0; fits && d < type.getRank(); ++d)
      fits = type.isDynamicDim(d) || type.getDimSize(d) == (*sizes)[d];
    if (!fits)
      return wrong() << "does not fit argument " << index << " of type " << type;
    if (auto extensions = llvm::dyn_cast_or_null<stablehlo::TypeExtensionsAttr>(type.getEncoding()))
      for (auto [size, bound] : llvm::zip(*sizes, extensions.getBounds()))
        if (!mlir::ShapedType::isDynamic(bound) && size > bound)
          return wrong() << "argument " << index << " has at most " << bound
                         << " in a dimension of size " << size;
    setGivenShape(attributes, index, mlir::RankedTensorType::get(*sizes, type.getElementType()));
  }
  return llvm::success();
}

} // namespace tessera
