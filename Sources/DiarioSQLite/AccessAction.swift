import CSQLite

/// The kinds of access that an authorizer is asked about.
package enum AccessAction: Hashable, Sendable {
    case createIndex, createTable, createTemporaryIndex, createTemporaryTable
    case createTemporaryTrigger, createTemporaryView, createTrigger, createView
    case delete
    case dropIndex, dropTable, dropTemporaryIndex, dropTemporaryTable
    case dropTemporaryTrigger, dropTemporaryView, dropTrigger, dropView
    case insert, pragma, read, select, transaction, update
    case attach, detach, alterTable, reindex, analyze
    case createVirtualTable, dropVirtualTable
    case function, savepoint, recursive
    /// One that came with a later version of SQLite.
    case unknown(Int32)

    init(code: Int32) {
        self =
            switch code {
            case SQLITE_CREATE_INDEX: .createIndex
            case SQLITE_CREATE_TABLE: .createTable
            case SQLITE_CREATE_TEMP_INDEX: .createTemporaryIndex
            case SQLITE_CREATE_TEMP_TABLE: .createTemporaryTable
            case SQLITE_CREATE_TEMP_TRIGGER: .createTemporaryTrigger
            case SQLITE_CREATE_TEMP_VIEW: .createTemporaryView
            case SQLITE_CREATE_TRIGGER: .createTrigger
            case SQLITE_CREATE_VIEW: .createView
            case SQLITE_DELETE: .delete
            case SQLITE_DROP_INDEX: .dropIndex
            case SQLITE_DROP_TABLE: .dropTable
            case SQLITE_DROP_TEMP_INDEX: .dropTemporaryIndex
            case SQLITE_DROP_TEMP_TABLE: .dropTemporaryTable
            case SQLITE_DROP_TEMP_TRIGGER: .dropTemporaryTrigger
            case SQLITE_DROP_TEMP_VIEW: .dropTemporaryView
            case SQLITE_DROP_TRIGGER: .dropTrigger
            case SQLITE_DROP_VIEW: .dropView
            case SQLITE_INSERT: .insert
            case SQLITE_PRAGMA: .pragma
            case SQLITE_READ: .read
            case SQLITE_SELECT: .select
            case SQLITE_TRANSACTION: .transaction
            case SQLITE_UPDATE: .update
            case SQLITE_ATTACH: .attach
            case SQLITE_DETACH: .detach
            case SQLITE_ALTER_TABLE: .alterTable
            case SQLITE_REINDEX: .reindex
            case SQLITE_ANALYZE: .analyze
            case SQLITE_CREATE_VTABLE: .createVirtualTable
            case SQLITE_DROP_VTABLE: .dropVirtualTable
            case SQLITE_FUNCTION: .function
            case SQLITE_SAVEPOINT: .savepoint
            case SQLITE_RECURSIVE: .recursive
            default: .unknown(code)
            }
    }
}
