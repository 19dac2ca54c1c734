#include "dialects/sdy/SignatureAttributes.h"

namespace tessera::sdy {

using namespace mlir;

static DictionaryAttr with(DictionaryAttr attributes, MLIRContext *context, StringRef name,
                           Attribute value) {
  NamedAttrList list(attributes);
  list.set(name, value);
  return list.getDictionary(context);
}

SignatureAttributes::SignatureAttributes(FunctionOpInterface function) : function(function) {
  function.getAllArgAttrs(arguments);
  function.getAllResultAttrs(results);
}

SignatureAttributes::~SignatureAttributes() {
  if (changedArguments)
    function.setAllArgAttrs(arguments);
  if (changedResults)
    function.setAllResultAttrs(results);
}

void SignatureAttributes::replaceArgument(unsigned index, DictionaryAttr attributes) {
  changedArguments |= arguments[index] != attributes;
  arguments[index] = attributes;
}

void SignatureAttributes::replaceResult(unsigned index, DictionaryAttr attributes) {
  changedResults |= results[index] != attributes;
  results[index] = attributes;
}

void SignatureAttributes::setArgument(unsigned index, StringRef name, Attribute value) {
  replaceArgument(index, with(arguments[index], function.getContext(), name, value));
}

void SignatureAttributes::setResult(unsigned index, StringRef name, Attribute value) {
  replaceResult(index, with(results[index], function.getContext(), name, value));
}

void SignatureAttributes::removeArgument(unsigned index, StringRef name) {
  NamedAttrList list(arguments[index]);
  if (list.erase(name))
    replaceArgument(index, list.getDictionary(function.getContext()));
}

void SignatureAttributes::removeResult(unsigned index, StringRef name) {
  NamedAttrList list(results[index]);
  if (list.erase(name))
    replaceResult(index, list.getDictionary(function.getContext()));
}

} // namespace tessera::sdy
