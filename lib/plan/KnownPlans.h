// Plans of kinds that people know, made from the classes of a program's dimensions: where a search
// starts, and what its result is compared with.
//
//   data              the batch over an axis, weights whole
//   zero              as data, an optimizer's moments in parts (Rajbhandari et al. 2020, ZeRO)
//   fsdp              as data, weights and moments in parts along what most of them have: the width
//   rows              as data, tables that are looked up by rows
//   tensor            hidden layers, heads and vocabulary (Shoeybi et al. 2019, Megatron-LM)
//   tensor+sequence   and sequences where none of these is (Korthikanti et al. 2022)
//   context           sequences instead of batches; of images: spatial
//   context+fsdp      and weights in parts over the same axis
//   experts           experts, and the batch elsewhere
//
// and mixtures over the axes of a mesh, named in their order: "fsdp x tensor".
#pragma once

#include "lib/plan/DimRoles.h"

namespace tessera::plan {

// What one axis of a mesh is for.
enum class AxisRole : uint8_t {
  Data,
  Zero,
  Fsdp,
  Rows,
  Tensor,
  TensorSequence,
  Context,
  ContextFsdp,
  Experts,
};

using AxisRoles = llvm::SmallVector<AxisRole, 3>; // of the axes of more than one device, in order

// The program must outlive it. What is found out about a program holds for all meshes.
class KnownPlans {
public:
  explicit KnownPlans(const Program &program);

  // What a program has the dimensions for on a mesh.
  std::vector<AxisRoles> on(const sharding::Mesh &mesh) const;

  std::string name(const AxisRoles &roles) const;

  // None where sizes don't divide. What annotations say holds: closed dimensions stay as they are,
  // open ones get what is planned behind what they have.
  std::optional<Assignment> assignment(const sharding::Mesh &mesh, const AxisRoles &roles) const;

  // Nothing in parts but what annotations split.
  Assignment annotated() const;

  const DimRoles &roles() const { return dims; }

private:
  const Program &program;
  DimRoles dims;
  std::vector<double> stateBytes;   // by class of dimensions
  int32_t batch = -1, context = -1; // classes
  bool spatial = false;             // what `context` is
};

// All of them, different ones, "replicated" first. A program with manual computations gets that
// only. For small programs: of large ones make one after another.
std::vector<NamedAssignment> knownPlans(const Program &program, const sharding::Mesh &mesh);

} // namespace tessera::plan
