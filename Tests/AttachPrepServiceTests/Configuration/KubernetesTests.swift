import Foundation
import TestSupport
import Testing

@testable import AttachPrepService

/// The manifests in `deploy/kubernetes` are complete and match the program.
@Suite struct KubernetesTests {
    /// A YAML value, read as JSON.
    private struct Value {
        let raw: Any?

        subscript(_ path: String) -> Value {
            path.split(separator: ".").reduce(self) { value, key in
                Value(raw: (value.raw as? [String: Any])?[String(key)])
            }
        }

        var text: String? { raw as? String }
        var number: Int? { raw as? Int }
        var flag: Bool? { raw as? Bool }
        var items: [Value] { (raw as? [Any] ?? []).map { Value(raw: $0) } }
        var names: Set<String> { Set((raw as? [String: Any] ?? [:]).keys) }
        func named(_ name: String) -> Value? { items.first { $0["name"].text == name } }
    }

    private static let folder = SourceTree.path("deploy/kubernetes")

    private func documents(_ names: [String]) async throws -> [Value] {
        let script = """
            import json, sys, yaml
            print(json.dumps([d for f in sys.argv[1:] for d in yaml.safe_load_all(open(f)) if d]))
            """
        let paths = names.map { "\(Self.folder)/\($0)" }
        let parsed = try await RunCommand("python3", ["-c", script] + paths).run()
        try #require(parsed.exitCode == 0, "make deps-test installs python3-yaml: \(parsed.errorText)")
        return Value(raw: try JSONSerialization.jsonObject(with: Data(parsed.text.utf8))).items
    }

    private func base() async throws -> (kustomization: Value, objects: [Value]) {
        let kustomization = try #require(try await documents(["kustomization.yaml"]).first)
        let names = kustomization["resources"].items.compactMap(\.text)
        return (kustomization, try await documents(names))
    }

    private func deployments() async throws -> [(name: String, pod: Value, container: Value)] {
        let found = try await base().objects.filter { $0["kind"].text == "Deployment" }.map { deployment in
            let pod = deployment["spec.template.spec"]
            return (deployment["metadata.name"].text ?? "", pod, try #require(pod["containers"].items.first))
        }
        #expect(found.map(\.0) == ["attachprep", "attachprep-worker"])
        return found
    }

    @Test(.timeLimit(.minutes(2))) func `The objects are valid by the schemas of Kubernetes`() async throws {
        let install = try await RunCommand(SourceTree.path("tools/kubernetes-validate/install"), []).run()
        let program = install.text.trimmingCharacters(in: .newlines)
        try #require(install.exitCode == 0, "\(install.errorText)")
        let kustomization = try #require(try await documents(["kustomization.yaml"]).first)
        let paths = kustomization["resources"].items.compactMap(\.text).map { "\(Self.folder)/\($0)" }
        let valid = try await RunCommand(program, ["--strict"] + paths).run()
        #expect(valid.exitCode == 0, "\(valid.text)\(valid.errorText)")
        let folder = try TemporaryFolder()
        let worker = try String(contentsOfFile: "\(Self.folder)/worker.yaml", encoding: .utf8)
        let wrong = try folder.write(
            worker.replacingOccurrences(of: "terminationGracePeriodSeconds", with: "gracePeriod"), to: "wrong.yaml")
        #expect(try await RunCommand(program, ["--strict", wrong]).run().exitCode != 0)
    }

    @Test func `The kustomization names every file`() async throws {
        let files = try FileManager.default.contentsOfDirectory(atPath: Self.folder).filter { $0.hasSuffix(".yaml") }
        let named = try await base().kustomization["resources"].items.compactMap(\.text) + ["kustomization.yaml"]
        #expect(Set(files) == Set(named))
    }

    @Test func `Every object has an API version, a kind and a name, and refers to existing objects`() async throws {
        let objects = try await base().objects
        for object in objects {
            #expect(object["apiVersion"].text != nil && object["kind"].text != nil)
            #expect(object["metadata.name"].text != nil)
        }
        func names(_ kind: String) -> [String?] {
            objects.filter { $0["kind"].text == kind }.map { $0["metadata.name"].text }
        }
        let deployments = objects.filter { $0["kind"].text == "Deployment" }
        let labels = deployments.map { $0["spec.template.metadata.labels"].raw as? [String: String] }
        for deployment in deployments {
            #expect(names("ServiceAccount").contains(deployment["spec.template.spec.serviceAccountName"].text))
            #expect(labels.contains(deployment["spec.selector.matchLabels"].raw as? [String: String]))
        }
        let budgets = objects.filter { $0["kind"].text == "PodDisruptionBudget" }
        #expect(budgets.map { $0["spec.selector.matchLabels"].raw as? [String: String] } == labels)
        let service = try #require(objects.first { $0["kind"].text == "Service" })
        #expect(labels.contains(service["spec.selector"].raw as? [String: String]))
        let scaler = try #require(objects.first { $0["kind"].text == "HorizontalPodAutoscaler" })
        #expect(names("Deployment").contains(scaler["spec.scaleTargetRef.name"].text))
        // The autoscaler would fight with a fixed number.
        let scaled = deployments.first { $0["metadata.name"].text == scaler["spec.scaleTargetRef.name"].text }
        #expect(scaled?["spec.replicas"].number == nil)
    }

    @Test func `Workers are scaled by metrics of the service`() async throws {
        let scaler = try #require(try await base().objects.first { $0["kind"].text == "HorizontalPodAutoscaler" })
        let metrics = scaler["spec.metrics"].items.map { $0["external.metric.name"].text ?? "" }
        #expect(metrics == ["attachprep_jobs_due", "attachprep_jobs_oldest_due_seconds"])
        for metric in metrics { #expect(MetricDescription.service[metric] != nil) }
    }

    @Test func `The programs start with this configuration`() async throws {
        let folder = try TemporaryFolder()
        let literals = try await base().kustomization["configMapGenerator"].named("attachprep")?["literals"].items
        let shared = Dictionary(
            uniqueKeysWithValues: try #require(literals).compactMap(\.text).map { literal in
                let parts = literal.split(separator: "=", maxSplits: 1)
                return (String(parts[0]), String(parts[1]))
            })
        for (name, pod, container) in try await deployments() {
            var environment = shared
            for variable in container["env"].items {
                let name = try #require(variable["name"].text)
                let isSecret = variable["valueFrom.secretKeyRef.key"].text != nil
                environment[name] = isSecret ? "secret" : try #require(variable["value"].text)
            }
            let arguments = container["args"].items.compactMap(\.text)
            #expect(arguments.first == (name == "attachprep" ? "serve" : "worker"))
            let known = Set(Setting.allCases.map(\.flag))
            for flag in arguments.dropFirst() { #expect(known.contains(flag), "\(flag)") }
            // The secrets' files exist only in the pod.
            let files = environment.filter { $0.value.hasPrefix("/run/secrets/") }
            let mount = try #require(container["volumeMounts"].named("secrets")?["mountPath"].text)
            #expect(files.values.allSatisfy { $0.hasPrefix(mount) } && !files.isEmpty)
            for file in files.keys {
                #expect(Setting.allCases.map(\.variable).contains(file))
                environment[file] = nil
            }
            environment["ATTACHPREP_QUEUE_KEY_FILE"] = try folder.write(
                "k1:\(String(repeating: "A", count: 43))=", to: "queue-keys")
            environment["AWS_ACCESS_KEY_ID"] = "x"
            environment["AWS_SECRET_ACCESS_KEY"] = "x"
            if name == "attachprep" { environment["ATTACHPREP_TOKENS"] = "a-token-of-thirty-two-characters" }
            let configuration = try ServeConfiguration(
                flags: [:], environment: environment, role: name == "attachprep" ? .serve : .work)
            #expect(configuration.unknownVariables.isEmpty && configuration.preparer.publish.isRemote)
            #expect(configuration.queue != nil)
            let grace = try #require(pod["terminationGracePeriodSeconds"].number)
            #expect(Double(grace) > configuration.drainSeconds + 10)
            // The links of the Service would be variables with the prefix of the settings.
            #expect(pod["enableServiceLinks"].flag == false)
        }
    }

    @Test func `Probes and scrapes use existing routes on the port of the program`() async throws {
        let objects = try await base().objects
        for (name, _, container) in try await deployments() {
            let port = container["ports"].named("http")?["containerPort"].number
            #expect(container["env"].named("ATTACHPREP_PORT")?["value"].text == port.map(String.init))
            #expect(container["livenessProbe.httpGet.path"].text == "/healthz")
            #expect(container["startupProbe.httpGet.path"].text == "/healthz")
            #expect(container["readinessProbe.httpGet.path"].text == "/readyz")
            for probe in ["livenessProbe", "startupProbe", "readinessProbe"] {
                #expect(container["\(probe).httpGet.port"].text == "http")
            }
            let deployment = objects.first { $0["kind"].text == "Deployment" && $0["metadata.name"].text == name }
            let notes = deployment?["spec.template.metadata.annotations"].raw as? [String: String]
            #expect(notes?["prometheus.io/port"] == port.map(String.init))
            #expect(notes?["prometheus.io/path"] == "/metrics")
        }
        let service = try #require(objects.first { $0["kind"].text == "Service" })
        #expect(service["spec.ports"].items.first?["targetPort"].text == "http")
    }

    @Test func `Pods have no privileges and a read-only root`() async throws {
        for (_, pod, container) in try await deployments() {
            #expect(pod["securityContext.runAsNonRoot"].flag == true)
            #expect(pod["securityContext.seccompProfile.type"].text == "RuntimeDefault")
            #expect(pod["automountServiceAccountToken"].flag == false)
            #expect(container["securityContext.readOnlyRootFilesystem"].flag == true)
            #expect(container["securityContext.allowPrivilegeEscalation"].flag == false)
            #expect(container["securityContext.capabilities.drop"].items.map(\.text) == ["ALL"])
            #expect(container["resources.limits.memory"].text != nil)
            // The user of the image.
            let image = try String(contentsOfFile: SourceTree.path("deploy/Dockerfile"), encoding: .utf8)
            let user = try #require(pod["securityContext.runAsUser"].number)
            #expect(image.contains("USER \(user):\(user)"))
            // Everything is writable only below /tmp.
            let writable = container["volumeMounts"].items.filter { $0["readOnly"].flag != true }
            #expect(writable.map { $0["mountPath"].text } == ["/tmp"])
            #expect(container["env"].named("TMPDIR")?["value"].text == "/tmp")
        }
    }
}
