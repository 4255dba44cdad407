package import DiarioCore
import DiarioProjection
import DiarioSchema

extension ReadModels {
    /// The events in quarantine, with their packs: those in use, or of them these.
    package func quarantined(
        of names: [String]? = nil
    ) throws(DiarioError) -> [(pack: String, event: QuarantinedEvent)] {
        var all: [(pack: String, event: QuarantinedEvent)] = []
        for pack in packs where names?.contains(pack.name) ?? true {
            guard let live = place.live(pack.name) else { continue }
            let path = place.path(of: live.name)
            do {
                let events = try ModelSummary.quarantined(path: path, isImmutable: place.isReadOnly)
                all += events.map { (pack: pack.name, event: $0) }
            } catch {
                throw DiarioError(error)
            }
        }
        return all
    }
}
