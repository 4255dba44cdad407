#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// Lets a thread sleep until another one has something for it.
///
/// A raised signal stays raised until somebody waits for it, so none is lost.
@safe package final class Signal: Sendable {
    // Sendable because the pointer is set once, and it is for any thread to lock.
    private nonisolated(unsafe) let lock: UnsafeMutablePointer<pthread_mutex_t>
    // Sendable because the pointer is set once, and the system lets any thread use it.
    private nonisolated(unsafe) let condition: UnsafeMutablePointer<pthread_cond_t>
    // Sendable because what it leads to is only touched while `lock` is held.
    private nonisolated(unsafe) let isRaised: UnsafeMutablePointer<Bool>

    package init() {
        // Safe: each pointer leads to memory that is ours until `deinit`.
        unsafe lock = .allocate(capacity: 1)
        unsafe condition = .allocate(capacity: 1)
        unsafe isRaised = .allocate(capacity: 1)
        unsafe isRaised.initialize(to: false)
        unsafe pthread_mutex_init(lock, nil)
        unsafe pthread_cond_init(condition, nil)
    }

    deinit {
        // Safe: nobody waits for an object that is gone, and each pointer came from `init`.
        unsafe pthread_cond_destroy(condition)
        unsafe pthread_mutex_destroy(lock)
        unsafe condition.deallocate()
        unsafe lock.deallocate()
        unsafe isRaised.deallocate()
    }

    /// Wakes the thread that waits, or the next one to wait.
    package func raise() {
        // Safe: what the pointers lead to lives as long as `self`, and the lock is held.
        unsafe pthread_mutex_lock(lock)
        unsafe isRaised.pointee = true
        unsafe pthread_cond_signal(condition)
        unsafe pthread_mutex_unlock(lock)
    }

    /// Sleeps until the signal is raised, and lowers it.
    @available(*, noasync, message: "it holds a thread up that other tasks need")
    package func wait() {
        // Safe: what the pointers lead to lives as long as `self`, and the lock is held.
        unsafe pthread_mutex_lock(lock)
        while unsafe !isRaised.pointee { unsafe pthread_cond_wait(condition, lock) }
        unsafe isRaised.pointee = false
        unsafe pthread_mutex_unlock(lock)
    }

    /// Sleeps until the signal is raised, and lowers it; or until `nanoseconds` have passed.
    @available(*, noasync, message: "it holds a thread up that other tasks need")
    package func wait(nanosecondsMax nanoseconds: Int64) {
        // Safe: what the pointers lead to lives as long as `self`, and the lock is held.
        var deadline = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &deadline)
        let total = Int64(deadline.tv_nsec) + max(0, nanoseconds)
        deadline.tv_sec += Int(total / 1_000_000_000)
        deadline.tv_nsec = Int(total % 1_000_000_000)
        unsafe pthread_mutex_lock(lock)
        while unsafe !isRaised.pointee {
            if unsafe pthread_cond_timedwait(condition, lock, &deadline) != 0 { break }
        }
        unsafe isRaised.pointee = false
        unsafe pthread_mutex_unlock(lock)
    }
}
