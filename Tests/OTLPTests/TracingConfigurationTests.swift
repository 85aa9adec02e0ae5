import Testing

@testable import OTLP

@Suite struct TracingConfigurationTests {
    @Test(
        arguments: [
            ([:], nil), (["OTEL_EXPORTER_OTLP_ENDPOINT": ""], nil),
            (["OTEL_EXPORTER_OTLP_ENDPOINT": "http://c:4318"], "http://c:4318/v1/traces"),
            (["OTEL_EXPORTER_OTLP_ENDPOINT": "http://c:4318/x/"], "http://c:4318/x/v1/traces"),
            (["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://c/y"], "http://c/y"),
            (
                ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://c/y", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://d"],
                "http://c/y"
            ),
            (["OTEL_TRACES_EXPORTER": "otlp"], "http://localhost:4318/v1/traces"),
            (["OTEL_TRACES_EXPORTER": "none", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://c"], nil),
            (["OTEL_TRACES_EXPORTER": "zipkin", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://c"], nil),
            (["OTEL_SDK_DISABLED": "True", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://c"], nil),
            (["OTEL_SDK_DISABLED": "no", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://c"], "http://c/v1/traces"),
        ] as [([String: String], String?)])
    func `Traces are on when an endpoint is set and nothing disables them`(
        environment: [String: String], endpoint: String?
    ) {
        #expect(TracingConfiguration(environment: environment)?.endpoint == endpoint)
    }

    private func configuration(_ variables: [String: String]) throws -> TracingConfiguration {
        try #require(
            TracingConfiguration(
                environment: variables.merging(["OTEL_EXPORTER_OTLP_ENDPOINT": "http://c"]) { own, _ in own },
                program: [("service.name", "attachprep"), ("host.name", "here")]))
    }

    @Test func `Headers are percent-decoded, and those for traces replace the general ones`() throws {
        let general = ["OTEL_EXPORTER_OTLP_HEADERS": " api-key = a%20b , x=1=2 "]
        #expect(try configuration(general).headers.map { "\($0.name): \($0.value)" } == ["api-key: a b", "x: 1=2"])
        let own = general.merging(["OTEL_EXPORTER_OTLP_TRACES_HEADERS": "y=2"]) { own, _ in own }
        #expect(try configuration(own).headers.map(\.name) == ["y"])
    }

    @Test(arguments: ["s3cret", "=x", "bad name=1", "host=evil", "a=%0d%0ax: y", "a=%ff%zz", "content-length=1"])
    func `An invalid header is ignored with a warning that does not show it`(text: String) throws {
        let configuration = try configuration(["OTEL_EXPORTER_OTLP_HEADERS": "\(text),good=1"])
        #expect(configuration.headers.map(\.name) == ["good"])
        #expect(configuration.warnings.count == 1 && !configuration.warnings[0].contains(text))
    }

    @Test func `Resource attributes are merged: the service name first, then the list, then the program's`() throws {
        let variables = ["OTEL_RESOURCE_ATTRIBUTES": "service.name=list,region=eu%2C1", "OTEL_SERVICE_NAME": "name"]
        let resource = Dictionary(
            uniqueKeysWithValues: try configuration(variables).resource.map { ($0.key, $0.value) })
        #expect(resource == ["service.name": "name", "host.name": "here", "region": "eu,1"])
        #expect(try configuration([:]).resource.map(\.value) == ["attachprep", "here"])
    }

    @Test func `Batch sizes, delays and timeouts are read`() throws {
        let configuration = try configuration([
            "OTEL_BSP_MAX_QUEUE_SIZE": "100", "OTEL_BSP_MAX_EXPORT_BATCH_SIZE": "500", "OTEL_BSP_SCHEDULE_DELAY": "20",
            "OTEL_EXPORTER_OTLP_TIMEOUT": "1000", "OTEL_EXPORTER_OTLP_TRACES_TIMEOUT": "2000",
        ])
        #expect(configuration.batch.queueMax == 100 && configuration.batch.batchMax == 100)
        #expect(configuration.batch.delay == .milliseconds(20) && configuration.timeout == .seconds(2))
        #expect(configuration.warnings.isEmpty)
    }

    @Test(arguments: [
        "OTEL_BSP_MAX_QUEUE_SIZE": "many", "OTEL_BSP_SCHEDULE_DELAY": "-1", "OTEL_EXPORTER_OTLP_TIMEOUT": "0",
        "OTEL_TRACES_SAMPLER": "sometimes", "OTEL_TRACES_SAMPLER_ARG": "2", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc",
        "OTEL_RESOURCE_ATTRIBUTES": "a", "OTEL_BSP_MAX_EXPORT_BATCH_SIZE": "0",
    ])
    func `An invalid value is ignored with a warning that names the variable`(name: String, value: String) throws {
        var variables = [name: value]
        if name == "OTEL_TRACES_SAMPLER_ARG" { variables["OTEL_TRACES_SAMPLER"] = "traceidratio" }
        let warned = try configuration(variables)
        #expect(warned.warnings.count == 1 && warned.warnings[0].hasPrefix(name))
        #expect(warned.batch == SpanBatchSettings() && warned.sampler.ratio == 1)
    }
}
