import DiarioCore
import DiarioLog
import DiarioSync

// Messages for the case that another space has the name. The reasons cannot be told apart here: a
// wrong address, a space created again under another lineage, or one that the server lost.

extension Refusal {
    /// Another space has the name than the one that is meant.
    init(_ present: SpaceStatus, isUsed: Bool, insteadOf meant: Lineage) {
        let manifest = present.manifest
        var message =
            "Another space has this name on the server: its lineage is \(manifest.lineage.text), "
            + "and not \(meant.text). Check the address: diario remote show. "
        if isUsed {
            message +=
                "If the space was made anew there, as diario salvage does, copy it with `diario "
                + "clone URL NEW --lane-of DIR`, where DIR is this folder. " + Self.besideIt
        } else {
            message +=
                "If the server lost the space that is meant, give it back, with a token that has "
                + "the right admin: diario remote restore"
        }
        self.init(.lineage, lineage: manifest.lineage, epoch: manifest.epoch, message)
    }

    /// A space that others use keeps its name.
    init(keeping present: SpaceStatus) {
        self.init(
            .lineage,
            number: present.head,
            lineage: present.manifest.lineage,
            epoch: present.manifest.epoch,
            "Another space has this name on the server, and others use it. Check the address: "
                + "diario remote show. " + Self.besideIt
        )
    }

    private static let besideIt =
        "To give the server the space that is here as well, under a name of its own, have a token "
        + "made for that, `diario token create --space NAME --rights admin`; then `diario remote "
        + "set URL --token-file FILE`, and diario remote restore"
}
