// Groups of devices by mesh axes: five attributes, each a few named fields, as text and bytecode have them.
#pragma once

#include "dialects/vhlo/Vhlo.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace tessera::vhlo {

/// What a field holds: an attribute, or a number where that is null.
struct Field {
  mlir::Attribute attribute;
  int64_t number = 0;
};

struct FieldName {
  llvm::StringLiteral name;
  bool isNumber = false, isOptional = false;
};

/// The fields of `form` in their order; none when it is no form of this kind.
llvm::ArrayRef<FieldName> fieldNames(AttrForm form);

/// What the fields of `plain` hold, plain, in the order of their names. What is left out is null.
llvm::SmallVector<Field, 2> fieldsOf(mlir::Attribute plain);

/// The attribute of these fields, null after an error when they are none.
mlir::Attribute fromFields(AttrForm form, llvm::ArrayRef<Field> fields,
                           llvm::function_ref<mlir::InFlightDiagnostic()> error,
                           mlir::MLIRContext *context);

} // namespace tessera::vhlo
