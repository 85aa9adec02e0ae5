import AttachPrepJobs
import JetStreamQueue
import NATS
import RichPush
import Testing

@Suite struct QueueServersTests {
    @Test(arguments: [
        ("nats://a", ["nats://a"]), ("nats://a:4222,b:5222,nats://c", ["nats://a:4222", "nats://b:5222", "nats://c"]),
        ("tls://a,tls://b:1", ["tls://a", "tls://b:1"]),
        ("nats://[::1]:4222,[fe80::1]", ["nats://[::1]:4222", "nats://[fe80::1]"]),
        ("nats://me:word@a", ["nats://me:word@a"]),
    ])
    func `servers are written as NATS' tools take them`(text: String, servers: [String]) throws {
        #expect(try QueueServers(text).settings.servers == servers)
    }

    @Test(arguments: [
        "nats://", "nats://a,", "nats://a:b", "nats://a:0", "nats://a:70000", "nats://a b", "nats://a/x", "nats://[::1",
        "nats://[::1]x", "nats://a?x", "nats://größe", "nats://\u{200D}a", "nats://me:word@\u{200D}a", "a\r\nb",
    ])
    func `what is no server is refused`(text: String) {
        #expect(throws: AttachPrepError.self) { try QueueServers(text) }
    }

    @Test func `one server that speaks TLS has all of them do so`() throws {
        #expect(
            try QueueServers("nats://a,tls://b").settings.tls != nil && QueueServers("nats://a").settings.tls == nil)
    }

    @Test func `they are shown without who we are`() throws {
        #expect("\(try QueueServers("nats://me:word@a:1,tls://b"))" == "nats://a:1,tls://b")
    }
}

@Suite struct NKeySeedTests {
    @Test func `a seed has its public key`() throws {
        let seed = "SUAAKVENLH3VSPAL4WZD3UZGZ4ZSGALYJHVSD4TF3NWSE2U5IEP444Y2RI"
        let file = "-----BEGIN USER NKEY SEED-----\n\(seed)\n------END USER NKEY SEED------\n"
        let key = "UCRJD4LNYFETBCRP4KONQ3BQD7HT33I27CWTNBKOBCJG7YTXH7TSLOGO"
        #expect(try NKeySeed(seed).publicKey == key && NKeySeed(file).publicKey == key)
    }

    @Test(arguments: [
        "", "SUAAKVENLH3VSPAL4WZD3UZGZ4ZSGALYJHVSD4TF3NWSE2U5IEP444Y2RA",
        "SUAAKVENLH3VSPAL4WZD3UZGZ4ZSGALYJHVSD4TF3NWSE2U5IEP444Y2R", "SU1", "SU",
        "UCRJD4LNYFETBCRP4KONQ3BQD7HT33I27CWTNBKOBCJG7YTXH7TSLOGO",
    ])
    func `what is no seed is refused`(text: String) {
        #expect(throws: AttachPrepError.self) { try NKeySeed(text) }
    }
}
