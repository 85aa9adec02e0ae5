internal import CNATS
internal import Dispatch
internal import Glibc
internal import SafeArithmetic
internal import Synchronization

/// A connection to the servers of a cluster; owns a natsConnection.
///
/// The library finds another server when its own goes, for ever. What was asked for meanwhile fails at once, so that
/// the caller decides; nothing is sent later behind his back.
///
/// C: `natsConnection_Connect`, `natsConnection_PublishMsg`. Calls that may wait for a socket run on a thread of their
/// own, answers come on the library's; Swift's cooperative pool waits for neither.
@safe package final class NATSConnection: Sendable {
    /// The library's own locks guard what it points to.
    private nonisolated(unsafe) let handle: OpaquePointer
    private let events: ConnectionEvents
    private let inbox = ReplyInbox()
    private let subscription: NATSSubscription
    private let sending = DispatchQueue(label: "attachprep.nats.sending")
    private let outbox = Mutex(Outbox())
    /// How long the servers may take to answer.
    let answerTime: Duration
    private let listeners = Mutex(Listeners())
    private let leastVersion: NATSServerVersion?
    private let currentRefusal = Mutex<NATSError?>(nil)

    private struct Listeners {
        var last = 0
        var onLoss: [Int: @Sendable () -> Void] = [:]
        var onReturn: [Int: @Sendable () -> Void] = [:]
    }

    /// Connects to the first of the servers that answers.
    ///
    /// - Throws: `NATSError.library` with the library's reason, such as an identity that is refused;
    ///   `NATSError.serverTooOld`.
    package static func connect(_ settings: NATSSettings) async throws -> NATSConnection {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue(label: "attachprep.nats.connecting").async {
                continuation.resume(with: Result { try NATSConnection(blocking: settings) })
            }
        }
    }

    private init(blocking settings: NATSSettings) throws(NATSError) {
        let events = ConnectionEvents()
        let options = try NATSOptions(settings)
        try events.attach(to: options)
        var handle: OpaquePointer?
        let status = unsafe natsConnection_Connect(&handle, options.handle)
        guard status == NATS_OK, let handle = unsafe handle else {
            events.detach()
            try status.check("connect")
            throw NATSError.library(code: 0, operation: "connect", text: "no memory")
        }
        unsafe self.handle = handle
        self.events = events
        answerTime = settings.answerTime
        leastVersion = settings.leastVersion
        let inbox = inbox
        do {
            subscription = try unsafe NATSSubscription("\(inbox.prefix)*", on: handle) { inbox.hear($0) }
        } catch {
            unsafe natsConnection_Destroy(handle)
            throw error
        }
        Self.watchClock(for: inbox)
        events.listen(
            onLoss: { [weak self] in self?.hearLoss() }, onArrival: { [weak self] in self?.checkVersion() },
            onReturn: { [weak self] in self?.hearReturn() })
        checkVersion()
        if let refusal { throw refusal }
    }

    deinit {
        close()
        unsafe natsConnection_Destroy(handle)
    }

    /// Ends all waits and the connection; what comes afterwards fails.
    package func close() {
        inbox.failAll(closing: true)
        unsafe natsConnection_Close(handle)
    }

    /// Four times a second is often enough to notice that an answer does not come.
    private static func watchClock(for inbox: ReplyInbox) {
        DispatchQueue.global().asyncAfter(deadline: .now() + 0.25) { [weak inbox] in
            guard let inbox, inbox.expire(at: .now) else { return }
            watchClock(for: inbox)
        }
    }

    // MARK: What it knows

    /// Whether a server is there now that may be used.
    package var isConnected: Bool { events.isConnected && refusal == nil }

    /// Why the server that is there is not used; nil when it is.
    package var refusal: NATSError? { currentRefusal.withLock { $0 } }

    /// Of the server that the connection is to, or was to last.
    package var serverVersion: NATSServerVersion { unsafe NATSServerVersion(of: handle) }

    private func checkVersion() {
        let version = serverVersion
        var found: NATSError?
        if let leastVersion, version < leastVersion { found = .serverTooOld(version, least: leastVersion) }
        currentRefusal.withLock { [found] refusal in refusal = found }
    }

    /// The address of the server that the connection is to, without who we are; nil when it is to none.
    package var serverAddress: String? {
        unsafe Self.text { unsafe natsConnection_GetConnectedUrl(handle, $0, $1) }.map(Self.withoutIdentity)
    }

    /// What the server calls itself; nil without one.
    package var serverID: String? { unsafe Self.text { unsafe natsConnection_GetConnectedServerId(handle, $0, $1) } }

    /// Addresses of all servers that were named or found, without who we are.
    package var knownServers: [String] {
        var list: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
        var count: CInt = 0
        guard unsafe natsConnection_GetServers(handle, &list, &count) == NATS_OK, let list = unsafe list else {
            return []
        }
        defer { unsafe free(list) }
        return (0..<max(0, Int(clamping: count))).compactMap { index in
            guard let text = unsafe list[index] else { return nil }
            defer { unsafe free(text) }
            return unsafe Self.withoutIdentity(String(cString: text))
        }
    }

    /// Longer than any address or identifier that the library keeps.
    private static let textBytesMax = 1_024

    private static func text(_ read: (UnsafeMutablePointer<CChar>, Int) -> natsStatus) -> String? {
        unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: textBytesMax) { buffer in
            guard let start = buffer.baseAddress, unsafe read(start, textBytesMax) == NATS_OK else { return nil }
            let text = unsafe String(cString: start)
            return text.isEmpty ? nil : text
        }
    }

    private static func withoutIdentity(_ address: String) -> String {
        guard let at = address.lastIndex(of: "@"), let scheme = address.firstRange(of: "://") else { return address }
        return String(address[..<scheme.upperBound] + address[address.index(after: at)...])  // Bounded: texts.
    }

    /// The longest message that the servers take, in bytes.
    package var messageBytesMax: Int { Int(clamping: unsafe natsConnection_GetMaxPayload(handle)) }

    /// Calls back, on a thread of the library's, each time the connection goes and each time it is back.
    ///
    /// - Returns: what ends that.
    package func listen(
        onLoss: @escaping @Sendable () -> Void = {}, onReturn: @escaping @Sendable () -> Void = {}
    ) -> @Sendable () -> Void {
        let number = listeners.withLock { listeners in
            listeners.last += 1
            listeners.onLoss[listeners.last] = onLoss
            listeners.onReturn[listeners.last] = onReturn
            return listeners.last
        }
        return { [weak self] in
            self?.listeners.withLock { listeners in
                listeners.onLoss[number] = nil
                listeners.onReturn[number] = nil
            }
        }
    }

    private func hearLoss() {
        inbox.failAll()
        for tell in listeners.withLock({ Array($0.onLoss.values) }) { tell() }
    }

    private func hearReturn() {
        for tell in listeners.withLock({ Array($0.onReturn.values) }) { tell() }
    }

    // MARK: What it does

    /// Sends a message that nobody answers. What cannot be sent is lost, as the network may lose it.
    package func publish(_ message: OutgoingMessage, replyTo reply: String? = nil) {
        send([Post(message: message, reply: reply, isRequest: false)])
    }

    /// Sends a message and waits for its one answer.
    ///
    /// - Throws: `NATSError`; after `.timedOut` and `.disconnected` nobody knows whether it was done.
    package func request(_ message: OutgoingMessage) async throws -> NATSMessage {
        try await answer(to: message).get()
    }

    private func answer(to message: OutgoingMessage) async -> Result<NATSMessage, any Error> {
        await withCheckedContinuation { continuation in
            send([expect(message) { continuation.resume(returning: $0) }].compactMap(\.self))
        }
    }

    /// Sends messages in their order, without waiting between them, and waits for the answers of all.
    package func requestAll(_ messages: [OutgoingMessage]) async -> [Result<NATSMessage, any Error>] {
        guard !messages.isEmpty else { return [] }
        if messages.count == 1 { return [await answer(to: messages[0])] }
        let answers = GatheredAnswers(count: messages.count)
        return await withCheckedContinuation { continuation in
            let posts = messages.enumerated().map { index, message in
                expect(message) { answer in
                    if let all = answers.add(answer, at: index) { continuation.resume(returning: all) }
                }
            }
            send(posts.compactMap(\.self))
        }
    }

    /// Has somebody hear of the answer.
    ///
    /// - Returns: what is to be sent; nil when that cannot be: he has heard of it.
    private func expect(_ message: OutgoingMessage, _ hear: @escaping ReplyInbox.Hear) -> Post? {
        guard message.bytes.count <= messageBytesMax else {
            hear(.failure(NATSError.tooLarge(bytes: message.bytes.count, limit: messageBytesMax)))
            return nil
        }
        let subject = message.subject
        let reply = inbox.expect(subject, within: answerTime) { answer in
            hear(
                answer.flatMap { message in
                    message.status == 503
                        ? .failure(NATSError.noResponders(subject: subject)) : .success(message)
                })
        }
        return reply.map { Post(message: message, reply: $0, isRequest: true) }
    }

    // MARK: The way to the socket

    /// A message on its way.
    private struct Post: Sendable {
        var message: OutgoingMessage
        var reply: String?
        /// Whether somebody waits for an answer to it.
        var isRequest: Bool
    }

    private struct Outbox {
        var waiting: [Post] = []
        var isSending = false
    }

    /// What is sent at the same time by many goes with one turn of the thread that may wait for the socket.
    private func send(_ posts: [Post]) {
        guard !posts.isEmpty else { return }
        let begins = outbox.withLock { outbox in
            outbox.waiting += posts  // Bounded: lists, not numbers.
            defer { outbox.isSending = true }
            return !outbox.isSending
        }
        if begins { sending.async { [self] in sendWaiting() } }
    }

    private func sendWaiting() {
        while true {
            let posts = outbox.withLock { outbox in
                defer { outbox.waiting = [] }
                outbox.isSending = !outbox.waiting.isEmpty
                return outbox.waiting
            }
            if posts.isEmpty { return }
            for post in posts { send(post) }
        }
    }

    private func send(_ post: Post) {
        do {
            guard events.isConnected else { throw NATSError.disconnected }
            if let refusal { throw refusal }
            try unsafe post.message.publish(on: handle, replyTo: post.reply)
        } catch {
            guard post.isRequest, let reply = post.reply else { return }
            inbox.fail(reply, (error as? NATSError) ?? .disconnected)
        }
    }

    /// Listens to a subject until the subscription goes.
    func subscribe(
        to subject: String, _ hear: @escaping @Sendable (NATSMessage) -> Void
    ) async throws -> NATSSubscription {
        try await withCheckedThrowingContinuation { continuation in
            sending.async { [self] in
                continuation.resume(with: Result { try unsafe NATSSubscription(subject, on: handle, hear) })
            }
        }
    }
}
