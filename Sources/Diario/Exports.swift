// Identifiers and times appear in the interface of this module; who imports it needs no other.
@_exported public import DiarioCore
@_exported public import DiarioTransport
@_exported public import DiarioEngine
