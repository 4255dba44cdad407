package import DiarioEngine

/// An answer to a request.
package struct HTTPAnswer: Sendable {
    package var status: Int
    /// Without those that follow from the body and the connection: Content-Length, Date.
    package var headers: [(name: String, value: String)]
    package var body: Body
    /// The id of the token that was asked with, for the server's log.
    package var token: String?
    /// Why the server could not do what was asked, for its log.
    package var cause: String?

    package enum Body: Sendable {
        case bytes([UInt8])
        /// A part of a file that never changes; the kernel sends it.
        case file(SentFile)
        /// Piece by piece, as long as the reader stays.
        case stream(any LiveStream)
    }

    package init(
        _ status: Int,
        headers: [(name: String, value: String)] = [],
        _ body: Body = .bytes([])
    ) {
        self.status = status
        self.headers = headers
        self.body = body
    }
}

/// A part of a file.
package struct SentFile: Hashable, Sendable {
    /// From the root of the file system.
    package var path: String
    package var offset: Int
    package var count: Int

    package init(path: String, offset: Int, count: Int) {
        self.path = path
        self.offset = offset
        self.count = count
    }
}

/// A handler's reply to a request.
package enum HTTPReply: Sendable {
    case answer(HTTPAnswer)
    /// Not yet: ask again when the bell rings, and for the last time at `until`; the request then
    /// has `note`, if there is one.
    case wait(for: Bell, until: ContinuousClock.Instant, note: UInt64? = nil)
    /// Found by a question or a scan, when its turn has come.
    case reading(Reading<HTTPAnswer>)
}

/// A question or a scan, which may take long.
///
/// Few run at once, on threads of their own: schema/format/http.md, section 12.
package struct Reading<Found: Sendable>: Sendable {
    package let owner: ReadOwner
    /// Ends early once the stop is asked, since the client has gone or the server stops.
    package let read: @Sendable (BuildStop) -> Found

    package init(_ owner: ReadOwner, _ read: @escaping @Sendable (BuildStop) -> Found) {
        self.owner = owner
        self.read = read
    }
}

/// In whose place a question or a scan runs.
package struct ReadOwner: Hashable, Sendable {
    package let space: String
    package let token: String

    package init(space: String, token: String) {
        self.space = space
        self.token = token
    }
}

/// Sends pieces to a reader that stays; used by one thread at a time.
package protocol LiveStream: AnyObject, Sendable {
    /// Rings when there may be more.
    var bell: Bell { get }

    /// The next piece. Called when the reader has taken the last one, unless nothing follows that,
    /// when the bell rings, and when its time is over.
    func next(at now: ContinuousClock.Instant) -> LivePiece
}

/// The next piece of a live stream.
package indirect enum LivePiece: Sendable {
    /// With a time: nothing follows before the bell rings or that time comes.
    case bytes([UInt8], quietUntil: ContinuousClock.Instant? = nil)
    /// Nothing before the bell rings or this time comes.
    case nothing(until: ContinuousClock.Instant)
    /// Found by a scan, when its turn has come, which does not find another one.
    case reading(Reading<LivePiece>)
    case end
}

/// Answers requests.
///
/// Called by several threads at once, which it may block while the disk works.
package protocol HTTPHandler: Sendable {
    /// The size that a body may have, by the head of its request; or an answer for which the body
    /// is not read, for example that the token is not known.
    func admit(_ head: HTTPRequest) -> BodyAdmission

    /// True if a request is about the server's health, and must not wait like others.
    func isAboutHealth(_ request: HTTPRequest) -> Bool

    /// The reply to a request; on its last turn, which may be its first, it may not wait.
    func reply(to request: HTTPRequest, _ turn: Turn) -> HTTPReply
}

/// The turn of a request that may wait.
package enum Turn: Hashable, Sendable {
    case first
    /// It waited, and there may be news.
    case again
    /// There is no more waiting.
    case last
}

/// True if the body of a request is read.
package enum BodyAdmission: Sendable {
    case bytes(max: Int)
    case refused(HTTPAnswer)
}
