import AttachPrepModel
import FuzzSupport
import MediaEngine

@testable import MediaProcessing

/// Fuzzes web pages: their encodings, libxml2's HTML parser and the links they name.
@main enum PageFuzz {
    private static let charsets: [String?] = [nil, "utf-8", "utf-16be", "latin1", "shift_jis"]

    static func main() {
        FuzzTarget.run { input in
            var input = input
            let charset = charsets[Int(input.byte()) % charsets.count]
            let page = input.rest()
            guard let found = try? PageReader.links(page, charset: charset, deadline: .now + .seconds(60)) else {
                Invariant.hold(false, "a page is read")
                return
            }
            Invariant.hold(found.links.count <= PageLinks.countMax, "links are bounded")
            for url in [found.base].compactMap(\.self) + found.links.map(\.url) {
                Invariant.hold((1...PageLinks.urlBytesMax).contains(url.utf8.count), "a link is bounded")
                Invariant.hold(
                    url.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control },
                    "a link has no control characters")
            }
        }
    }
}
