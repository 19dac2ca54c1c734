// What no phase reads goes: it would be copied along by some passes and not by others, and keep
// apart what is equal. What stays is in dialects/tessera/KnownAttributes.cpp.
//
//   %0 = stablehlo.tanh %x {my.note = "hot"} : tensor<8xf32>
// becomes
//   %0 = stablehlo.tanh %x : tensor<8xf32>
#include "passes/import/Passes.h"

#include "dialects/sdy/SignatureAttributes.h"
#include "dialects/tessera/KnownAttributes.h"

namespace tessera {
#define GEN_PASS_DEF_DROPUNREADATTRIBUTES
#include "passes/import/Passes.h.inc"

using namespace mlir;

namespace {

DictionaryAttr known(DictionaryAttr attributes) {
  if (!attributes || llvm::all_of(attributes, [](NamedAttribute attribute) {
        return isKnownAttribute(attribute.getName());
      }))
    return attributes;
  NamedAttrList list;
  for (NamedAttribute attribute : attributes)
    if (isKnownAttribute(attribute.getName()))
      list.push_back(attribute);
  return list.getDictionary(attributes.getContext());
}

struct DropUnreadAttributes : impl::DropUnreadAttributesBase<DropUnreadAttributes> {
  void runOnOperation() override {
    getOperation().walk([](Operation *op) {
      for (NamedAttribute attribute : llvm::to_vector(op->getDiscardableAttrs()))
        if (!isKnownAttribute(attribute.getName()))
          op->removeDiscardableAttr(attribute.getName());
      auto function = dyn_cast<FunctionOpInterface>(op);
      if (!function)
        return;
      sdy::SignatureAttributes signature(function);
      for (unsigned i = 0; i < function.getNumArguments(); ++i)
        signature.replaceArgument(i, known(signature.ofArgument(i)));
      for (unsigned i = 0; i < function.getNumResults(); ++i)
        signature.replaceResult(i, known(signature.ofResult(i)));
    });
  }
};

} // namespace
} // namespace tessera
