// Sets that come one after the other, as Python sees them.
#pragma once

#include <chrono>
#include <memory>
#include <mutex>

#include "../hitting.hpp"
#include "../listing.hpp"
#include "common.hpp"

namespace quia {

// Sets one after the other, as tuples of variables. Safe to share between threads.
class SetIterator {
 public:
  SetIterator(std::vector<std::int32_t> variables, std::unique_ptr<Listing> listing, double seconds, std::size_t memory)
      : variables_(std::move(variables)), listing_(std::move(listing)), seconds_(seconds), memory_(memory) {}
  SetIterator(std::vector<std::int32_t> variables, HittingSets hitting, double seconds, std::size_t memory)
      : variables_(std::move(variables)), hitting_(std::move(hitting)), seconds_(seconds), memory_(memory) {}

  nb::object next() {
    std::vector<Word> copy;
    bool found = false;
    {
      nb::gil_scoped_release release;
      const std::lock_guard lock(mutex_);
      if (!complete_) throw_stop_ = true;
      if (!throw_stop_) {
        const auto start = std::chrono::steady_clock::now();
        Budget budget(seconds_, memory_, look_for_signals);
        try {
          const Word* set = listing_ ? listing_->next(budget) : hitting_->next(budget);
          if (set) {
            copy.assign(set, set + words_for(variables_.size()));
            found = true;
          }
        } catch (const OverBudget&) {
          complete_ = false;
        }
        // Only the time spent here counts, not what the caller does between two sets.
        if (seconds_ < Budget::no_timeout)
          seconds_ -= std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      }
    }
    if (!found) throw nb::stop_iteration();
    return to_tuple(copy.data(), copy.size(), variables_);
  }
  bool complete() {
    nb::gil_scoped_release release;
    const std::lock_guard lock(mutex_);
    return complete_;
  }

 private:
  std::mutex mutex_;
  std::vector<std::int32_t> variables_;
  std::unique_ptr<Listing> listing_;
  std::optional<HittingSets> hitting_;
  double seconds_;
  std::size_t memory_;
  bool complete_ = true, throw_stop_ = false;
};

}  // namespace quia
