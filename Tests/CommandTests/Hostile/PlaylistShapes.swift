import TestSupport

/// Playlists, which make a reader open other files.
enum PlaylistShapes {
    /// Playlists by format, each with a reference to a trap.
    private static let kinds: [(name: String, text: @Sendable (String) -> String)] = [
        (
            "hls",
            { "#EXTM3U\n#EXT-X-MEDIA-SEQUENCE:0\n#EXTINF:10.0,\n\($0)\n#EXT-X-ENDLIST\n" }
        ),
        (
            "hls-bytes",
            {
                "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\n#EXT-X-BYTERANGE:9@0\n\($0)\n"
                    + "#EXT-X-KEY:METHOD=AES-128,URI=\"\($0)\"\n#EXTINF:1,\n\($0)\n#EXT-X-ENDLIST\n"
            }
        ),
        (
            "hls-concat",
            {
                "#EXTM3U\n#EXTINF:1,\nconcat:http://127.0.0.1:1/header.m3u8|\($0)\n"
                    + "#EXTINF:1,\nsubfile,,start,0,end,9,,:\($0)\n"
            }
        ),
        ("ffconcat", { "ffconcat version 1.0\nfile '\($0)'\nduration 5\n" }),
        (
            "sdp",
            { "v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nu=\($0)\nc=IN IP4 127.0.0.1\nt=0 0\nm=video 1234 RTP/AVP 96\n" }
        ),
        ("smil", { "<smil><body><video src=\"\($0)\"/></body></smil>" }),
        ("asx", { "<asx version=\"3.0\"><entry><ref href=\"\($0)\"/></entry></asx>" }),
        ("reference", { "[Reference]\r\nRef1=\($0)\r\n" }),
        ("rtsptext", { "rtsptext\($0)\n" }),
        ("dash", { "<?xml version=\"1.0\"?><MPD><Period><BaseURL>\($0)</BaseURL></Period></MPD>" }),
        ("pls", { "[playlist]\nFile1=\($0)\nNumberOfEntries=1\n" }),
        ("ffmetadata", { ";FFMETADATA1\ntitle=\($0)\n" }),
    ]

    private static let extensions = ["mp4", "mp3", "avi", "jpg", "m3u8", "gif"]

    /// Playlists with the names of media files, alone and after bytes that a reader skips.
    static let bare: [HostileFile] = kinds.enumerated().flatMap { index, kind in
        let suffix = extensions[index % extensions.count]
        let leads: [(String, [UInt8])] = [
            ("", []), ("bom-", [0xEF, 0xBB, 0xBF]), ("blank-", MediaBytes.text("\n \r\n")),
            ("zero-", MediaBytes.zeros(4)),
        ]
        return leads.map { lead in
            HostileFile("\(lead.0)\(kind.name).\(suffix)", HostileFile.rejected) { traps in
                lead.1 ++ MediaBytes.text(kind.text(index % 2 == 0 ? "file://\(traps.file)" : traps.address))
            }
        }
    }

    /// Playlists inside the containers of movies and audio.
    static let wrapped: [HostileFile] = kinds.prefix(4).flatMap { kind in
        [
            HostileFile("\(kind.name)-subtitles.avi", HostileFile.rejected) { traps in
                avi(subtitles: MediaBytes.text(kind.text(traps.file)))
            },
            HostileFile("\(kind.name)-samples.mp4", HostileFile.rejected) { traps in
                MediaBytes.box("ftyp", MediaBytes.text("isom") ++ MediaBytes.zeros(4) ++ MediaBytes.text("isom"))
                    ++ MediaBytes.box("mdat", MediaBytes.text(kind.text(traps.address)))
            },
            HostileFile("\(kind.name)-attachment.mkv", HostileFile.rejected) { traps in
                matroska(attachment: MediaBytes.text(kind.text(traps.file)))
            },
            HostileFile("\(kind.name)-stream.ogg", HostileFile.rejected) { traps in
                MediaBytes.ogg(MediaBytes.text(kind.text(traps.address)), page: 0, flags: 6)
            },
            HostileFile("\(kind.name)-tag.mp3", HostileFile.rejected) { traps in
                let content = MediaBytes.text(kind.text(traps.file))
                return MediaBytes.text("ID3") ++ [3, 0, 0, 0, 0, 0, 10] ++ MediaBytes.zeros(10) ++ content
            },
        ]
    }

    /// An AVI whose only stream is "GAB2" text, which readers pass to the matching demuxer.
    private static func avi(subtitles: [UInt8]) -> [UInt8] {
        let header = MediaBytes.riff(
            "avih", MediaBytes.littleEndian(40_000, 4) ++ MediaBytes.zeros(20) ++ [1, 0, 0, 0] ++ MediaBytes.zeros(28))
        let stream = MediaBytes.riff("strh", MediaBytes.text("txts") ++ MediaBytes.zeros(52))
        let streams = MediaBytes.riff(
            "LIST", MediaBytes.text("strl") ++ stream ++ MediaBytes.riff("strf", MediaBytes.zeros(40)))
        let gab =
            MediaBytes.text("GAB2") ++ [0, 2, 0] ++ MediaBytes.littleEndian(8, 4) ++ MediaBytes.text("p\0l\0a\0\0\0")
            ++ [4, 0] ++ MediaBytes.littleEndian(subtitles.count, 4) ++ subtitles
        let list = MediaBytes.riff("LIST", MediaBytes.text("hdrl") ++ header ++ streams)
        let movie = MediaBytes.riff("LIST", MediaBytes.text("movi") ++ MediaBytes.riff("00tx", gab))
        return MediaBytes.riff("RIFF", MediaBytes.text("AVI ") ++ list ++ movie)
    }

    /// A Matroska file with one attached file and no track.
    private static func matroska(attachment: [UInt8]) -> [UInt8] {
        let file =
            MediaBytes.ebml(0x466E, MediaBytes.text("a.m3u8")) ++ MediaBytes.ebml(0x4660, MediaBytes.text("text/plain"))
            ++ MediaBytes.ebml(0x465C, attachment) ++ MediaBytes.ebml(0x46AE, [1])
        let attachments = MediaBytes.ebml(0x1941_A469, MediaBytes.ebml(0x61A7, file))
        return MediaBytes.ebml(0x1A45_DFA3, MediaBytes.ebml(0x4282, MediaBytes.text("matroska")))
            ++ MediaBytes.ebml(0x1853_8067, attachments)
    }
}
