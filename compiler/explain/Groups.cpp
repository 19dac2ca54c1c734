#include "compiler/explain/Groups.h"

#include "llvm/ADT/MapVector.h"

namespace tessera {

namespace {

constexpr size_t kShown = 4;       // mends of one group
constexpr double kRepeated = 0.01; // of a step: what is computed again and is worth a word

std::string quotedList(llvm::ArrayRef<std::string> names) {
  std::string text;
  for (const std::string &name : names)
    text += (text.empty() ? "\"" : "\" and \"") + name;
  return text + "\"";
}

class Groups {
public:
  Groups(explain::Explanation &explanation, const mends::Outcome &now)
      : all(explanation), now(now) {}

  void addCollectives(llvm::ArrayRef<std::string> sites) {
    for (auto [i, each] : llvm::enumerate(all.collectives)) {
      auto [at, fresh] = ofSite.try_emplace(sites[i], all.groups.size());
      if (fresh) { // the first is the dearest
        explain::Group group;
        group.what = each.kind + " over " + each.axes;
        group.cause = each.cause;
        group.value = each.value;
        group.place = each.location;
        describe(group);
        all.groups.push_back(std::move(group));
      }
      explain::Group &group = all.groups[at->second];
      group.seconds += each.seconds;
      group.wireBytes += each.wireBytes;
      group.collectives.push_back(int32_t(i));
    }
  }

  void addRepeated(const mends::Observations &seen, const ExplainedModule &explained,
                   double flopsPerSecond) {
    for (const mends::RepeatedProducts &each : seen.repeated) {
      double seconds = each.flops / flopsPerSecond;
      if (seconds < kRepeated * now.time.seconds)
        continue;
      explain::Group group;
      group.what = (each.ops == 1 ? std::string("a product is")
                                  : std::to_string(each.ops) + " products are") +
                   " computed " +
                   (each.copies == 2 ? "twice" : std::to_string(each.copies) + " times");
      group.cause = "nothing of " + std::string(each.ops == 1 ? "it" : "them") +
                    " is split along " + quotedList(each.axes);
      group.seconds = seconds;
      auto dearest = explained.causes.find(each.dearest);
      if (dearest != explained.causes.end())
        group.value = dearest->second.value;
      describe(group);
      if (computing < 0)
        computing = int64_t(all.groups.size());
      all.groups.push_back(std::move(group));
    }
  }

  // A mend belongs to the group that it takes most of.
  void add(const mends::FoundMend &mend) {
    llvm::StringMap<double> then;
    for (const mends::SiteCost &site : mend.then.sites)
      then[site.site] = site.seconds;
    int64_t best = -1;
    double most = 0;
    for (const mends::SiteCost &site : now.sites) {
      double saved = site.seconds - then.lookup(site.site);
      auto group = ofSite.find(site.site);
      if (group != ofSite.end() && saved > most)
        most = saved, best = int64_t(group->second);
    }
    if (best < 0 || now.time.compute - mend.then.time.compute >
                        now.time.communication - mend.then.time.communication)
      best = computingGroup(then);
    std::vector<explain::Mend> &mends = all.groups[best].mends;
    if (mends.size() < kShown)
      mends.push_back({mend.change.text, now.time.seconds - mend.then.time.seconds,
                       mend.then.wireBytes - now.wireBytes, mend.then.time.flops - now.time.flops,
                       double(mend.then.peakBytes - now.peakBytes)});
  }

  void sort() {
    auto gain = [](const explain::Group &group) {
      return group.mends.empty() ? 0 : group.mends.front().seconds;
    };
    llvm::stable_sort(all.groups, [&](const explain::Group &a, const explain::Group &b) {
      return std::pair(gain(a), a.seconds) > std::pair(gain(b), b.seconds);
    });
  }

private:
  void describe(explain::Group &group) const {
    if (group.value < 0)
      return;
    const explain::Value &value = all.values[group.value];
    if (std::string place = explain::whereText(value.frames); !place.empty())
      group.place = place;
    group.scope = value.scope;
  }

  // Where nothing is computed twice: the kernels that then take less.
  int64_t computingGroup(const llvm::StringMap<double> &then) {
    if (computing < 0) {
      explain::Group group;
      group.what = "computing";
      group.cause = "kernels work on more than an even share of what they compute, read and write";
      double most = 0;
      for (const mends::SiteCost &site : now.sites)
        if (llvm::StringRef place = site.site; place.consume_front("||"))
          if (double saved = site.seconds - then.lookup(site.site); saved > most)
            most = saved, group.place = place.contains(':') ? place.str() : "";
      group.seconds = now.time.compute;
      computing = int64_t(all.groups.size());
      all.groups.push_back(std::move(group));
    }
    return computing;
  }

  explain::Explanation &all;
  const mends::Outcome &now;
  llvm::StringMap<size_t> ofSite;
  int64_t computing = -1;
};

} // namespace

void addGroups(explain::Explanation &explanation, llvm::ArrayRef<std::string> sites,
               const ExplainedModule &explained, const mends::Observations &seen,
               const mends::Outcome &now, const mends::SearchResult &found, double flopsPerSecond) {
  Groups groups(explanation, now);
  groups.addCollectives(sites);
  groups.addRepeated(seen, explained, flopsPerSecond);
  for (const mends::FoundMend &mend : found.mends)
    groups.add(mend);
  groups.sort();
}

} // namespace tessera
