// A budget for one call: a deadline, a cap on memory and a way to be interrupted.
//
// Long work calls step() in its innermost loop (nearly free) or check() once per heavier unit.
// Neither knows Python: the bindings pass a pulse that looks for signals and throws.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <limits>
#include <utility>

namespace quia {

// Thrown where a budget ends; the caller answers with an honest `complete = false` or an exception.
class OverBudget : public std::exception {
 public:
  enum class Cause { time, memory, nodes, work, cancelled };
  explicit OverBudget(Cause why) : cause(why) {}
  const char* what() const noexcept override {
    switch (cause) {
      case Cause::time: return "the time limit was reached";
      case Cause::memory: return "the memory limit was reached";
      case Cause::nodes: return "the limit of nodes was reached";
      case Cause::work: return "the limit of work was reached";
      default: return "the work was cancelled";
    }
  }
  Cause cause;
};

class Budget {
 public:
  static constexpr double no_timeout = std::numeric_limits<double>::infinity();

  explicit Budget(double seconds = no_timeout, std::size_t memory_bytes = std::numeric_limits<std::size_t>::max(),
                  std::function<void()> pulse = {}, const std::atomic<bool>* cancelled = nullptr)
      : memory_(memory_bytes), pulse_(std::move(pulse)), cancelled_(cancelled) {
    restart(seconds);
  }

  void restart(double seconds) {
    last_pulse_ = Clock::now();
    // Beyond a century a deadline is none: it would overflow the clock.
    timed_ = seconds < 3e9;
    if (timed_)
      deadline_ = last_pulse_ +
                  std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds < 0 ? 0 : seconds));
  }

  void step() {
    if ((++ticks_ & 255) == 0) check();
  }
  // A step that took as long as `work` small ones.
  void step(std::size_t work) {
    const std::uint32_t before = ticks_;
    ticks_ += static_cast<std::uint32_t>(work < 256 ? work : 256);
    if ((before ^ ticks_) & ~std::uint32_t(255)) check();
  }

  void check() {
    if (cancelled_ && cancelled_->load(std::memory_order_relaxed)) throw OverBudget(OverBudget::Cause::cancelled);
    if (!timed_ && !pulse_) return;
    const auto now = Clock::now();
    if (pulse_ && now - last_pulse_ >= std::chrono::milliseconds(40)) {
      last_pulse_ = now;
      pulse_();
    }
    if (timed_ && now > deadline_) throw OverBudget(OverBudget::Cause::time);
  }

  bool is_timed() const { return timed_; }
  double seconds_left() const {
    return timed_ ? std::chrono::duration<double>(deadline_ - Clock::now()).count() : no_timeout;
  }

  // Tables call this with what they are about to hold in all, before they grow.
  void reserve(std::size_t bytes) const {
    if (bytes > memory_) throw OverBudget(OverBudget::Cause::memory);
  }
  std::size_t memory() const { return memory_; }

  // The same deadline and interrupt, with a smaller memory cap: for a trial that may fail.
  Budget within(std::size_t memory_bytes) const {
    Budget part = *this;
    part.memory_ = memory_bytes < memory_ ? memory_bytes : memory_;
    return part;
  }
  // What is left beside something that stays in memory meanwhile.
  Budget beside(std::size_t held_bytes) const { return within(held_bytes < memory_ ? memory_ - held_bytes : 0); }

 private:
  using Clock = std::chrono::steady_clock;
  std::size_t memory_;
  std::function<void()> pulse_;
  const std::atomic<bool>* cancelled_;
  Clock::time_point deadline_{}, last_pulse_{};
  bool timed_ = false;
  std::uint32_t ticks_ = 0;
};

}  // namespace quia
