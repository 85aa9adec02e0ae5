import Foundation
import TestSupport
import Testing

@testable import Curl

@Suite(.timeLimit(.minutes(1))) struct TransferLoopTLSTests {
    @Test func `Transfers that start together share one HTTP/2 connection`() async throws {
        let server = try TLSFileServer(.http2)
        try server.folder.write("meow", to: "cat")
        let loop = try TransferLoop(idleConnectionsMax: 4)
        let limits = TransferLimits(
            connect: .seconds(30), firstByte: .seconds(30), stall: .seconds(30), deadline: .now + .seconds(60))
        var settings = TransferSettings(url: server.url("/cat"), limits: limits)
        settings.certificateAuthorityFile = try TestCertificates.shared.authorityFile
        let reports = await withTaskGroup(of: TransferReport.self) { group in
            for _ in 0..<10 {
                group.addTask { [settings] in await loop.perform(settings, observer: SeenTransfer()) }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(reports.allSatisfy { $0.ending == .completed && $0.httpVersion == "2" })
        #expect(reports.map(\.connectionsOpened).reduce(0, +) == 1)
        await loop.shutdown()
    }
}
