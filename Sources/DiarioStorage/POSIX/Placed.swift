/// A large value that stays at its place in memory while it is handed on.
///
/// Moving it costs no more than moving a pointer.
@safe package struct Placed<Value: ~Copyable>: ~Copyable {
    private let place: UnsafeMutablePointer<Value>

    package init(_ value: consuming Value) {
        // Safe: the memory is ours until `deinit`, and holds a value from here on.
        unsafe place = .allocate(capacity: 1)
        unsafe place.initialize(to: value)
    }

    deinit {
        // Safe: the value is there since `init`, and nothing refers to it any more.
        unsafe place.deinitialize(count: 1)
        unsafe place.deallocate()
    }

    /// Does something with the value, where it is.
    @inline(__always)
    package mutating func with<Result: ~Copyable, Failure: Error>(
        _ body: (inout Value) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        // Safe: who may change `self` is alone with the value.
        try unsafe body(&place.pointee)
    }
}

// Sendable because only who has the one that owns the place can get at the value.
extension Placed: @unchecked Sendable where Value: Sendable & ~Copyable {}
