#include "pool.hpp"

#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#if defined(_WIN32)
#include <process.h>
#define getpid _getpid
#else
#include <unistd.h>
#endif

namespace labelsieve {

namespace {

using Clock = std::chrono::steady_clock;
constexpr auto poll_interval = std::chrono::milliseconds(50);

class Poller {
  public:
    explicit Poller(const std::function<void()>& poll) : poll_(poll), last_(Clock::now()) {}
    void operator()() {
        if (!poll_) return;
        const auto now = Clock::now();
        if (now - last_ < poll_interval) return;
        last_ = now;
        poll_();
    }

  private:
    const std::function<void()>& poll_;
    Clock::time_point last_;
};

}  // namespace

struct Pool::Crew {
    std::mutex mutex;
    std::condition_variable wake, finished;
    std::vector<std::thread> threads;
    int owner = int(getpid());
    std::uint64_t round = 0;  // grows with every run; a worker that sees a new round joins it
    unsigned busy = 0;
    bool closing = false;
    const Task* work = nullptr;
    std::size_t n_tasks = 0;
    std::atomic<std::size_t> next{0};
    std::exception_ptr error;

    explicit Crew(unsigned helpers) {
        try {
            for (unsigned worker = 1; worker <= helpers; ++worker) threads.emplace_back([this, worker] { serve(worker); });
        } catch (...) {  // no more threads to be had: those that there are must end before the error goes on
            dismiss();
            throw std::runtime_error("the system gives no more than " + std::to_string(threads.size() + 1) + " threads; lower n_jobs");
        }
    }

    ~Crew() { dismiss(); }

    void dismiss() {
        {
            std::lock_guard lock(mutex);
            closing = true;
        }
        wake.notify_all();
        for (auto& thread : threads) thread.join();
    }

    void fail() {
        next.store(n_tasks);
        std::lock_guard lock(mutex);
        if (!error) error = std::current_exception();
    }

    void take_tasks(unsigned worker, Poller* poller) {
        try {
            for (std::size_t task; (task = next.fetch_add(1)) < n_tasks;) {
                (*work)(task, worker);
                if (poller) (*poller)();
            }
        } catch (...) {
            fail();
        }
    }

    void serve(unsigned worker) {
        std::uint64_t seen = 0;
        std::unique_lock lock(mutex);
        for (;;) {
            wake.wait(lock, [&] { return closing || round != seen; });
            if (closing) return;
            seen = round;
            lock.unlock();
            take_tasks(worker, nullptr);
            lock.lock();
            if (--busy == 0) finished.notify_one();
        }
    }

    void run(std::size_t tasks, const Task& todo, const std::function<void()>& poll) {
        {
            std::lock_guard lock(mutex);
            work = &todo;
            n_tasks = tasks;
            next.store(0);
            error = nullptr;
            busy = unsigned(threads.size());
            ++round;
        }
        wake.notify_all();
        Poller poller(poll);
        take_tasks(0, &poller);
        std::unique_lock lock(mutex);
        while (!finished.wait_for(lock, poll_interval, [&] { return busy == 0; })) {
            if (!poll || error) continue;
            lock.unlock();
            try {
                poll();
            } catch (...) {
                fail();
            }
            lock.lock();
        }
        work = nullptr;
        if (error) std::rethrow_exception(std::exchange(error, nullptr));
    }
};

Pool::Pool(unsigned n_workers, std::function<void()> poll) : n_workers_(n_workers ? n_workers : 1), poll_(std::move(poll)) {}

Pool::~Pool() {
    // In a forked child the threads do not exist, and joining them would hang: leave the parent's crew alone.
    if (crew_ && crew_->owner != int(getpid())) static_cast<void>(crew_.release());
}

Pool::Crew& Pool::crew() {
    if (crew_ && crew_->owner != int(getpid())) static_cast<void>(crew_.release());
    if (!crew_) crew_ = std::make_unique<Crew>(n_workers_ - 1);
    return *crew_;
}

void Pool::alone(std::size_t n_tasks, const Task& work) {
    Poller poller(poll_);
    for (std::size_t task = 0; task < n_tasks; ++task) {
        work(task, 0);
        poller();
    }
}

void Pool::run(std::size_t n_tasks, bool short_work, const Task& work) {
    if (short_work || n_workers_ == 1 || n_tasks < 2) {
        alone(n_tasks, work);
    } else {
        crew().run(n_tasks, work, poll_);
    }
}

}  // namespace labelsieve
