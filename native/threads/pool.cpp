#include "threads/pool.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#if defined(__x86_64__) || defined(_M_X64)
#include <immintrin.h>
#endif
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
constexpr auto spin_time = std::chrono::microseconds(60);  // for which a woken thread polls before it sleeps

// Cycles below which the caller works alone: sleeping workers take tens of microseconds to start, those kept
// awake less than one. The thread sanitizer sees only work that is shared, so its build shares all of it.
#ifdef LABELSIEVE_SHARE_ALL_WORK
constexpr double min_cost_asleep = 0, min_cost_awake = 0;
#else
constexpr double min_cost_asleep = 6e5, min_cost_awake = 1.5e4;
#endif

void relax() {
#if defined(__x86_64__) || defined(_M_X64)
    _mm_pause();
#else
    std::this_thread::yield();
#endif
}

// Looks at `holds` for a short while, without sleeping. Returns what it last saw.
template <class Condition>
bool spin_until(const Condition& holds) {
    const auto end = Clock::now() + spin_time;
    do {
        for (int i = 0; i < 16; ++i) {
            if (holds()) return true;
            relax();
        }
    } while (Clock::now() < end);
    return holds();
}

struct Stopped {};  // ends a task after another one has failed

}  // namespace

// `state` holds the number of the round above and how many workers are in it below. Odd rounds are open: a
// worker may join. Closing a round keeps latecomers out, so that no one waits for a thread that has not
// woken up yet.
struct Pool::Workers {
    static constexpr uint64_t one_round = uint64_t(1) << 16, members = one_round - 1;

    std::mutex mutex;
    std::condition_variable wake, finished;
    std::vector<std::thread> threads;
    int owner = int(getpid());
    std::atomic<uint64_t> state{0};
    std::atomic<bool> kept_awake{false};  // workers poll for the next round
    std::atomic<bool> caller_sleeps{false};
    std::atomic<unsigned> sleepers{0};
    uint64_t calls = 0;  // wake-up calls so far; guarded by the mutex, as is `closing`
    bool closing = false;
    const Task* work = nullptr;
    size_t n_tasks = 0;
    std::atomic<size_t> next{0};
    std::exception_ptr error;
    std::atomic<bool> failed{false};

    explicit Workers(unsigned helpers) {
        try {
            for (unsigned worker = 1; worker <= helpers; ++worker)
                threads.emplace_back([this, worker] { work_loop(worker); });
        } catch (...) {  // no more threads to be had: those that there are must end before the error goes on
            join_all();
            throw std::runtime_error("the system gives no more than " + std::to_string(threads.size() + 1) +
                                     " threads; lower n_jobs");
        }
    }

    ~Workers() { join_all(); }

    void join_all() {
        {
            const std::scoped_lock lock(mutex);
            closing = true;
        }
        wake.notify_all();
        for (auto& thread : threads) thread.join();
    }

    void wake_sleepers() {
        if (sleepers.load() == 0) return;
        {
            const std::scoped_lock lock(mutex);
        }  // who is about to sleep has either seen the change or is in wait() already
        wake.notify_all();
    }

    void fail() {
        next.store(n_tasks);
        const std::scoped_lock lock(mutex);
        if (!error) error = std::current_exception();
        failed.store(true);
    }

    void take_tasks(unsigned worker, Pool* poller) {
        try {
            for (size_t task; (task = next.fetch_add(1)) < n_tasks;) {
                (*work)(task, worker);
                if (poller) poller->poll_at_intervals();
            }
        } catch (...) {
            fail();
        }
    }

    static bool is_new(uint64_t now, uint64_t seen) {
        return now / one_round % 2 == 1 && now / one_round != seen;
    }

    bool join(uint64_t& seen) {
        uint64_t now = state.load();
        while (is_new(now, seen))
            if (state.compare_exchange_weak(now, now + 1)) {
                seen = now / one_round;
                return true;
            }
        return false;
    }

    void leave() {
        if (((state.fetch_sub(1) - 1) & members) != 0 || !caller_sleeps.load()) return;
        {
            const std::scoped_lock lock(mutex);
        }
        finished.notify_one();
    }

    void work_loop(unsigned worker) {
        uint64_t seen = 0, answered = 0;
        for (;;) {
            bool joined = false;
            spin_until([&] {
                joined = join(seen);
                return joined || !kept_awake.load();
            });
            if (joined) {
                take_tasks(worker, nullptr);
                leave();
                continue;
            }
            std::unique_lock lock(mutex);
            ++sleepers;
            wake.wait(lock, [&] { return closing || calls != answered || is_new(state.load(), seen); });
            --sleepers;
            answered = calls;
            if (closing) return;
        }
    }

    void keep_awake() {
        {
            const std::scoped_lock lock(mutex);
            ++calls;
            kept_awake.store(true);
        }
        wake.notify_all();
    }

    void let_sleep() { kept_awake.store(false); }

    void run(size_t tasks, const Task& todo, Pool& pool) {
        work = &todo;
        n_tasks = tasks;
        next.store(0);
        error = nullptr;
        failed.store(false);
        state.fetch_add(one_round);  // open
        wake_sleepers();
        take_tasks(0, &pool);
        state.fetch_add(one_round);  // closed
        const auto empty = [&] { return (state.load() & members) == 0; };
        if (!spin_until(empty)) wait_asleep(empty, pool.poll_);
        work = nullptr;
        if (error) std::rethrow_exception(std::exchange(error, nullptr));
    }

    template <class Condition>
    void wait_asleep(const Condition& empty, const std::function<void()>& poll) {
        std::unique_lock lock(mutex);
        caller_sleeps.store(true);
        while (!finished.wait_for(lock, poll_interval, empty)) {
            if (!poll || error) continue;
            lock.unlock();
            try {
                poll();
            } catch (...) {
                fail();
            }
            lock.lock();
        }
        caller_sleeps.store(false);
    }
};

Pool::Pool(unsigned n_workers, std::function<void()> poll)
    : n_workers_(n_workers ? n_workers : 1), poll_(std::move(poll)) {}

// In a forked child the threads do not exist, and joining them would hang: leave the parent's workers alone.
void Pool::forget_after_fork() {
    if (workers_ && workers_->owner != int(getpid())) static_cast<void>(workers_.release());
}

Pool::~Pool() { forget_after_fork(); }

Pool::Workers& Pool::workers() {
    forget_after_fork();
    if (!workers_) workers_ = std::make_unique<Workers>(n_workers_ - 1);
    return *workers_;
}

void Pool::alone(size_t n_tasks, const Task& work) {
    for (size_t task = 0; task < n_tasks; ++task) {
        work(task, 0);
        poll_at_intervals();
    }
}

void Pool::poll_at_intervals() {
    if (!poll_) return;
    const auto now = Clock::now();
    if (now - last_poll_ < poll_interval) return;
    last_poll_ = now;
    poll_();
}

void Pool::check(unsigned worker) {
    if (worker == 0) {
        poll_at_intervals();
    } else if (workers_->failed.load()) {
        throw Stopped();
    }
}

void Pool::run(size_t n_tasks, double cost, const Task& work) {
    if (n_workers_ == 1 || n_tasks < 2 || cost < (keep_awake_ ? min_cost_awake : min_cost_asleep)) {
        alone(n_tasks, work);
    } else {
        workers().run(n_tasks, work, *this);
    }
}

Pool::KeepAwake::KeepAwake(Pool& pool, double cost) {
    if (pool.n_workers_ == 1 || cost < min_cost_asleep) return;
    pool.workers().keep_awake();
    pool.keep_awake_ = true;
    pool_ = &pool;
}

Pool::KeepAwake::~KeepAwake() {
    if (!pool_) return;
    pool_->workers().let_sleep();
    pool_->keep_awake_ = false;
}

}  // namespace labelsieve
