// Attributes with fields, such as dimension numbers: in an artifact each field is an attribute.
#pragma once

#include "dialects/vhlo/OpTable.h"

namespace tessera::vhlo {

/// Reads a list of attributes in the notation of the table of operations.
llvm::SmallVector<AttrSpec, 4> parseAttrSpecs(llvm::StringRef text);

/// The fields of a structure in their order; empty for kinds that are no structure.
llvm::ArrayRef<AttrSpec> structureFields(Kind kind);

/// The values of the fields; empty when `value` is not of the structure.
llvm::SmallVector<mlir::Attribute> takeApart(Kind kind, mlir::Attribute value);

/// The structure from its fields, null among them for those that an older version lacks. Null when
/// a field is not what it should be. `absent` is set when the fields say that there is no such
/// attribute.
mlir::Attribute putTogether(Kind kind, llvm::ArrayRef<mlir::Attribute> fields, bool &absent);

/// The numbers of array<i64: ..> or of a dense tensor of i64; nothing for other attributes.
std::optional<llvm::SmallVector<int64_t>> integersOf(mlir::Attribute value);

} // namespace tessera::vhlo
