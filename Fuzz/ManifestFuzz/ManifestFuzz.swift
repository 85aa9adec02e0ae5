import Foundation
import FuzzSupport
import RichPush

@testable import AttachPrep
@testable import AttachPrepCommand

/// Manifests read back, as `--resume` does, and shown on a terminal.
@main enum ManifestFuzz {
    static func main() {
        FuzzTarget.run { input in
            var input = input
            guard let manifest = try? Manifest(json: input.rest()) else { return }
            let written = Array(try manifest.json())
            Invariant.hold(!written.contains(0x0A), "a manifest is one line")
            let again = try Manifest(json: written)
            Invariant.hold(again == manifest, "a manifest written again reads the same")
            Invariant.hold(Array(try again.json()) == written, "and is written the same")
            for line in ManifestText(manifest: manifest, output: "prepared").lines.map(\.plain) {
                // What a terminal obeys: C0, delete and C1.
                let isPlain = line.unicodeScalars.allSatisfy { $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value) }
                Invariant.hold(isPlain, "a terminal is told nothing: \(line.debugDescription)")
            }
        }
    }
}
