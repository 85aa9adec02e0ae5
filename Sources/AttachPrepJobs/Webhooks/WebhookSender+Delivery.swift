internal import AttachPrep
internal import Logging
internal import RichPush
internal import SafeArithmetic

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

extension WebhookSender {
    /// One try: sends, and notes what came of it.
    func deliver(_ webhook: Webhook) async {
        let started = ContinuousClock.now
        guard let reply = await reply(to: webhook) else { return }
        let outcome = schedule.outcome(
            of: reply, tries: webhook.attempts.adding(clamping: 1), at: now(), chance: .random(in: 0..<1))
        metrics.count(outcome, took: started.duration(to: .now))
        log(webhook, outcome)
        do {
            try await outbox.record(webhook.id, outcome)
            if reply.isUnwanted { try await giveUpOthers(webhook, reply) }
        } catch {
            // It is sent again when its lease is over: at least once.
            logger.error(
                "what came of a webhook could not be noted",
                metadata: ["webhook": "\(webhook.id)", "job": "\(webhook.job)", "error": "\(error)"])
        }
    }

    /// Nil when the try was given up by ourselves: nothing came of it, then.
    private func reply(to webhook: Webhook) async -> WebhookReply? {
        let call = WebhookCall(webhook: webhook, secrets: secrets.current, date: now()).call
        do {
            let answer = try await calls.send(call)
            return .answered(host: webhook.notice.host, status: answer.status, retryAfter: answer.retryAfter)
        } catch let error as AttachPrepError {
            return error.code == .cancelled ? nil : .failed(error)
        } catch {
            return .failed(AttachPrepError(.internal, "The webhook could not be sent.", detail: "\(error)"))
        }
    }

    private func giveUpOthers(_ webhook: Webhook, _ reply: WebhookReply) async throws {
        let count = try await outbox.giveUpWebhooks(to: webhook.notice.url, error: reply.sentence)
        metrics.count(givenUp: count)
    }

    private func log(_ webhook: Webhook, _ outcome: WebhookOutcome) {
        var metadata: Logger.Metadata = [
            "job": "\(webhook.job)", "webhook": "\(webhook.id)", "host": "\(webhook.notice.host)",
            "try": "\(webhook.attempts.adding(clamping: 1))",
        ]
        switch outcome {
        case .delivered(let status):
            metadata["status"] = "\(status)"
            logger.info("webhook delivered", metadata: metadata)
        case .retry(let date, _, let error):
            metadata["next"] = "\(Timestamp.text(date))"
            metadata["error"] = "\(error)"
            logger.warning("webhook not taken", metadata: metadata)
        case .givenUp(_, let error):
            metadata["error"] = "\(error)"
            logger.error("webhook given up", metadata: metadata)
        }
    }
}
