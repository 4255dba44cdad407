// Identifiers and times appear in the interface of this module, so one import is enough.
@_exported public import DiarioCore
@_exported public import DiarioTransport
@_exported public import DiarioEngine
@_exported public import DiarioSchema
