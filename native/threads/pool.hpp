// A few threads that sleep while there is nothing to do.
//
// Spinning threads take the processor from other programs, so workers wait on a condition variable, and short
// work stays on the calling thread. Waking a thread takes longer than many a stage of a panel: KeepAwake
// wakes the workers once, and while it lives they poll for the next stage for a few microseconds before they
// sleep again. The caller works too; between its tasks it polls for an interrupt.
#pragma once

#include <chrono>
#include <functional>
#include <memory>

#include "common/types.hpp"

namespace labelsieve {

class Pool {
  public:
    using Task = std::function<void(size_t task, unsigned worker)>;

    // `poll` runs on the calling thread about twenty times a second and throws to stop the work.
    explicit Pool(unsigned n_workers, std::function<void()> poll = {});
    ~Pool();
    Pool(const Pool&) = delete;
    Pool& operator=(const Pool&) = delete;

    unsigned size() const { return n_workers_; }

    // Calls work(task, worker) for every task below n_tasks and rethrows the first exception. `cost` is a
    // guess at the cycles of it all: when it is small the caller does everything, because handing over costs
    // more.
    void run(size_t n_tasks, double cost, const Task& work);

    // For tasks that take longer than a tenth of a second: polls on the calling thread, worker 0, and ends a
    // task of another worker after some task has failed. Both throw.
    void check(unsigned worker);

    // Wakes the workers for several runs, when their cost together is worth it. They do not nest.
    class KeepAwake {
      public:
        KeepAwake(Pool& pool, double cost);
        ~KeepAwake();
        KeepAwake(const KeepAwake&) = delete;
        KeepAwake& operator=(const KeepAwake&) = delete;

      private:
        Pool* pool_ = nullptr;  // null when the work is not worth waking threads
    };

  private:
    using Clock = std::chrono::steady_clock;
    struct Workers;  // the sleeping threads, started when first needed and again in a forked child
    Workers& workers();
    void forget_after_fork();
    void alone(size_t n_tasks, const Task& work);
    void poll_at_intervals();

    unsigned n_workers_;
    std::function<void()> poll_;
    Clock::time_point last_poll_ = Clock::now();
    std::unique_ptr<Workers> workers_;
    bool keep_awake_ = false;
};

}  // namespace labelsieve
