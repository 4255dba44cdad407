import DiarioCore
package import DiarioEngine
import DiarioFormat
import DiarioLog
import DiarioProjection
import DiarioSchema
import DiarioStorage
import DiarioTransport

extension DiarioError {
    /// What an app is told of `error`: the one place where errors of lower modules become ours.
    package init(_ error: any Error) {
        switch error {
        case let error as DiarioError: self = error
        case let error as LogError: self.init(error)
        case let error as StorageError: self.init(error)
        case let error as ProjectionError: self.init(error)
        case let error as FormatError: self.init(error, line: nil)
        case let error as SchemaError: self.init(error, line: nil)
        case let error as PackError: self.init(error)
        case let error as TransportError: self.init(.offline, error.message)
        default: self.init(.system, "\(error)")
        }
    }
}
