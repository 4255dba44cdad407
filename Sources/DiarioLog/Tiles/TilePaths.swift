package import DiarioCore

// The paths of the tiles of a space: schema/format/proofs.md, section 7.

extension LogPaths {
    package static func tiles(_ space: SpaceID) -> String { "spaces/\(space.text)/tiles" }
    package static func tileMark(_ space: SpaceID) -> String { tiles(space) + "/size" }
    /// The file with all hashes of a level, which counts from 1.
    package static func tiles(_ space: SpaceID, level: Int) -> String { "\(tiles(space))/\(level)" }
}
