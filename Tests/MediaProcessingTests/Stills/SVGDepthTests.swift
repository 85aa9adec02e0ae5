import Testing

@testable import MediaProcessing

/// Layers and elements of SVGs are counted along references, however these are written.
@Suite struct SVGDepthTests {
    private func depth(_ text: String) throws -> SVGDepth? {
        try SVGDepth(Array(text.utf8), deadline: .now + .seconds(30))
    }

    private func layers(_ content: String) throws -> Int? { try depth("<svg>\(content)</svg>")?.layers }

    @Test func `Elements are counted from the outermost on, and copies where they are used`() throws {
        #expect(try depth("<svg><g><rect/></g><g/></svg>")?.elements == 3)
        #expect(try depth("<svg><g id='a'><g><rect/></g></g><g><use href='#a'/></g></svg>")?.elements == 6)
        #expect(try depth("<svg><g id='a'><g id='b'><rect/></g></g></svg>")?.elements == 4)
    }

    @Test(arguments: [
        "<g mask='url(#m)'>", "<g style='mask:url(#m)'>", "<g style=\"MASK : URL( '#m' )\">",
        "<g style='mask:url(&quot;#m&quot;)'>", "<s:g mask='url(#m)'>", "<g id='g' x='>' mask='url(#m)'>",
        "<style>g{mask:url(#m)}</style><g>", "<style>.a,.b{mask:url(#m)}</style><g class='c b'>",
        "<style><![CDATA[ svg>g.b:hover { mask: url(#m) } ]]></style><g class='b'>",
        "<style>@media print { #g { mask: url(#m) } }</style><g id='g'>",
        "<style>@namespace 'x';g{mask:url(#m)}</style><g>", "<style>[a='{']{mask:url(#m)}</style><g a='{'>",
        "<style>x|g{mask:url(#m)}</style><g>", "<style>*{mask:url(#m)}</style><g>",
        "<style><![CDATA[/*</*/ g{fill:url(/*);mask:url(#m);stroke:url(*/)}]]></style><g>",
        "<style>p{fill:url(/*)}g{fill:url(*/);mask:url(#m)}</style><g>",
        "<style>g{font-family:'/*';mask:url(#m);x:'*/'}</style><g>", "<g x:id='q' id='r' mask='url(#m)'>",
        "<!-- ' --><!DOCTYPE svg SYSTEM '><!--'><g mask='url(#m)'>",
    ])
    func `A mask is found however it is written`(start: String) throws {
        // The group, the mask and what is in it.
        let mask = "<mask id='m'><rect opacity='.5'/></mask>"
        #expect(try (layers("\(start)</g>\(mask)") ?? .max) >= 3)
    }

    @Test(arguments: [
        ("<path fill='url(#p)'/><linearGradient id='p'/>", 0), ("<g opacity='1' filter='none' style='opacity:1'/>", 0),
        ("<g fill-opacity='.5'/>", 0), ("<style>.a{opacity:.5}</style><g class='b'><g id='a'/></g>", 0),
        ("<style>/* .a{opacity:.5} */ g{fill:red}</style><g class='a'/>", 0), ("<g opacity='.5'/><g opacity='.5'/>", 1),
        ("<!-- <g opacity='.5'> --><g/>", 0), ("<a href='#t' id='t'><g/></a>", 0),
        ("<pattern id='p'><rect/></pattern><rect fill='url(#p)'/>", 1), ("<g id='a'><g id='a'/></g>", 0),
        ("<mask id='m'><g/></mask><g mask='url(#m)'><g mask='url(#m)'/></g>", 3),
    ])
    func `Only layers that may be open at once are counted`(content: String, count: Int) throws {
        #expect(try layers(content) == count)
    }

    @Test(arguments: [
        "<g style='m\\\\61sk:url(#m)'/>", "<g mask='url(\\\\23 m)'/>", "<style>\\\\67 {mask:url(#m)}</style>",
        "<style><g/>g{mask:url(#m)}</style>", "<g id='a'><use href='#a'/></g>",
    ])
    func `Escapes, elements in style sheets and circles have no depth`(content: String) throws {
        #expect(try layers(content) == nil)
    }
}
