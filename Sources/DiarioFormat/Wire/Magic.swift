/// The four letters with which each file, frame, block and message begins.
///
/// All are listed in schema/format/directory.md, section 2. Versions before the first release had
/// the same letters in upper case, which is how their bytes are told from damaged ones.
package enum Magic: UInt32, Sendable, CaseIterable {
    case blob = 0x626c_6264  // "dblb"
    case block = 0x6b6c_6264  // "dblk"
    case segment = 0x6765_7364  // "dseg"
    case sidecar = 0x7265_7064  // "dper"
    case logFile = 0x6c61_7764  // "dwal"
    case frame = 0x6d72_6664  // "dfrm"
    case syncedMark = 0x6e79_7364  // "dsyn"
    case manifest = 0x6e61_6d64  // "dman"
    case replica = 0x7065_7264  // "drep"
    case publishing = 0x6275_7064  // "dpub"
    case tileMark = 0x6c69_7464  // "dtil"
    case inbox = 0x786f_6264  // "dbox"
    case inboxNote = 0x7765_6e64  // "dnew"
    case kept = 0x7065_6b64  // "dkep"
    case imports = 0x706d_6964  // "dimp"
    case authors = 0x7475_6164  // "daut"
    case message = 0x6773_6d64  // "dmsg"
    case names = 0x6d61_6e64  // "dnam"
    case pack = 0x6b61_7064  // "dpak"

    /// Throws unless `found` is this magic.
    package func check(_ found: UInt32) throws(FormatError) {
        guard found != rawValue else { return }
        let isOld = found == rawValue & ~0x2020_2020
        throw isOld ? .beforeFirstRelease : .malformed(.magic, at: 0)
    }

    /// The letters.
    package var text: String {
        String((0..<4).map { Character(Unicode.Scalar(UInt8(rawValue >> (8 * $0) & 0xff))) })
    }
}
