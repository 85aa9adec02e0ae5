import Foundation
import TestSupport

/// The parts of `deploy/grafana-dashboard.json` that tests read.
struct GrafanaDashboard: Decodable {
    struct Panel: Decodable {
        struct Target: Decodable {
            let expr: String
        }

        struct Position: Decodable {
            let x, y, w, h: Int

            func overlaps(_ other: Position) -> Bool {
                x < other.x + other.w && other.x < x + w && y < other.y + other.h && other.y < y + h
            }
        }

        let id: Int
        let title: String
        let gridPos: Position
        let targets: [Target]?
    }

    let panels: [Panel]

    init() throws {
        let data = try Data(contentsOf: URL(fileURLWithPath: SourceTree.path("deploy/grafana-dashboard.json")))
        self = try JSONDecoder().decode(GrafanaDashboard.self, from: data)
    }

    /// The PromQL of all panels, with variables of Grafana.
    var expressions: [String] { panels.flatMap { $0.targets ?? [] }.map(\.expr) }

    /// The same for promtool: with the interval that Grafana would choose.
    var queries: [String] { expressions.map { $0.replacing("$__rate_interval", with: "5m") } }
}
