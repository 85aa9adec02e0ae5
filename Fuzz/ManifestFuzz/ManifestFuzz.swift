import Foundation
import FuzzSupport
import MediaTypes

@testable import AttachPrep
@testable import AttachPrepCommand
@testable import AttachPrepModel

/// Fuzzes manifests, decoded as by `--resume` and printed on a terminal.
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
                // Control characters: C0, DEL and C1.
                let isPlain = line.unicodeScalars.allSatisfy { $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value) }
                Invariant.hold(isPlain, "no control character is printed: \(line.debugDescription)")
            }
        }
    }
}
