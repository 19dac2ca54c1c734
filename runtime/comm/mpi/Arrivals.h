// Which processes of one mpirun have come to connect, before there is MPI to ask. Each makes a file
// in the folder that mpirun has for the job on this machine, and removes with it, writes its
// ProcessName into it, and keeps it locked while it lives:
//
//   no file        it has not come: it ended or was stopped before, runs without MPI, or is on
//                  another machine
//   not locked     it ended; the file has its last words, where it had any
//   locked         it is there, and the system's table of processes says whether it is stopped
#pragma once

#include <string>

namespace tessera::comm {

class Arrivals {
public:
  Arrivals(); // this process has come
  /// This process ends before it connects.
  void end(const std::string &lastWords) const;
  /// Who is not there and why, such as "rank 1 ended: ..; rank 2 (process 815 on node4) is stopped;
  /// rank 3 has not begun to ..". Empty where all are, or nothing can be known.
  std::string missing() const;

private:
  std::string pathOf(int rank) const;
  static std::string whatBefell(int mark);

  std::string folder_, job_; // empty: there is no such folder
  int rank_, size_;
  bool isWhole_;  // all processes are on this machine
  int mark_ = -1; // never closed: locked until the process ends
};

} // namespace tessera::comm
