import DiarioCore
import DiarioFormat

/// Plain rows in a frame, which need not be parsed as a whole to be taken up.
struct OwnRows: Sendable {
    let space: SpaceID
    /// Where the block lies in the frame.
    let offset: Int
    let size: Int
    let rows: PlainRows
}
