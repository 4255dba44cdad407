/// Every bound in Diario, in one place.
///
/// Names end with their unit, then `Max`. `schema/limits.md` has the tables; a test compares them.
public enum Limits {
    /// Bytes of one encoded event, public and personal part together.
    ///
    /// Above: refused.
    public static let eventSizeMax = 64 * 1024
    /// Events in one batch, which is accepted or refused whole.
    ///
    /// Above: refused.
    public static let batchCountMax = 1000
    /// Bytes of one encoded batch.
    ///
    /// Above: refused.
    public static let batchSizeMax = 1024 * 1024
    /// Events in one block.
    ///
    /// A writer starts another block.
    public static let blockCountMax = 65_536
    /// Bytes of a block before compression.
    ///
    /// A writer starts another block; a reader refuses.
    public static let blockSizeMax = 2 * 1024 * 1024
    /// Bytes of one frame of the write-ahead log.
    ///
    /// A writer starts another frame.
    public static let frameSizeMax = 4 * 1024 * 1024
    /// Bytes of one file of the write-ahead log.
    ///
    /// A writer continues in the next file.
    public static let logFileSizeMax = 16 * 1024 * 1024
    /// Bytes of the write-ahead log up to which nothing is copied forward.
    public static let logQuietSizeMax = 64 * 1024 * 1024
    /// Bytes of appended rows after which a space writes its hash state again.
    public static let stateIntervalSizeMax = 1024 * 1024
    /// Bytes reserved on disk, so that a log can be opened and closed on a full one.
    public static let reserveSizeMax = 1024 * 1024
    /// Files held open at once by one data directory.
    public static let openFileCountMax = 256
    /// Seconds to wait for another process that is writing.
    ///
    /// Then an error names it.
    public static let lockWaitSecondsMax = 10
    /// Seconds to wait for another process that builds read models or brings them up to date.
    ///
    /// Above: the query, or the rebuild, ends with an error that names the process.
    public static let modelWaitSecondsMax = 600
    /// Plain bytes of a blob.
    ///
    /// Above: refused before anything is stored.
    public static let blobSizeMax: Int64 = 1024 * 1024 * 1024
    /// Stored bytes of a blob in one request.
    ///
    /// Above: refused before they are read; a client sends and requests the rest with the next.
    public static let blobPartSizeMax = 8 * 1024 * 1024
    /// Blobs that one request asks about.
    ///
    /// Above: refused; a client asks about the others with the next.
    package static let blobWantCountMax = 1000
    /// Blobs of which a server keeps the state of the hash between two parts.
    ///
    /// Above: what has come is read again when the next part comes.
    package static let blobArrivalCountMax = 64
    /// Blobs that a server remembers to have compared with their ids.
    ///
    /// Above: it forgets them, and reads each again before it gives any of its bytes.
    package static let blobCheckCountMax = 100_000
    /// Days for which a server keeps a blob that no event refers to.
    ///
    /// Above: removed.
    package static let blobKeptDaysMax: Int64 = 7
    /// Bytes of the blobs of a space on a server, unless it has a quota of its own.
    ///
    /// Above: the blob is refused, and events are not.
    public static let spaceBlobSizeMax: Int64 = 256 * 1024 * 1024 * 1024
    /// Bytes of the blobs sent with one token, unless it has a quota of its own.
    ///
    /// Above: the blob is refused, and events are not.
    public static let tokenBlobSizeMax: Int64 = 64 * 1024 * 1024 * 1024
    /// Blobs that were sent to a space, whole or not.
    ///
    /// Above: the blob is refused, and events are not.
    package static let spaceBlobCountMax: Int64 = 200_000
    /// Blobs that were sent to a space with one token, whole or not.
    ///
    /// Above: the blob is refused, and events are not.
    package static let tokenBlobCountMax: Int64 = 50_000
    /// Blobs that a replica notes as known to its server, or as refused.
    ///
    /// Above: it asks about the others at each sync.
    package static let blobNoteCountMax = 50_000
    /// Bytes of one line of JSON.
    ///
    /// Above: refused before it is read to its end.
    public static let lineSizeMax = 1024 * 1024
    /// Levels of arrays and objects in JSON.
    ///
    /// Above: refused.
    public static let jsonDepthMax = 32
    /// Bytes of an actor.
    ///
    /// Above: refused.
    public static let actorSizeMax = 128
    /// Bytes of a subject.
    ///
    /// Above: refused.
    public static let subjectSizeMax = 256
    /// Bytes of a type's full name.
    ///
    /// Above: the pack is refused.
    public static let typeNameSizeMax = 128
    /// Fields of one event type.
    ///
    /// Above: the pack is refused.
    public static let fieldCountMax = 256
    /// Bytes of a pack's files together.
    ///
    /// Above: the pack is refused.
    public static let packSizeMax = 8 * 1024 * 1024
    /// Files of one pack.
    ///
    /// Above: the pack is refused.
    public static let packFileCountMax = 1024
    /// States of one compiled `pattern`.
    ///
    /// Above: the pack is refused.
    public static let patternStateCountMax = 4096
    /// Bytes of one statement of a pack's SQL.
    ///
    /// Above: the pack is refused.
    public static let sqlStatementSizeMax = 64 * 1024
    /// Bytes of memory that SQLite may take to prepare a statement.
    ///
    /// Above: the pack is refused, or the query ended with an error. This holds in the program
    /// `diario`, where SQLite's memory is counted by thread; an app that links the library has no
    /// such bound.
    public static let sqlPrepareMemorySizeMax = 64 * 1024 * 1024
    /// Bytes of one value in a read model.
    ///
    /// Above: the event goes to quarantine.
    public static let sqlValueSizeMax = 1024 * 1024
    /// Bytes of a pattern of `glob` or `like` in SQL.
    ///
    /// Above: the event goes to quarantine, or the query ends with an error. One step searches a
    /// value for the whole pattern, and nothing can end it.
    public static let sqlPatternSizeMax = 500
    /// Bytes of a text of which `text_key` makes a key in SQL.
    ///
    /// Above: the event goes to quarantine, or the query ends with an error. No event holds a
    /// longer one, and its key still fits a read model.
    public static let textKeySizeMax = 64 * 1024
    /// Columns of one table or result.
    ///
    /// Above: the pack is refused.
    public static let sqlColumnCountMax = 512
    /// Levels of expressions within one another.
    ///
    /// Above: the pack is refused.
    public static let sqlExpressionDepthMax = 100
    /// Steps of SQLite's machine that a read model may take for one event.
    ///
    /// Above: the event goes to quarantine.
    public static let sqlEventStepCountMax: Int64 = 20_000_000
    /// The same while triggers and indexes wait for the end of a build, with which it takes more.
    ///
    /// Above: the read models are built again, row by row.
    public static let sqlDeferredStepCountMax: Int64 = 300_000
    /// Seconds that a read model may take for one event.
    ///
    /// Above: the event goes to quarantine. It bounds steps that are a thousand times slower than
    /// others; an honest event takes less than a hundredth of a second.
    public static let sqlEventSecondsMax = 30
    /// Steps of SQLite's machine that a query waits for while its pack's read models catch up.
    ///
    /// Above: the query ends with an error that says what to do; the next one continues from there.
    /// `sqlUpdateEventStepCountMax` steps for each event are allowed in addition, a hundred times
    /// what an honest event takes, so that a long log alone is never an error.
    public static let sqlUpdateStepCountMax: Int64 = 2_000_000_000
    /// Steps of SQLite's machine for each event that a query waits for.
    ///
    /// Above: see `sqlUpdateStepCountMax`.
    public static let sqlUpdateEventStepCountMax: Int64 = 20_000
    /// Bytes of before-images that are kept to undo one pending event.
    ///
    /// Above: the event goes to quarantine.
    public static let sqlImageSizeMax = 16 * 1024 * 1024
    /// Steps of SQLite's machine that all examples of a pack may take together.
    ///
    /// Above: the pack is refused.
    public static let sqlExampleStepCountMax: Int64 = 400_000_000
    /// Tables, indexes, triggers and statements of a pack's read models, and its queries.
    ///
    /// Above: the pack is refused.
    public static let sqlStatementCountMax = 2000
    /// Rows of the answer to a query, unless fewer are asked for.
    ///
    /// Above: the query is ended with an error.
    public static let queryRowCountMax = 1_000_000
    /// Seconds that a query may take, unless fewer are asked for.
    ///
    /// Above: the query is ended with an error.
    public static let querySecondsMax = 60
    /// Bytes by which SQLite's memory may grow during a query, and of a result returned whole.
    ///
    /// Above: the query is ended with an error.
    public static let queryMemorySizeMax = 256 * 1024 * 1024
    /// Packs whose read models one SQL query names.
    ///
    /// Above: the query is refused.
    public static let queryPackCountMax = 10
    /// A message of sync.
    ///
    /// Above: refused before it is read.
    public static let messageSizeMax = 32 * 1024 * 1024
    /// Events of a push, or of one answer to a pull.
    ///
    /// Above: the rest follows in the next exchange.
    public static let exchangeCountMax = 50_000
    /// Bytes of their blocks before compression.
    ///
    /// Above: the rest follows in the next exchange.
    public static let exchangeSizeMax = 8 * 1024 * 1024
    /// Pending runs listed in a pull.
    ///
    /// Above: events of further runs are sent in full, as those of others are.
    package static let ownRunCountMax = 64
    /// Sizes at which a replica and its authority compare their logs in one exchange.
    ///
    /// Above: the message is refused.
    package static let comparedSizeCountMax = 64
    /// Packs that an authority requests at once while a space is published.
    ///
    /// Above: the others are requested later.
    package static let wantedPackCountMax = 64
    /// Bytes of the name of a space.
    ///
    /// Above: refused.
    package static let spaceNameSizeMax = 64
    /// Bytes of the address of a space on a server, and of a token.
    ///
    /// Above: refused.
    package static let addressSizeMax = 2048
    /// Bytes of a server's reply in JSON.
    ///
    /// Above: it is not read.
    package static let replySizeMax = 8 * 1024 * 1024
    /// Bytes of a file that are requested at once when a space is copied.
    ///
    /// Above: the rest follows in the next request.
    package static let copiedPartSizeMax = 8 * 1024 * 1024
    /// Bytes that a machine (verify, seal, salvage) works through in one step, unless its caller
    /// says otherwise.
    ///
    /// Above: the rest follows in the next step.
    package static let stepSize = 1024 * 1024
    /// Bytes of the label of a token.
    ///
    /// Above: refused.
    package static let tokenLabelSizeMax = 128
    /// Roles of a token.
    ///
    /// Above: refused.
    package static let tokenRoleCountMax = 64
    /// Patterns of the queries that a token is for, or that anybody may ask of a space.
    ///
    /// Above: refused.
    package static let queryPatternCountMax = 64
    /// Bytes of such a pattern or role, with its pack.
    ///
    /// Above: refused.
    package static let qualifiedNameSizeMax = 128
    /// Replicas that belong to one token or actor in a space.
    ///
    /// Above: the push is refused.
    package static let holderReplicaCountMax = 10_000
    /// Replicas of a space, all that ever wrote to it.
    ///
    /// Above: refused.
    public static let spaceReplicaCountMax = 100_000
    /// Events of a space on a server, unless it has a quota of its own.
    ///
    /// Above: the push is refused.
    public static let spaceEventCountMax = 1_000_000_000
    /// Bytes of a space on a server, unless it has a quota of its own.
    ///
    /// Above: the push is refused.
    public static let spaceSizeMax: Int64 = 256 * 1024 * 1024 * 1024
    /// Requests with one token in a second, unless it has a rate of its own.
    ///
    /// Above: refused for a while.
    public static let tokenRequestRateMax = 1000
    /// Events pushed with one token in a second, unless it has a rate of its own.
    ///
    /// Above: refused for a while.
    public static let tokenEventRateMax = 100_000
    /// Seconds of a rate that may be used up at once.
    public static let rateBurstSecondsMax = 10
    /// Events in one answer in JSON.
    ///
    /// Above: the rest follows in the next.
    public static let answerCountMax = 1000
    /// Bytes of events in one answer in JSON.
    ///
    /// Above: the rest follows in the next.
    public static let answerSizeMax = 1024 * 1024
    /// Events examined for one filtered answer; a block counts as 64 at least, and so does a
    /// segment that its index lets us skip.
    ///
    /// Above: the answer ends early, and the next continues.
    public static let scanEventCountMax = 65_536
    /// Queries and scans of one space that run at once; there is a higher bound for all spaces.
    ///
    /// Above: they wait for their turn.
    package static let spaceReadCountMax = 2
    /// Queries and scans with one token that run at once.
    ///
    /// Above: they wait for their turn.
    package static let tokenReadCountMax = 2
    /// Seconds for which a query or a scan waits for its turn.
    ///
    /// Above: refused for a while.
    package static let readWaitSecondsMax = 2
    /// Seconds for which a request may wait for a thread.
    ///
    /// Above: the server reports that it is slow.
    package static let slowWaitSecondsMax = 5
    /// Seconds that a commit may take.
    ///
    /// Above: the server reports that it does not work.
    package static let standstillSecondsMax = 10
    /// Seconds that a stopping server gives its clients.
    ///
    /// Above: their connections are closed.
    package static let stopSecondsMax = 5
    /// Bytes of the body of a request in JSON.
    ///
    /// Above: refused before it is read.
    public static let requestSizeMax = 4 * 1024 * 1024
    /// Seconds for which a replica may wait for news with one request.
    public static let newsWaitSecondsMax = 60
    /// Seconds for which a reader of events waits with one request.
    public static let longPollSecondsMax = 30
    /// Requests in a second from one address that need no token: public queries, and those of the
    /// old app.
    ///
    /// Ten times as many after a rest; above: told when to come again.
    package static let addressRequestRateMax = 20

    /// Addresses whose requests are counted, of public queries and of the old app.
    ///
    /// Above: all begin anew.
    package static let addressCountMax = 10_000

    /// Bytes of the first line and the headers of a request over HTTP.
    ///
    /// Above: refused.
    package static let httpHeadSizeMax = 4 * 1024
    /// Bytes of bodies that a server holds at once, of requests and answers together.
    ///
    /// Above: new requests are refused for a while.
    package static let httpBodiesSizeMax = 256 * 1024 * 1024
    /// Connections to a server.
    ///
    /// Above: they wait until others are closed.
    package static let httpConnectionCountMax = 10_000
    /// Connections to a server from one address, where others than this machine reach it.
    ///
    /// Above: closed.
    package static let httpAddressConnectionCountMax = 1000
    /// Seconds in which nothing moves on a connection, and seconds for the head of a request.
    ///
    /// Above: closed.
    package static let httpQuietSecondsMax = 30
    /// Bytes in a second at which a body is too slow, after the first seconds.
    ///
    /// Slower: closed.
    package static let httpSlowRateSizeMax = 16 * 1024
    /// Requests to a server that wait for a thread.
    ///
    /// Above: refused for a while.
    package static let httpQueueCountMax = 1000
    /// Requests to a server that wait for news, and live streams.
    ///
    /// Above: refused for a while.
    package static let httpWaitCountMax = 8000
    /// Spaces that a server keeps open for requests in JSON.
    ///
    /// Above: the least recently used is closed, and opened again when needed.
    package static let servedSpaceCountMax = 128
    /// Spaces whose read models a server keeps open; each has up to 15 files.
    ///
    /// Above: the least recently used are closed.
    package static let servedModelCountMax = 8
    /// Milliseconds by which a clock may be ahead of the time of acceptance.
    ///
    /// Above: it counts as this far ahead.
    public static let clockLeadMillisecondsMax: Int64 = 5 * 60 * 1000
    /// Milliseconds after 1970 from which on an event may say that it happened.
    ///
    /// Below: refused where it is recorded; what was recorded before stays.
    public static let eventTimeMillisecondsMin: Int64 = 0
    /// Milliseconds from now up to which an event may say that it happens: a year.
    ///
    /// Above: refused where it is recorded; what was recorded before stays.
    public static let eventLeadMillisecondsMax: Int64 = 366 * 24 * 60 * 60 * 1000
    /// Pixels along a side of a picture.
    ///
    /// Above: refused.
    package static let pictureSideMax = 20_000
    /// Pixels of a picture: each takes 3 bytes, and 9 while a JPEG in several scans is read.
    ///
    /// Above: refused.
    package static let picturePixelCountMax = 50_000_000
    /// Scans of a JPEG, each of which goes over all pixels; programs write ten or so.
    ///
    /// Above: refused.
    package static let pictureScanCountMax = 64
    /// Events whose salts come from one seed.
    package static let saltGroupCount = 1024

    /// Checks how the bounds relate; called when a data directory is opened.
    package static func check() {
        precondition(eventSizeMax <= batchSizeMax, "one event must fit in a batch")
        precondition(batchSizeMax * 7 / 4 <= blockSizeMax, "batches that share a block must fit")
        precondition(batchCountMax <= blockCountMax, "a batch's events must fit in a block")
        precondition(2 * blockSizeMax <= frameSizeMax, "a frame must hold a block and its frills")
        precondition(frameSizeMax < logFileSizeMax, "a frame must fit in a file")
        precondition(reserveSizeMax < logFileSizeMax, "the reserve must not need a file of its own")
        precondition(2 * logQuietSizeMax / logFileSizeMax < openFileCountMax / 2, "files stay few")
        precondition(UInt64(blockSizeMax) <= UInt64(UInt32.max), "a block fits its header field")
        precondition(
            exchangeSizeMax + packSizeMax < messageSizeMax,
            "a message must hold the largest pack, and what an exchange brings"
        )
        precondition(servedModelCountMax <= servedSpaceCountMax, "models belong to open spaces")
        precondition(2 * blockSizeMax <= exchangeSizeMax, "an exchange must bring some blocks")
        precondition(eventSizeMax <= textKeySizeMax, "every text of an event must have a key")
        precondition(textKeySizeMax * 11 <= sqlValueSizeMax, "a key must fit a read model")
    }
}
