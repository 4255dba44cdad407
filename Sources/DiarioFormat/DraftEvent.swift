/// One event of a `DraftBatch`; places count from the start of the batch's bytes.
///
/// The bytes of an event lie as a row has them, from its flags on: flags, actor, subject, public
/// payload, personal payload. So writing its row is one copy, unless ids have to be filled in.
package struct DraftEvent: Equatable, Sendable {
    /// The index of its type in the batch.
    package let typeIndex: Int32
    package let flags: RowFlags
    let hasTime: Bool
    let time: Int64
    /// Where the flags are.
    let start: Int32
    /// Where the actor's bytes are; empty if there is none.
    let actorStart: Int32
    let actorEnd: Int32
    let subjectStart: Int32
    let subjectEnd: Int32
    let payloadStart: Int32
    let personalStart: Int32
    let end: Int32
    /// The id that the event brought along, if its type makes one and it is not derived.
    let givenStart: Int32
    let givenEnd: Int32
    /// The places in this event where an id is filled in, among those of the batch.
    let firstReference: Int32
    let referenceCount: Int32

    /// When the author says it happened, in milliseconds; nil for the time of its clock.
    package var atMilliseconds: Int64? { hasTime ? time : nil }
    package var actor: Range<Int>? {
        flags.contains(.actor) ? Int(actorStart)..<Int(actorEnd) : nil
    }
    package var subject: Range<Int>? {
        flags.contains(.subject) ? Int(subjectStart)..<Int(subjectEnd) : nil
    }
    /// The public payload, in which the texts of references are still missing.
    package var publicPayload: Range<Int> { Int(payloadStart)..<Int(personalStart) }
    /// The personal payload, in which the texts of references are still missing; empty if none.
    package var personalPayload: Range<Int> { Int(personalStart)..<Int(end) }

    /// Bytes from the flags on, without those of references.
    var size: Int { Int(end - start) }
}

/// A place in a draft where the id that an earlier event of the batch makes is filled in.
struct DraftReference: Equatable, Sendable {
    /// Where the text goes, with its length in front.
    var offset: Int32
    /// The index of the event that makes the id, in the batch.
    var target: Int32

    /// Bytes of the longest origin text, with its length: 13 characters, a dash, 20 digits.
    static let sizeMax = 35
}
