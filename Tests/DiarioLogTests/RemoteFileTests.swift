import DiarioCore
import DiarioLog
import DiarioSimulation
import DiarioStorage
import DiarioTestSupport
import Foundation
import Testing

/// What a replica remembers of its server.
struct RemoteFileTests {
    private static let remote = RemoteFile(
        address: "https://example.org/v1/spaces/home",
        token: "diario_0000000000001_secret"
    )

    @Test func whatIsRememberedComesBack() throws {
        let log = try TestLog(seed: 1)
        let store = try log.open()
        let space = try store.makeSpace(isAuthority: false).space
        #expect(try store[space].remote() == nil)
        #expect(try store[space].lastSync() == nil)
        var remote = Self.remote
        for certificates in [nil, "/etc/own certificates.pem"] {
            remote.certificates = certificates
            try store[space].setRemote(remote)
            #expect(try store[space].remote() == remote)
        }
        try store[space].noteSync(head: 17)
        let success = LastSyncFile.Success(at: log.clock.now, head: 17)
        #expect(try store[space].lastSync() == LastSyncFile(success))
        try store[space].setRemote(nil)
        try store[space].setRemote(nil)
        #expect(try store[space].remote() == nil)
        #expect(try store.verify(space) { _ in nil }.faults == [])
    }

    /// Whoever syncs by the clock never saw why it failed.
    @Test func theLastErrorIsRememberedUntilASyncSucceeds() throws {
        let log = try TestLog(seed: 1)
        let store = try log.open()
        let space = try store.makeSpace(isAuthority: false).space
        try store[space].noteFailedSync("It is\noffline.")
        let first = LastSyncFile.Failure(at: log.clock.now, message: "It is offline.")
        #expect(try store[space].lastSync() == LastSyncFile(nil, first))
        try store[space].noteSync(head: 3)
        let success = LastSyncFile.Success(at: log.clock.now, head: 3)
        #expect(try store[space].lastSync() == LastSyncFile(success))
        try store[space].noteFailedSync(String(repeating: "\u{e9}", count: 5000))
        let last = try #require(try store[space].lastSync())
        #expect(last.success == success)
        #expect(last.failure?.message == String(repeating: "\u{e9}", count: 1024))
        #expect(try store.verify(space) { _ in nil }.faults == [])
    }

    @Test func everyDamagedByteIsFound() {
        let bytes = Self.remote.encoded()
        #expect(RemoteFile(bytes) == Self.remote)
        for index in bytes.indices {
            for bit in 0..<8 {
                var damaged = bytes
                damaged[index] ^= UInt8(1 << bit)
                #expect(RemoteFile(damaged) == nil)
            }
            #expect(RemoteFile(Array(bytes[..<index])) == nil)
        }
        #expect(RemoteFile(bytes + bytes) == nil)
        #expect(LastSyncFile(bytes) == nil)
    }

    @Test func aDamagedFileIsSaidAndSetAnew() throws {
        let log = try TestLog(seed: 1)
        let store = try log.open()
        let space = try store.makeSpace(isAuthority: false).space
        try Files.replace(LogPaths.remote(space), with: [1, 2, 3], in: store.directory)
        #expect { try store[space].remote() } throws: {
            guard case .corrupt? = $0 as? LogError else { return false }
            return true
        }
        try store[space].setRemote(Self.remote)
        #expect(try store[space].remote() == Self.remote)
    }

    @Test func aDamagedFileIsFound() throws {
        for isRemote in [true, false] {
            let log = try TestLog(seed: 1)
            let store = try log.open()
            let space = try store.makeSpace(isAuthority: false).space
            _ = try store.append(log.append(3, to: space))
            try store[space].setRemote(Self.remote)
            try store[space].noteSync(head: 17)
            #expect(try store[space].remoteFaults() == [])
            let path = isRemote ? LogPaths.remote(space) : LogPaths.lastSync(space)
            try log.disk.flipBit(3, at: 20, of: path)
            let fault = Fault(file: path, offset: 0, what: "the file is damaged")
            #expect(try store.verify(space) { _ in nil }.faults == [fault])
        }
    }

    /// The token is in the file from its first byte on.
    @Test func onlyItsOwnerReadsIt() throws {
        let folder = try TemporaryFolder()
        let directory = try folder.directory()
        // One that a crash left is not filled, but made anew.
        _ = try directory.open("remote.new", .create)
        try Files.replacePrivately("remote", with: Self.remote.encoded(), in: directory)
        let attributes = try FileManager.default.attributesOfItem(atPath: folder.path + "/remote")
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        #expect(throws: StorageError.self) { try directory.open("remote", .createPrivate) }
    }
}
