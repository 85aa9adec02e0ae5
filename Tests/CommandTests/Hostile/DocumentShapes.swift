import TestSupport

/// Documents and scripts that image programs interpret: SVG, PostScript, and the formats of ImageMagick.
enum DocumentShapes {
    private static let svg = "http://www.w3.org/2000/svg"

    private static let documents: [(name: String, text: @Sendable (HostileTraps) -> String)] = [
        (
            "entity",
            {
                "<?xml version=\"1.0\"?><!DOCTYPE svg [<!ENTITY x SYSTEM \"file://\($0.file)\">]>"
                    + "<svg xmlns=\"\(svg)\"><text>&x;</text></svg>"
            }
        ),
        (
            "parameter",
            {
                "<?xml version=\"1.0\"?><!DOCTYPE svg [<!ENTITY % x SYSTEM \"\($0.address)\"> %x;]>"
                    + "<svg xmlns=\"\(svg)\"/>"
            }
        ),
        (
            "image",
            {
                "<svg xmlns=\"\(svg)\" xmlns:xlink=\"http://www.w3.org/1999/xlink\">"
                    + "<image xlink:href=\"file://\($0.file)\" width=\"9\" height=\"9\"/></svg>"
            }
        ),
        (
            "include",
            {
                "<svg xmlns=\"\(svg)\" xmlns:xi=\"http://www.w3.org/2001/XInclude\">"
                    + "<xi:include href=\"\($0.file)\" parse=\"text\"/></svg>"
            }
        ),
        ("style", { "<svg xmlns=\"\(svg)\"><style>@import url(\"\($0.address)\");</style></svg>" }),
        (
            "laughs",
            { _ in
                let levels = (1...9).map { "<!ENTITY l\($0) \"\(String(repeating: "&l\($0 - 1);", count: 10))\">" }
                return
                    "<?xml version=\"1.0\"?><!DOCTYPE svg [<!ENTITY l0 \"ha\">\(levels.joined())]>"
                    + "<svg xmlns=\"\(svg)\">&l9;</svg>"
            }
        ),
        (
            "postscript",
            {
                "%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n(\($0.file)) (r) file 99 string"
                    + " readstring\nshowpage\n"
            }
        ),
        ("pipe", { "%!PS\n(%pipe%cat \($0.file)) (w) file closefile\n" }),
        (
            "pdf",
            {
                "%PDF-1.4\n1 0 obj\n<</Type/Catalog/OpenAction<</S/URI/URI(\($0.address))>>>>\nendobj\ntrailer<"
                    + "</Root 1 0 R>>\n"
            }
        ),
        (
            "vector",
            {
                "push graphic-context\nviewbox 0 0 9 9\nfill 'url(\($0.address)\"|cat \"\($0.file))'\npop"
                    + " graphic-context\n"
            }
        ),
        (
            "vector-read",
            { "push graphic-context\nviewbox 0 0 9 9\nimage over 0,0 0,0 'label:@\($0.file)'\npop graphic-context\n" }
        ),
        (
            "script",
            {
                "<?xml version=\"1.0\"?><image><read filename=\"\($0.file)\"/>"
                    + "<write filename=\"\($0.file).copy\"/></image>"
            }
        ),
        ("ephemeral", { "ephemeral:\($0.file)" }),
        ("pixmap", { _ in "/* XPM */\nstatic char *x[]={\"1 1 1 1\",\"a c #fff\",\"a\"};" }),
        ("miff", { _ in "id=ImageMagick  class=DirectClass\ncolumns=1  rows=1  depth=8\n\u{0C}\n:\u{1A}abc" }),
        ("html", { "<html><img src=\"\($0.address)\"></html>" }), ("php", { _ in "<?php system($_GET['x']); ?>" }),
    ]

    /// The first documents are drawings: what they refer to is left out, or they are rejected.
    private static let drawings = 6

    private static let extensions = ["jpg", "png", "gif", "svg"]

    /// Documents with the names of images.
    static let all: [HostileFile] =
        documents.enumerated().flatMap { index, document in
            let suffix = extensions[index % extensions.count]
            let allowed = index < drawings ? HostileFile.rejected.union(["converted"]) : HostileFile.rejected
            let plain = HostileFile("\(document.name).\(suffix)", allowed) {
                MediaBytes.text(document.text($0))
            }
            let late = HostileFile("late-\(document.name).\(suffix)", allowed) {
                MediaBytes.text("\u{FEFF}\n\n" + document.text($0))
            }
            return [plain, late]
        } + [
            HostileFile("svgz.svgz", HostileFile.rejected) { traps in
                Array(LoopbackGzip.stored(.init(MediaBytes.text(documents[0].text(traps)))))
            },
            // In an HEIF container.
            HostileFile("svg.heic", HostileFile.rejected) { traps in
                MediaBytes.box("ftyp", MediaBytes.text("heic") ++ MediaBytes.zeros(4) ++ MediaBytes.text("mif1"))
                    ++ MediaBytes.box("mdat", MediaBytes.text(documents[0].text(traps)))
            },
        ]
}
