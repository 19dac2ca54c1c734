#include "compiler/SourcePlaces.h"

#include "mlir/IR/Location.h"

namespace tessera {

using namespace mlir;

namespace {

std::string joined(std::string outer, llvm::StringRef inner) {
  if (inner.empty() || outer.empty())
    return outer + inner.str();
  return outer + "/" + inner.str();
}

// Names on the way down are scopes until a stack begins: then they are functions.
//   "jit(f)/sin"(callsite("g"("file":3) at "f"("file":9)))
void read(Location location, bool inScope, SourcePlace &place) {
  if (auto fused = dyn_cast<FusedLoc>(location)) {
    if (auto name = dyn_cast_or_null<ValueNameAttr>(fused.getMetadata()))
      place.name = joined(place.name, name.getName()); // of a call, then inside of it
    if (auto number = dyn_cast_or_null<OpNumberAttr>(fused.getMetadata())) {
      bool early = number.getAfter() == NumberedAfter::Import;
      int32_t &slot = early ? place.imported : place.number;
      if (slot < 0)
        slot = number.getNumber();
    }
    size_t frames = place.frames.size(), scope = place.scope.size();
    for (Location part : fused.getLocations()) // where several were merged, the first speaks
      if (place.frames.size() == frames && place.scope.size() == scope)
        read(part, inScope, place);
  } else if (auto name = dyn_cast<NameLoc>(location)) {
    StringRef text = name.getName().getValue();
    bool own = !inScope && !text.ends_with(":"); // "jit:" is a kind of location, not a name
    if (own)
      place.scope = joined(place.scope, text);
    if (auto file = dyn_cast<FileLineColLoc>(name.getChildLoc()); file && inScope)
      place.frames.push_back({text.str(), file.getFilename().str(), file.getLine()});
    else
      read(name.getChildLoc(), inScope || own, place);
  } else if (auto call = dyn_cast<CallSiteLoc>(location)) {
    read(call.getCaller(), inScope, place);
    read(call.getCallee(), inScope, place);
  } else if (auto file = dyn_cast<FileLineColLoc>(location)) {
    place.frames.push_back({"", file.getFilename().str(), file.getLine()});
  }
}

} // namespace

SourcePlace placeOf(Location location) {
  SourcePlace place;
  read(location, /*inScope=*/false, place);
  return place;
}

void setNumber(Operation *op, NumberedAfter after, int32_t number) {
  MLIRContext *context = op->getContext();
  op->setLoc(FusedLoc::get(context, {op->getLoc()}, OpNumberAttr::get(context, number, after)));
}

Location named(Location location, StringRef name) {
  MLIRContext *context = location.getContext();
  return FusedLoc::get(context, {location}, ValueNameAttr::get(context, name));
}

} // namespace tessera
