internal import AttachPrep
internal import MediaTypes

/// The settings of traces, from the environment variables that OpenTelemetry defines for all programs.
///
/// <https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/>
package struct TracingConfiguration: Sendable {
    /// The URL that spans are sent to, which may contain secrets.
    package var endpoint: String
    /// Headers of each request, such as an API key.
    package var headers: [(name: String, value: String)] = []
    /// Time for each request.
    package var timeout = Duration.seconds(10)
    package var sampler = TraceSampler.standard
    /// Attributes of the process, such as `service.name`.
    package var resource: [(key: String, value: String)] = []
    /// PEM file with the authorities to trust for the endpoint instead of the system's.
    package var certificateAuthorityFile: String?
    package var batch = SpanBatchSettings()
    /// Settings that were ignored, a sentence each: an error in them must not stop the service (as specified).
    package var warnings: [String] = []

    package init(endpoint: String) {
        self.endpoint = endpoint
    }

    /// - Parameters:
    ///   - program: attributes of this process, which the variables can replace.
    /// - Returns: Nil when traces are off: no endpoint is set, or they are disabled.
    package init?(environment: [String: String], program: [(key: String, value: String)] = []) {
        let variables = TracingVariables(environment)
        guard let endpoint = variables.endpoint else { return nil }
        self.init(endpoint: endpoint)
        var reader = variables
        headers = reader.headers
        timeout = reader.milliseconds(.timeout, .tracesTimeout) ?? timeout
        sampler = reader.sampler
        certificateAuthorityFile = reader.text(.tracesCertificate) ?? reader.text(.certificate)
        resource = reader.resource(program)
        batch = reader.batch
        reader.checkProtocol()
        warnings = reader.warnings
    }
}

/// How spans are collected and sent (`OTEL_BSP_…`).
package struct SpanBatchSettings: Sendable, Hashable {
    /// Spans that wait to be sent; further ones are dropped.
    package var queueMax = 2_048
    /// Spans of one request.
    package var batchMax = 512
    /// The longest time that a span waits for others.
    package var delay = Duration.seconds(5)

    package init() {}
}

/// An environment variable of OpenTelemetry that attachprep reads.
package enum TracingVariable: String, CaseIterable, Sendable {
    /// URL of the collector; `/v1/traces` is appended. Traces are on when it is set.
    case endpoint = "OTEL_EXPORTER_OTLP_ENDPOINT"
    /// The complete URL of that endpoint, used unchanged; takes precedence.
    case tracesEndpoint = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"
    /// Headers of each request, `name=value,name=value` with percent-encoded values, such as an API key.
    case headers = "OTEL_EXPORTER_OTLP_HEADERS"
    /// As the variable above, for traces only; takes precedence over it.
    case tracesHeaders = "OTEL_EXPORTER_OTLP_TRACES_HEADERS"
    /// Milliseconds for each request; 10,000 by default.
    case timeout = "OTEL_EXPORTER_OTLP_TIMEOUT"
    /// As the variable above, for traces only; takes precedence over it.
    case tracesTimeout = "OTEL_EXPORTER_OTLP_TRACES_TIMEOUT"
    /// PEM file with the certificate authorities to trust for the collector.
    case certificate = "OTEL_EXPORTER_OTLP_CERTIFICATE"
    /// As the variable above, for traces only; takes precedence over it.
    case tracesCertificate = "OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE"
    /// Only `http/json`.
    case wireProtocol = "OTEL_EXPORTER_OTLP_PROTOCOL"
    /// As the variable above, for traces only; takes precedence over it.
    case tracesProtocol = "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"
    /// `otlp`, or `none` for no traces.
    case exporter = "OTEL_TRACES_EXPORTER"
    /// `always_on`, `always_off`, `traceidratio`, or one of these with the prefix `parentbased_`, which uses the
    /// caller's sampling decision if the request has one. `parentbased_always_on` by default.
    case sampler = "OTEL_TRACES_SAMPLER"
    /// The share of traces for `traceidratio`, from 0 to 1.
    case samplerArgument = "OTEL_TRACES_SAMPLER_ARG"
    /// `service.name` in traces; `attachprep` by default.
    case serviceName = "OTEL_SERVICE_NAME"
    /// More attributes of the process, `key=value,key=value` with percent-encoded values.
    case resourceAttributes = "OTEL_RESOURCE_ATTRIBUTES"
    /// Spans that wait to be sent; further ones are dropped. 2,048 by default.
    case queueSize = "OTEL_BSP_MAX_QUEUE_SIZE"
    /// Spans of one request; 512 by default.
    case batchSize = "OTEL_BSP_MAX_EXPORT_BATCH_SIZE"
    /// Milliseconds that a span waits for others at most; 5,000 by default.
    case delay = "OTEL_BSP_SCHEDULE_DELAY"
    /// `true` turns traces off.
    case disabled = "OTEL_SDK_DISABLED"
}

/// Reads the variables; collects a warning for each invalid one, which is then ignored.
private struct TracingVariables {
    private let environment: [String: String]
    private(set) var warnings: [String] = []

    init(_ environment: [String: String]) {
        self.environment = environment
    }

    /// Nil for a missing or empty variable (which are the same, as specified).
    func text(_ variable: TracingVariable) -> String? {
        environment[variable.rawValue].flatMap { $0.isEmpty ? nil : $0 }
    }

    /// The URL for spans; nil when traces are off.
    var endpoint: String? {
        guard text(.disabled)?.lowercased() != "true" else { return nil }
        let exporter = text(.exporter)
        guard exporter == nil || exporter == "otlp" else { return nil }
        if let endpoint = text(.tracesEndpoint) { return endpoint }
        guard let base = text(.endpoint) else { return exporter == nil ? nil : "http://localhost:4318/v1/traces" }
        return "\(base)\(base.hasSuffix("/") ? "" : "/")v1/traces"
    }

    var headers: [(name: String, value: String)] {
        mutating get {
            let variable = text(.tracesHeaders) == nil ? TracingVariable.headers : .tracesHeaders
            return pairs(variable).map { (name: $0.key, value: $0.value) }.filter { name, value in
                let isUsable =
                    name.utf8.allSatisfy { 0x21...0x7e ~= $0 && !"()<>@,;:\\\"/[]?={}".utf8.contains($0) }
                    && value.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7f }
                    && !RequestHeaders.reserved.contains(name.lowercased())
                // Without the name: a list in another format could begin with the secret.
                if !isUsable { warn(variable, reason: "a header is invalid") }
                return isUsable
            }
        }
    }

    var sampler: TraceSampler {
        mutating get {
            guard let name = text(.sampler) else { return .standard }
            let argument = text(.samplerArgument)
            if let argument, TraceSampler.ratio(argument) == nil {
                warn(.samplerArgument, reason: "it is not a number from 0 to 1")
            }
            guard let sampler = TraceSampler(name: name, argument: argument) else {
                warn(
                    .sampler,
                    reason: "it is not always_on, always_off, traceidratio, or one of these after parentbased_")
                return .standard
            }
            return sampler
        }
    }

    mutating func resource(_ program: [(key: String, value: String)]) -> [(key: String, value: String)] {
        var attributes = program
        for (key, value) in pairs(.resourceAttributes) + (text(.serviceName).map { [("service.name", $0)] } ?? []) {
            attributes.removeAll { $0.key == key }
            attributes.append((key, value))
        }
        return attributes
    }

    var batch: SpanBatchSettings {
        mutating get {
            var batch = SpanBatchSettings()
            batch.queueMax = count(.queueSize) ?? batch.queueMax
            batch.batchMax = min(count(.batchSize) ?? batch.batchMax, batch.queueMax)
            batch.delay = milliseconds(.delay) ?? batch.delay
            return batch
        }
    }

    /// The first of these that is set and valid, the last one first.
    mutating func milliseconds(_ variables: TracingVariable...) -> Duration? {
        for variable in variables.reversed() {
            guard let text = text(variable) else { continue }
            if let number = Int(text), 1...Self.millisecondsMax ~= number { return .milliseconds(number) }
            warn(variable, reason: "it is not a number of milliseconds from 1 to \(Self.millisecondsMax)")
        }
        return nil
    }

    private mutating func count(_ variable: TracingVariable) -> Int? {
        guard let text = text(variable) else { return nil }
        if let number = Int(text), 1...Limits.spanQueueMax ~= number { return number }
        warn(variable, reason: "it is not a number from 1 to \(Limits.spanQueueMax)")
        return nil
    }

    private static let millisecondsMax = 600_000

    mutating func checkProtocol() {
        let variable = text(.tracesProtocol) == nil ? TracingVariable.wireProtocol : .tracesProtocol
        if let name = text(variable), name != "http/json" { warn(variable, reason: "spans are sent as http/json") }
    }

    /// `key=value,key=value`, with percent-encoded values.
    private mutating func pairs(_ variable: TracingVariable) -> [(key: String, value: String)] {
        (text(variable) ?? "").split(separator: ",").compactMap { pair in
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let key = String(parts[0].trimmingSpaces)
            guard parts.count == 2, !key.isEmpty, let value = PercentEncoding.decoded(parts[1].trimmingSpaces) else {
                warn(variable, reason: "it is not a list such as key=value,key=value")
                return nil
            }
            return (key, value)
        }
    }

    private mutating func warn(_ variable: TracingVariable, reason: String) {
        warnings.append("\(variable.rawValue) is ignored, in whole or in part: \(reason).")
    }
}

extension Limits {
    /// Spans that may wait to be sent; 1 KB each.
    static let spanQueueMax = 65_536
}
