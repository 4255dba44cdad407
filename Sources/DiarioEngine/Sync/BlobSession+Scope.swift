import DiarioCore
package import DiarioCrypto
import DiarioLog

extension BlobSession.Scope {
    /// What may leave the device that recorded it, and of others what is here or was asked for.
    package init(of models: ReadModels, takesOthers: Bool) throws(DiarioError) {
        self.init()
        let (space, actor) = (models.space, try models.space.defaultActor())
        for blob in try models.referredBlobs() where !blob.isErased {
            if blob.stays {
                if blob.isRecordedHere { staying.append(blob.id) } else { leaving.append(blob.id) }
                continue
            }
            var isWanted = blob.isOwn(of: actor) || takesOthers
            if !isWanted { isWanted = try space.storedBlobSize(blob.id) != nil }
            if isWanted { wanted.append((blob.id, blob.storedSize)) }
        }
    }

    /// One blob, whoever recorded it.
    ///
    /// - Throws: ``DiarioError`` if no event refers to it, if it is erased, or if it stays on the
    ///   device that recorded it.
    package init(of models: ReadModels, only id: Hash32) throws(DiarioError) {
        guard let blob = try models.referredBlobs(among: [id])[id], !blob.isErased else {
            throw DiarioError(.notFound, "No event refers to this blob. Check its id.")
        }
        guard !blob.stays else {
            throw DiarioError(
                .notFound,
                "The bytes of this blob stay on the device that recorded it, until whoever did "
                    + "releases it."
            )
        }
        self.init([(id, blob.storedSize)])
        isPart = true
    }
}
