package import DiarioCore

/// The log of one space.
package struct SpaceLog: Sendable {
    package let log: LogStore
    package let space: SpaceID

    var shared: LogShared { log.shared }
}

extension LogStore {
    package subscript(space: SpaceID) -> SpaceLog { SpaceLog(log: self, space: space) }
}
