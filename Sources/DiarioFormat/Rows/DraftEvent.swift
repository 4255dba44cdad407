/// One event of a `DraftBatch`; places count from the start of the batch's bytes.
///
/// The bytes of an event lie as a row has them, from its flags on: flags, actor, subject, public
/// payload, personal payload. So writing its row is one copy, unless ids have to be filled in.
package struct DraftEvent: Equatable, Sendable {
    /// The index of its type in the batch.
    package internal(set) var typeIndex: Int32 = 0
    package internal(set) var flags: RowFlags
    let hasTime: Bool
    let time: Int64
    /// The offset of the flags.
    let start: Int32
    private var actorStart: Int32 = 0
    private var actorSize: Int32 = 0
    private var subjectStart: Int32 = 0
    private var subjectSize: Int32 = 0
    private var givenStart: Int32 = 0
    private var givenSize: Int32 = -1
    var payloadStart: Int32 = 0
    var personalStart: Int32 = 0
    var end: Int32 = 0
    /// The places in this event where an id is filled in, among those of the batch.
    let firstReference: Int32
    var referenceCount: Int32 = 0

    init(flags: RowFlags, time: Int64?, start: Int, firstReference: Int) {
        self.flags = flags
        hasTime = time != nil
        self.time = time ?? 0
        self.start = Int32(start)
        self.firstReference = Int32(firstReference)
    }

    /// When the author says it happened, in milliseconds; nil for the time of its clock.
    package var atMilliseconds: Int64? { hasTime ? time : nil }
    package var actor: Range<Int>? {
        flags.contains(.actor) ? Int(actorStart)..<Int(actorStart + actorSize) : nil
    }
    package var subject: Range<Int>? {
        flags.contains(.subject) ? Int(subjectStart)..<Int(subjectStart + subjectSize) : nil
    }
    /// The id that the event brought along, if its type makes one and it is not derived.
    package var given: Range<Int>? {
        givenSize >= 0 ? Int(givenStart)..<Int(givenStart + givenSize) : nil
    }
    /// The public payload, in which the texts of references are still missing.
    package var publicPayload: Range<Int> { Int(payloadStart)..<Int(personalStart) }
    /// The personal payload, in which the texts of references are still missing; empty if none.
    package var personalPayload: Range<Int> { Int(personalStart)..<Int(end) }

    /// Bytes from the flags on, without those of references.
    var size: Int { Int(end - start) }

    /// Notes that the actor's bytes are those before `place`.
    mutating func setActor(size: Int, endingAt place: Int) {
        actorStart = Int32(place - size)
        actorSize = Int32(size)
    }

    /// Notes that the subject's bytes are those before `place`.
    mutating func setSubject(size: Int, endingAt place: Int) {
        subjectStart = Int32(place - size)
        subjectSize = Int32(size)
    }

    mutating func setGiven(_ range: Range<Int>) {
        givenStart = Int32(range.lowerBound)
        givenSize = Int32(range.count)
    }
}

/// A place in a draft where the id that an earlier event of the batch makes is filled in.
struct DraftReference: Equatable, Sendable {
    /// The offset of the text, with its length before it.
    var offset: Int32
    /// The index of the event that makes the id, in the batch.
    var target: Int32

    /// Bytes of the longest origin text, with its length.
    static let sizeMax = OriginText.sizeMax + 1
}
