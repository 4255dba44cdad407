extension Array {
    /// Appends an element `count` times.
    ///
    /// In an unoptimized build, as in tests, this takes microseconds where `repeatElement` takes
    /// milliseconds.
    @inlinable
    package mutating func append(repeating element: Element, count: Int) {
        append(addingCapacity: count) { $0.append(repeating: element, count: count) }
    }
}
