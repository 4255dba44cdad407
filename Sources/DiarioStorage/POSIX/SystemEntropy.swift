import CPlatform
import DiarioCore

/// The system's generator of random bits (`getrandom`).
package final class SystemEntropy: EntropySource {
    package init() {}

    package func next() -> UInt64 { diario_random() }
}
