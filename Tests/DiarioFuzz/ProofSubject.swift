import DiarioFormat

/// What others give to be checked: proofs, and the names of tiles.
enum ProofSubject {
    static func proof(_ bytes: [UInt8]) {
        guard let proof = try? ProofText(bytes) else { return }
        try? proof.check()
        var text: [UInt8] = []
        proof.append(to: &text, isIndented: false)
        precondition((try? ProofText(text)) == proof, "what is written is read")
    }

    static func tile(_ bytes: [UInt8]) {
        let path = String(decoding: bytes, as: UTF8.self)
        guard let tile = Tile(path: path) else { return }
        precondition(tile.path == path, "a tile has one name")
        precondition(tile.hashes.count == tile.width, "a tile has as many hashes as it is wide")
    }
}
