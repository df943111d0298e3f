// Threads that stay: work that is cut so fine that starting threads for each piece would cost more than it.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace marginalia {

// Does the pieces of a task in the caller's thread and in those of others that are awake. Nobody waits for a
// thread that has not begun: on a busy machine the caller does it all. Tasks must not throw.
class Team {
 public:
  // Makes do with fewer where the system starts no more.
  explicit Team(std::size_t threads) {
    try {
      for (std::size_t i = 1; i < threads; ++i) threads_.emplace_back([this] { help(); });
    } catch (const std::system_error&) {
    }
  }
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;
  ~Team() {
    {
      const std::lock_guard lock(mutex_);
      ended_ = true;
    }
    wake_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

  std::size_t size() const { return threads_.size() + 1; }

  // Calls task(piece) for each piece from 0 to pieces - 1; returns when all are done.
  void run(std::size_t pieces, const std::function<void(std::size_t)>& task) {
    std::unique_lock lock(mutex_);
    task_ = &task;
    next_ = 0;
    pieces_ = pieces;
    wake_.notify_all();
    while (next_ < pieces_) work(lock);
    idle_.wait(lock, [this] { return working_ == 0; });
  }

 private:
  void help() {
    std::unique_lock lock(mutex_);
    for (;;) {
      wake_.wait(lock, [this] { return ended_ || next_ < pieces_; });
      if (ended_) return;
      work(lock);
    }
  }

  void work(std::unique_lock<std::mutex>& lock) {
    const std::size_t piece = next_++;
    ++working_;
    lock.unlock();
    (*task_)(piece);
    lock.lock();
    if (--working_ == 0) idle_.notify_one();
  }

  std::mutex mutex_;
  std::condition_variable wake_, idle_;
  const std::function<void(std::size_t)>* task_ = nullptr;
  std::size_t next_ = 0, pieces_ = 0, working_ = 0;
  bool ended_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace marginalia
