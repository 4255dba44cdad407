import CPlatform

/// The first 16 bytes of a file as they are at any time, whoever writes to it.
///
/// To look at them costs no system call.
@safe final class MappedWords: Sendable {
    // Sendable because the pointer is set once, and what it leads to is only read, word by word.
    private nonisolated(unsafe) let words: UnsafePointer<UInt64>

    /// Nil if the system cannot show the file in memory.
    ///
    /// The file has 16 bytes and must keep them: beyond its end there is nothing to look at.
    init?(descriptor: Int32) {
        // Safe: the memory stays mapped until `deinit`.
        guard let words = unsafe diario_map_words(descriptor) else { return nil }
        unsafe self.words = unsafe words
    }

    deinit {
        // Safe: the pointer came from `init`, and nobody looks at an object that is gone.
        unsafe diario_unmap_words(words)
    }

    var value: (UInt64, UInt64) {
        // Safe: two words lie there as long as `self` lives.
        unsafe (diario_mapped_word(words, 0), diario_mapped_word(words, 1))
    }
}
