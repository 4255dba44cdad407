extension Array {
    /// Appends an element `count` times.
    ///
    /// In a build that is not optimized, as tests are, it takes a few microseconds for what takes
    /// milliseconds out of a `repeatElement`.
    @inlinable
    package mutating func append(repeating element: Element, count: Int) {
        append(addingCapacity: count) { $0.append(repeating: element, count: count) }
    }
}
