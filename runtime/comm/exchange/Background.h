// A thread that goes on with messages while the workers compute: a large one needs its receiver's
// attention several times before it is there, and what is reduced needs somebody who computes.
//
// It asks now and then, so that it takes no core from those who compute: soon after something has
// moved, seldom while nothing does, and not at all once nothing is under way.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

namespace tessera::runtime {

class Background {
public:
  // Who has something under way.
  class Party {
  public:
    enum class State {
      Idle,    // nothing to go on with
      Waiting, // nothing came, or somebody else sees to it
      Moved,   // something came
    };
    // Goes on as far as that is possible without waiting. On the thread; must not fail the run.
    virtual State advance() = 0;

  protected:
    ~Party() = default;
  };

  Background() = default;
  ~Background() { stop(); }
  Background(const Background &) = delete;
  Background &operator=(const Background &) = delete;

  void join(Party &party);
  void leave(Party &party); // when it returns, the party is not being advanced, nor will be
  // A party has something under way. Cheap while the thread is awake. Without a thread, for which
  // there may be no room, whoever waits goes on with it.
  void wake() {
    if (asleep_.load(std::memory_order_seq_cst))
      rouse();
  }
  void stop(); // for good

private:
  void live();
  Party::State advanceAll();
  void rouse();

  std::mutex mutex_; // of what follows; held while parties are advanced
  std::condition_variable changed_;
  std::vector<Party *> parties_;
  bool stopped_ = false;
  std::thread thread_;
  std::atomic<bool> asleep_{true};
};

} // namespace tessera::runtime
