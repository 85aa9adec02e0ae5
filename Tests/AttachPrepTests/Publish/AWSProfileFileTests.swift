import Testing

@testable import AttachPrep

struct AWSProfileFileTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let text: String
        let sections: [String: [String: String]]
    }

    static let rows = [
        Row(testDescription: "nothing", text: "", sections: [:]),
        Row(
            testDescription: "sections and keys",
            text: "[default]\naws_access_key_id = AK\nregion=eu-west-1\n[b]\nx = 1",
            sections: ["default": ["aws_access_key_id": "AK", "region": "eu-west-1"], "b": ["x": "1"]]),
        Row(
            testDescription: "Windows line ends and a byte order mark", text: "\u{FEFF}[default]\r\nx = 1\r\n",
            sections: ["default": ["x": "1"]]),
        Row(
            testDescription: "spaces and quotes in names", text: "[ profile   \"a\" ]\nX = 1\n",
            sections: ["profile a": ["x": "1"]]),
        Row(
            testDescription: "comments", text: "# a\n; b\n[a] # c\nx = 1 # d\ny = a#b;c\nz = ; nothing\n",
            sections: ["a": ["x": "1", "y": "a#b;c", "z": ""]]),
        Row(
            testDescription: "keys below a key", text: "[a]\ns3 =\n  addressing_style = path\n  x = 2\nregion = r\n",
            sections: ["a": ["s3": "", "s3.addressing_style": "path", "s3.x": "2", "region": "r"]]),
        Row(
            testDescription: "a value that goes on", text: "[a]\nx = 1\n  y = 2\nz = 3\n",
            sections: ["a": ["x": "1", "z": "3"]]),
        Row(
            testDescription: "equals signs and colons in values", text: "[a]\nsecret = a=b:c==\nkey = test:tester\n",
            sections: ["a": ["secret": "a=b:c==", "key": "test:tester"]]),
        Row(
            testDescription: "a section twice", text: "[a]\nx = 1\ny = 1\n[a]\nx = 2\n",
            sections: ["a": ["x": "2", "y": "1"]]),
        Row(
            testDescription: "what is no line of either kind", text: "x = 1\n[a\ny = 2\n[b]\nword\n= 3\n",
            sections: ["b": [:]]),
    ]

    @Test(arguments: rows) func `A file is read as the AWS tools read it`(row: Row) {
        #expect(AWSProfileFile(row.text).sections == row.sections)
    }

    @Test func `A configuration calls profiles so, but for the default`() {
        let configuration = AWSProfileFile(
            """
            [default]
            region = one
            [profile b]
            region = two
            services = mine
            [b]
            region = three
            [services mine]
            s3 =
              endpoint_url = http://minio:9000
            """)
        let credentials = AWSProfileFile("[default]\naws_access_key_id = A\n[b]\naws_access_key_id = B\n")
        let standard = AWSProfile("default", credentials: credentials, configuration: configuration)
        let other = AWSProfile("b", credentials: credentials, configuration: configuration)
        #expect(standard["region"] == "one" && standard["aws_access_key_id"] == "A" && standard.s3Endpoint == nil)
        #expect(other["region"] == "two" && other["aws_access_key_id"] == "B")
        #expect(other.s3Endpoint == "http://minio:9000")
    }
}
