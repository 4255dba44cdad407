import DiarioCore
import Testing

@Suite struct IdentifiersTests {
    private static let seeds = Array(UInt64(1)..<100)

    /// Worked out by another program from Crockford's alphabet: 4 bits, then 12 times 5.
    @Test(arguments: [
        (UInt64(1), "0000000000001"),
        (31, "000000000000z"),
        (32, "0000000000010"),
        (UInt64.max, "fzzzzzzzzzzzz"),
        (1 << 63, "8000000000000"),
        (0x0123_4567_89ab_cdef, "028t5cy4tqkff"),
    ])
    func knownNumbersHaveTheirTexts(number: UInt64, text: String) {
        #expect(ReplicaID(rawValue: number)?.text == text)
        #expect(SpaceID(rawValue: number)?.text == text)
        #expect(ReplicaID(text: text)?.rawValue == number)
        #expect(SpaceID(text: text)?.rawValue == number)
    }

    @Test func zeroIsNobody() {
        #expect(ReplicaID(rawValue: 0) == nil)
        #expect(SpaceID(rawValue: 0) == nil)
        #expect(ReplicaID(text: "0000000000000") == nil)
    }

    @Test(arguments: seeds) func everyNumberComesBackFromItsText(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        // All sizes of numbers, not only those of 64 bits.
        let number = random.next() >> UInt64(random.below(63)) | 1
        let replica = try #require(ReplicaID(rawValue: number))
        #expect(replica.text.utf8.count == 13)
        #expect(ReplicaID(text: replica.text) == replica)
        let origin = Origin(replica: replica, sequence: random.next() >> 7 | 1)
        #expect(Origin(text: origin.text) == origin)
    }

    @Test(arguments: [
        "", "7", "7zk3m9q2c1f4", "7zk3m9q2c1f4aa", "7ZK3M9Q2C1F4A", "7zk3m9q2c1f4i",
        "7zk3m9q2c1f4l",
        "7zk3m9q2c1f4o", "7zk3m9q2c1f4u", "gzk3m9q2c1f4a", "zzzzzzzzzzzzz", "-zk3m9q2c1f4a",
        "7zk3m9q2c1f4 ", "7zk3m9q2c1f\u{e9}",
    ])
    func otherTextsAreNoIdentifier(text: String) {
        #expect(ReplicaID(text: text) == nil)
        #expect(SpaceID(text: text) == nil)
    }

    @Test func anOriginIsWrittenAsTheDesignSays() throws {
        let origin = try #require(Origin(text: "7zk3m9q2c1f4a-17"))
        #expect(origin.sequence == 17)
        #expect(origin.replica.text == "7zk3m9q2c1f4a")
        #expect(origin.text == "7zk3m9q2c1f4a-17")
        #expect(Origin(text: "7zk3m9q2c1f4a-18446744073709551615")?.sequence == .max)
    }

    @Test(arguments: [
        "7zk3m9q2c1f4a", "7zk3m9q2c1f4a-", "7zk3m9q2c1f4a-0", "7zk3m9q2c1f4a-01",
        "7zk3m9q2c1f4a-+1", "7zk3m9q2c1f4a--1", "7zk3m9q2c1f4a-1 ", "7zk3m9q2c1f4a-1-1", "-1",
        "7zk3m9q2c1f4a-18446744073709551616", "7zk3m9q2c1f4a-\u{661}", "0000000000000-1",
        "7zk3m9q2c1f4a-1x",
    ])
    func otherTextsAreNoOrigin(text: String) {
        #expect(Origin(text: text) == nil)
    }

    @Test func originsAreOrderedByReplicaThenSequence() throws {
        let low = try #require(ReplicaID(rawValue: 1))
        let high = try #require(ReplicaID(rawValue: .max))
        #expect(low < high)
        #expect(Origin(replica: low, sequence: 9) < Origin(replica: high, sequence: 1))
        #expect(Origin(replica: low, sequence: 9) < Origin(replica: low, sequence: 10))
    }
}
