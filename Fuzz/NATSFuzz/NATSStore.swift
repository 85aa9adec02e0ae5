import Foundation
import FuzzSupport

/// The part of JetStream that the queue uses. Responses are computed correctly and then corrupted by the input.
///
/// Processes one command at a time and returns the messages to send.
final class NATSStore {
    private struct Message {
        var number: UInt64
        var subject: String
        var headers: String
        var bytes: [UInt8]
    }

    private struct Consumer {
        var filter: String
        /// The next sequence number to deliver, and the number of delivered messages.
        var next: UInt64
        var place: UInt64 = 0
    }

    /// Pull requests that are not fulfilled yet.
    private struct Pull {
        var connection: Int
        var consumer: String
        var inbox: String
        var left: Int
    }

    var input: FuzzInput
    private var messages: [Message] = []
    private var consumers: [String: Consumer] = [:]
    private var pulls: [Pull] = []
    private var subscriptions: [Int: [(subject: String, number: String)]] = [:]
    private var lastNumber: UInt64 = 0
    private var repliesLeft = 5_000

    init(_ input: FuzzInput) {
        self.input = input
    }

    // MARK: The protocol

    func greeting(_ connection: Int) -> [UInt8] {
        subscriptions[connection] = []
        var tree = JSONTree(
            Array(
                """
                {"server_id":"A","server_name":"a","version":"2.9.10","proto":1,"go":"go1.20","host":"127.0.0.1",\
                "port":4222,"headers":true,"max_payload":1048576,"jetstream":true,"client_id":1,"nonce":"a"}
                """.utf8))
        let choice = input.byte()
        if choice & 0xE0 == 0xE0 { for _ in 0..<(choice & 7) { tree.spoil(&input) } }
        return Array("INFO \(tree.text)\r\n".utf8)
    }

    /// Processes a command of a client, with its payload if any.
    func answer(_ connection: Int, _ words: [Substring], _ headers: String, _ payload: [UInt8]) -> [(Int, [UInt8])] {
        switch words.first?.uppercased() {
        case "PING": return [(connection, Array("PONG\r\n".utf8))]
        case "SUB" where words.count >= 3:
            subscriptions[connection, default: []].append((String(words[1]), String(words[words.count - 1])))
            return []
        case "PUB" where words.count >= 3, "HPUB" where words.count >= 4:
            let hasReply = words.count == (words[0].uppercased() == "PUB" ? 4 : 5)
            return published(connection, String(words[1]), hasReply ? String(words[2]) : nil, headers, payload)
        default: return []
        }
    }

    private func published(
        _ connection: Int, _ subject: String, _ reply: String?, _ headers: String, _ payload: [UInt8]
    ) -> [(Int, [UInt8])] {
        repliesLeft -= 1
        guard repliesLeft > 0, !subject.hasPrefix("$JS.ACK.") else { return [] }
        if subject.hasPrefix("$JS.API.CONSUMER.MSG.NEXT."), let reply {
            let name = String(subject.split(separator: ".").last ?? "")
            let wish = (try? JSONSerialization.jsonObject(with: Data(payload))) as? [String: Any]
            pulls.append(
                Pull(connection: connection, consumer: name, inbox: reply, left: wish?["batch"] as? Int ?? 1))
            let given = give()
            guard wish?["no_wait"] as? Bool == true, let index = pulls.firstIndex(where: { $0.inbox == reply }) else {
                return given
            }
            pulls.remove(at: index)
            return given + [(connection, status("404 No Messages", on: reply, connection))]
        }
        guard let reply else {
            if !subject.hasPrefix("$JS.") { _ = keep(subject, headers, payload) }
            return give()
        }
        let text: String
        if subject.hasPrefix("$JS.API.") {
            text = api(String(subject.dropFirst(8)), payload)
        } else {
            text = keep(subject, headers, payload)
        }
        let answer = spoiled(Array(text.utf8))
        return [(connection, message(reply, reply, nil, "", answer, connection))] + give()
    }

    // MARK: Streams

    private static let stale = #"{"error":{"code":400,"err_code":10071,"description":"wrong last sequence"}}"#

    private func keep(_ subject: String, _ headers: String, _ payload: [UInt8]) -> String {
        if let expected = header("Nats-Expected-Last-Subject-Sequence", headers).flatMap({ UInt64($0) }) {
            let last = messages.last { $0.subject == subject }?.number ?? 0
            guard last == expected else { return Self.stale }
        }
        lastNumber += 1
        messages.append(Message(number: lastNumber, subject: subject, headers: headers, bytes: payload))
        return #"{"stream":"S", "seq":\#(lastNumber)}"#
    }

    private func header(_ name: String, _ headers: String) -> String? {
        for line in headers.split(separator: "\r\n") where line.hasPrefix("\(name):") {
            return line.dropFirst(name.count + 1).trimmingCharacters(in: .whitespaces)
        }
        return nil
    }

    private func api(_ operation: String, _ payload: [UInt8]) -> String {
        let parts = operation.split(separator: ".").map(String.init)
        let name = parts.last ?? ""
        let body = String(decoding: payload, as: UTF8.self)
        switch parts.prefix(2).joined(separator: ".") {
        case "STREAM.INFO": return #"{"error":{"code":404,"err_code":10059,"description":"stream not found"}}"#
        case "STREAM.CREATE":
            return
                #"{"config":\#(body),"state":{"messages":3,"bytes":100},"cluster":{"leader":"a","replicas":"#
                + #"[{"name":"b","current":true,"offline":false}]}}"#
        case "STREAM.PURGE": return #"{"purged":1}"#
        case "STREAM.MSG": return found(parts, body)
        case "CONSUMER.INFO": return #"{"error":{"code":404,"err_code":10014,"description":"consumer not found"}}"#
        case "CONSUMER.DURABLE", "CONSUMER.CREATE": return made(parts, payload, name)
        default: return "{}"
        }
    }

    private func made(_ parts: [String], _ payload: [UInt8], _ last: String) -> String {
        let wish = (try? JSONSerialization.jsonObject(with: Data(payload))) as? [String: Any]
        let config = wish?["config"] as? [String: Any] ?? [:]
        let name = parts[1] == "DURABLE" ? last : "passing\(consumers.count)"
        let filter = config["filter_subject"] as? String ?? ">"
        let start = (config["opt_start_seq"] as? NSNumber)?.uint64Value ?? 1
        consumers[name] = Consumer(filter: filter, next: start)
        let pending = messages.count { $0.number >= start && Self.fits($0.subject, filter) }
        let text = JSONTree.member("config", of: Array(payload)) ?? "{}"
        return #"{"name":"\#(name)","config":\#(text),"num_pending":\#(pending)}"#
    }

    private func found(_ parts: [String], _ body: String) -> String {
        guard parts.count > 2, parts[2] == "GET" else { return #"{"success":true}"# }
        let wish = (try? JSONSerialization.jsonObject(with: Data(body.utf8))) as? [String: Any]
        let subject = wish?["last_by_subj"] as? String
        guard let message = messages.last(where: { $0.subject == subject }) else {
            return #"{"error":{"code":404,"err_code":10037,"description":"no message found"}}"#
        }
        let data = Data(spoiled(message.bytes)).base64EncodedString()
        let headers = Data(message.headers.utf8).base64EncodedString()
        let more = message.headers.isEmpty ? "" : #","hdrs":"\#(headers)""#
        return #"{"message":{"subject":"a","seq":\#(message.number),"data":"\#(data)"\#(more)}}"#
    }

    /// Whether a subject matches a filter.
    private static func fits(_ subject: String, _ filter: String) -> Bool {
        let (words, wanted) = (subject.split(separator: "."), filter.split(separator: "."))
        for (index, word) in wanted.enumerated() {
            if word == ">" { return words.count > index }
            guard index < words.count, word == "*" || word == words[index] else { return false }
        }
        return words.count == wanted.count
    }

    // MARK: Deliveries

    /// Delivers available messages to pending pull requests.
    private func give() -> [(Int, [UInt8])] {
        var sent: [(Int, [UInt8])] = []
        for index in pulls.indices {
            guard var consumer = consumers[pulls[index].consumer] else { continue }
            while pulls[index].left > 0,
                let message = messages.first(where: {
                    $0.number >= consumer.next && Self.fits($0.subject, consumer.filter)
                })
            {
                pulls[index].left -= 1
                consumer.next = message.number + 1
                consumer.place += 1
                let pending = messages.count { $0.number >= consumer.next && Self.fits($0.subject, consumer.filter) }
                let reply =
                    "$JS.ACK.S.\(pulls[index].consumer).\(number(1)).\(number(message.number))."
                    + "\(number(consumer.place)).1.\(number(UInt64(pending)))"
                let connection = pulls[index].connection
                let bytes = spoiled(message.bytes)
                sent.append(
                    (
                        connection,
                        self.message(pulls[index].inbox, message.subject, reply, message.headers, bytes, connection)
                    ))
            }
            consumers[pulls[index].consumer] = consumer
        }
        pulls.removeAll { $0.left == 0 }
        return sent
    }

    /// A number as text, sometimes corrupted.
    private func number(_ truth: UInt64) -> String {
        let choice = Int(input.byte())
        guard choice >= 0xE8 else { return "\(truth)" }
        let texts = [
            "0", "9223372036854775807", "18446744073709551615", "9999999999999999999", "-1", "", "x", "1.1",
            "00000000000000000001", "18446744073709551616", "9223372036854775808", "2147483648",
        ]
        return texts[choice % texts.count]
    }

    private func status(_ text: String, on inbox: String, _ connection: Int) -> [UInt8] {
        let texts = ["404 No Messages", "408 Timeout", "409 Exceeded", "503", "100", "999999999999999", "-1", ""]
        let choice = Int(input.byte())
        let line = choice >= 0xE8 ? texts[choice % texts.count] : text
        return message(inbox, inbox, nil, "NATS/1.0 \(line)\r\n\r\n", [], connection)
    }

    // MARK: Outgoing messages

    /// Corrupts values in JSON.
    private func spoiled(_ bytes: [UInt8]) -> [UInt8] {
        let choice = input.byte()
        guard choice >= 0xC0, bytes.first == UInt8(ascii: "{") else { return bytes }
        var tree = JSONTree(bytes)
        switch choice {
        case 0xC0..<0xF0: for _ in 0...(choice & 3) { tree.spoil(&input) }
        case 0xF0: return Array(Self.stale.utf8)
        case 0xF1: return Array(#"{"error":{"code":503,"err_code":\#(number(10_008)),"description":"no"}}"#.utf8)
        case 0xF2: return []
        case 0xF3: return Array(bytes.dropLast())
        case 0xF4: return Array(repeatElement(UInt8(ascii: "["), count: 60_000))
        case 0xF5: return (0..<input.byte()).map { _ in input.byte() }
        default: for _ in 0..<8 { tree.spoil(&input) }
        }
        return Array(tree.text.utf8)
    }

    /// - Parameters:
    ///   - inbox: The subject whose subscription receives the message.
    ///   - subject: The subject in the message.
    private func message(
        _ inbox: String, _ subject: String, _ reply: String?, _ headers: String, _ bytes: [UInt8], _ connection: Int
    ) -> [UInt8] {
        let number = subscriptions[connection, default: []].last { Self.fits(inbox, $0.subject) }?.number ?? "1"
        let middle = reply.map { " \($0)" } ?? ""
        let (length, total) = (headers.utf8.count, headers.utf8.count + bytes.count)
        let choice = Int(input.byte())
        guard choice >= 0xE0 else {
            let line =
                headers.isEmpty
                ? "MSG \(subject) \(number)\(middle) \(total)\r\n"
                : "HMSG \(subject) \(number)\(middle) \(length) \(total)\r\n"
            return Array((line + headers).utf8) + bytes + [0x0D, 0x0A]
        }
        let whole = Array("MSG \(subject) \(number)\(middle) \(total)\r\n\(headers)".utf8) + bytes + [0x0D, 0x0A]
        switch choice & 0x1F {
        case 0: return []
        case 1: return whole + whole
        case 2: return Array("MSG \(subject) \(self.number(9))\(middle) \(total)\r\n\(headers)".utf8) + bytes
        case 3: return Array("MSG \(subject) \(number) \(self.number(0))\r\n".utf8)
        case 4: return Array("HMSG \(subject) \(number)\(middle) \(self.number(0)) \(total)\r\n".utf8) + bytes
        case 5: return Array("HMSG \(subject) \(number)\(middle) 12 \(self.number(12))\r\nNATS/1.0\r\n\r\n\r\n".utf8)
        case 6: return Array("-ERR 'Authorization Violation'\r\n".utf8) + whole
        case 7: return Array("-ERR 'Maximum Payload Violation'\r\n".utf8)
        case 8: return greeting(connection) + whole
        case 9: return Array("+OK\r\nPING\r\n".utf8) + whole
        case 10: return (0..<input.byte()).map { _ in input.byte() } + whole
        case 11: return Array(whole.prefix(Int(input.byte())))
        case 12: return Array("MSG \(String(repeating: "s", count: 6_000)) 1 0\r\n\r\n".utf8)
        case 13:
            let lines = "NATS/1.0 \(self.number(100))\r\nStatus: \(self.number(404))\r\nKV-Operation: \(self.number(1))"
            let head = "\(lines)\r\n\r\n"
            return Array("HMSG \(subject) \(number)\(middle) \(head.utf8.count) \(head.utf8.count)\r\n\(head)\r\n".utf8)
        case 14:
            // For another key, or for none.
            let others = ["$KV.attachprep_jobs.", "$KV.x", "a", "attachprep.lanes.high.", "$KV.attachprep_jobs.j.é"]
            let other = others[Int(input.byte()) % others.count]
            return Array("MSG \(other) \(number)\(middle) \(bytes.count)\r\n".utf8) + bytes + [0x0D, 0x0A]
        case 15: return NATSPeer.closing
        default: return whole
        }
    }
}

extension JSONTree {
    /// The text of an object's member.
    static func member(_ name: String, of bytes: [UInt8]) -> String? {
        guard bytes.first == UInt8(ascii: "{"), case .object(let members) = JSONTree(bytes) else { return nil }
        return members.first { $0.key == "\"\(name)\"" }?.value.text
    }
}
