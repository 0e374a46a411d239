// A few threads that sleep while there is nothing to do.
//
// Spinning threads steal the processor from whoever else runs on the machine, so workers wait on a condition variable, and
// short work stays on the calling thread. The caller works too; between its tasks it polls for an interrupt.
#pragma once

#include <atomic>
#include <functional>
#include <memory>

#include "types.hpp"

namespace labelsieve {

class Pool {
  public:
    using Task = std::function<void(std::size_t task, unsigned worker)>;

    // `poll` runs on the calling thread about twenty times a second and throws to stop the work.
    explicit Pool(unsigned n_workers, std::function<void()> poll = {});
    ~Pool();
    Pool(const Pool&) = delete;
    Pool& operator=(const Pool&) = delete;

    unsigned size() const { return n_workers_; }

    // Calls work(task, worker) for every task below n_tasks and rethrows the first exception. With `short_work` the caller
    // does it all, because waking a thread costs more.
    void run(std::size_t n_tasks, bool short_work, const Task& work);

  private:
    struct Crew;  // the sleeping threads, started when first needed and again in a forked child
    Crew& crew();
    void alone(std::size_t n_tasks, const Task& work);

    unsigned n_workers_;
    std::function<void()> poll_;
    std::unique_ptr<Crew> crew_;
};

}  // namespace labelsieve
