/// Names one attempt to publish a space: 128 random bits, shown as 32 hexadecimal digits.
package struct AttemptID: Hashable, Sendable {
    package let high: UInt64
    package let low: UInt64

    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    package init(drawnFrom entropy: any EntropySource) {
        self.init(high: entropy.next(), low: entropy.next())
    }

    package var text: String { Lineage(high: high, low: low).text }
}
