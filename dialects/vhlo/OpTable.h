// The operations of vhlo as data: which releases have which version of each, and its attributes.
#pragma once

#include "dialects/vhlo/Version.h"
#include "mlir/IR/Attributes.h"
#include "llvm/ADT/SmallVector.h"

namespace tessera::vhlo {

/// How an attribute of StableHLO differs from what stands in the artifact.
enum class Kind {
  Same,    // not at all
  Dims,    // array<i64: 1, 2>, in the artifact a tensor
  Bools,   // array<i1: true>, in the artifact a tensor
  Symbol,  // @f, in the artifact a string
  Symbols, // [@f, @g], in the artifact strings
  Unit,    // present or not, in the artifact a boolean
  Api,     // an i32, in the artifact an enumerator
  // Structures whose fields are attributes of their own in the artifact (Structures.h).
  Dot,
  Algorithm,
  Gather,
  Scatter,
  Conv,
  Channel,
  ChannelId,
};

/// What an attribute means when StableHLO leaves it out; an artifact has all of them.
enum class Default {
  Required,
  False,
  Zero,
  MinusOne,
  EmptyString,
  WrittenEmptyString, // for writing only: StableHLO writes it too
  EmptyList,
  EmptyDictionary,
  EmptyTensor,
  NoType,           // of a comparison
  DefaultPrecision, // of both operands
  DefaultAccuracy,
  OriginalApi,
  BackendConfig, // an empty string, or an empty dictionary for typed calls
  Ones,          // for each dimension of the window
  Falses,        // likewise
  ZeroPairs,     // likewise
  None,          // #vhlo.type_v1<!vhlo.none_v1>
};

struct AttrSpec {
  llvm::StringRef name;
  Kind kind = Kind::Same;
  Default absent = Default::Required;
  /// The versions of the operation that have it.
  unsigned since = 1, until = ~0u;
};

struct OpVersion {
  unsigned number;
  Version from, to;
};

struct OpSpec {
  /// "add"; in the artifact "vhlo.add_v1".
  llvm::StringRef name;
  /// "stablehlo.add".
  std::string plainName;
  llvm::SmallVector<OpVersion, 2> versions;
  llvm::SmallVector<AttrSpec, 4> attrs;

  std::string versionedName(unsigned number) const;
  /// The version that a release has, null when it has none.
  const OpVersion *in(Version release) const;
  /// The attributes of one version in the artifact: structures taken apart, sorted by name.
  llvm::SmallVector<AttrSpec> fields(unsigned number) const;
};

/// All operations, made once.
llvm::ArrayRef<OpSpec> opTable();
/// By the name that StableHLO (or func) gives it; null when there is none.
const OpSpec *findByPlainName(llvm::StringRef plainName);
/// By the name in the artifact, "vhlo.gather_v2", and the number of its version.
std::pair<const OpSpec *, unsigned> findByVersionedName(llvm::StringRef versionedName);

/// The value that an absent attribute stands for. `windowRank` is that of Ones, Falses and
/// ZeroPairs.
mlir::Attribute defaultValue(Default absent, mlir::MLIRContext *context, int64_t windowRank);
/// Whether a plain attribute, as an artifact has it, says no more than its absence.
bool isDefault(Default absent, mlir::Attribute value);

} // namespace tessera::vhlo
