/// An interface that others know, which an app answers beside those of every space.
package protocol Connector: AnyObject, Sendable {
    /// The methods of a path of its own; nil for other paths.
    func methods(of path: String) -> [String]?
    /// The most bytes that a body may have; throws for those who may not ask.
    func admit(_ head: HTTPRequest) throws -> Int
    /// The answer, when its turn has come.
    func reply(to request: HTTPRequest, in directory: ServedDirectory) throws -> HTTPReply
    /// Throws what says why it cannot be answered from a directory.
    func check(in directory: ServedDirectory) throws
}
