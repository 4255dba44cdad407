extension Array where Element: BitwiseCopyable {
    /// `count` elements, of which `write` writes each one: saves the zeros it would overwrite.
    ///
    /// The caller's `write` must leave none out and keep inside the `count`.
    @unsafe
    @inline(__always)
    init(count: Int, writtenBy write: (UnsafeMutablePointer<Element>) -> Void) {
        self.init()
        guard count > 0 else { return }
        // Not by the initializer that is made for this: it is not compiled for the element.
        self.reserveCapacity(count)
        self.append(addingCapacity: count) { output in
            // Safe: if the caller writes each element, as it must, all of them are initialized.
            unsafe output.withUnsafeMutableBufferPointer { buffer, written in
                if let target = buffer.baseAddress { unsafe write(target) }
                written = count
            }
        }
    }
}

extension Span where Element: BitwiseCopyable {
    /// Hands the elements to `body` by their address; nothing of it may be kept.
    @unsafe
    @inline(__always)
    func withAddress<Value>(_ body: (UnsafePointer<Element>) -> Value) -> Value? {
        // Safe: the pointer is used in the closure only.
        unsafe withUnsafeBufferPointer { buffer in
            guard let address = buffer.baseAddress else { return nil }
            return unsafe body(address)
        }
    }
}
