// Chunks of work on several threads, while the calling thread looks for interrupts.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace quia {

// Runs work(chunk, cancelled) for each chunk, `make_worker` giving each thread its own `work` with its own scratch.
// The first exception stops the others and is thrown again here; so is one of the pulse.
template <class MakeWorker>
void run_chunks(std::size_t chunks, unsigned threads, const std::function<void()>& pulse, MakeWorker make_worker) {
  std::atomic<std::size_t> next{0};
  std::atomic<bool> cancelled{false};
  std::mutex mutex;
  std::condition_variable ended;
  std::exception_ptr failure;
  std::size_t running = 0;

  const auto body = [&] {
    try {
      auto work = make_worker(cancelled);
      for (std::size_t chunk; !cancelled.load() && (chunk = next.fetch_add(1)) < chunks;) work(chunk);
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!failure) failure = std::current_exception();
      cancelled.store(true);
    }
    const std::lock_guard lock(mutex);
    --running;
    ended.notify_all();
  };

  std::vector<std::thread> team;
  const std::size_t wanted = std::max<std::size_t>(1, std::min<std::size_t>(threads, chunks));
  try {
    for (std::size_t i = 0; i < wanted; ++i) {
      {
        const std::lock_guard lock(mutex);
        ++running;
      }
      try {
        team.emplace_back(body);
      } catch (...) {
        const std::lock_guard lock(mutex);
        --running;
        if (team.empty()) throw;
        break;  // fewer threads than wanted will do
      }
    }
    std::unique_lock lock(mutex);
    while (!ended.wait_for(lock, std::chrono::milliseconds(25), [&] { return running == 0; })) {
      lock.unlock();
      if (pulse) pulse();
      lock.lock();
    }
  } catch (...) {
    const std::lock_guard lock(mutex);
    if (!failure) failure = std::current_exception();
    cancelled.store(true);
  }
  for (std::thread& thread : team) thread.join();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace quia
