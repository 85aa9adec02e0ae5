import MediaTypes
import Testing

@testable import AttachPrep
@testable import AttachPrepModel

struct S3BucketTests {
    // MARK: Location

    @Test(arguments: [
        ("s3://media", "media", ""), ("s3://media/", "media", ""), ("S3://media/a/b/", "media", "a/b"),
        ("s3://my.media-1//a b/ü?%20", "my.media-1", "a b/ü?%20"),
    ])
    func `A location is a bucket and a prefix, taken literally`(text: String, bucket: String, prefix: String) throws {
        let location = try S3Location(text)
        #expect(location.bucket == bucket && location.prefix == prefix)
    }

    @Test(arguments: [
        "s3:/media", "s3://", "s3://ab", "s3://me dia", "s3://media/../x", "s3://media/a/./b", "s3://media/a//b",
        "s3://media/a\u{7}b", "s3://arn:aws:s3:::x/y", "s3://user@media",
        "s3://media/" + String(repeating: "x", count: 801),
    ])
    func `An invalid location is rejected`(text: String) {
        #expect(throws: AttachPrepError.self) { try S3Location(text) }
    }

    // MARK: Endpoint and region

    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var location = "s3://media/push"
        var endpoint: String?
        var region: String?
        var isPathStyle: Bool?
        var environment: [String: String] = [:]
        var configuration = ""
        let url: String
    }

    static let rows = [
        Row(testDescription: "Amazon's endpoint", url: "https://media.s3.us-east-1.amazonaws.com/push/cat/a.jpg"),
        Row(
            testDescription: "a region given", region: "eu-west-1", environment: ["AWS_REGION": "x"],
            url: "https://media.s3.eu-west-1.amazonaws.com/push/cat/a.jpg"),
        Row(
            testDescription: "a region of the environment",
            environment: ["AWS_REGION": "eu-west-2", "AWS_DEFAULT_REGION": "x"],
            configuration: "[default]\nregion = y\n", url: "https://media.s3.eu-west-2.amazonaws.com/push/cat/a.jpg"),
        Row(
            testDescription: "a region of the profile", configuration: "[default]\nregion = cn-north-1\n",
            url: "https://media.s3.cn-north-1.amazonaws.com.cn/push/cat/a.jpg"),
        Row(
            testDescription: "a bucket with a dot matches no certificate", location: "s3://my.media",
            url: "https://s3.us-east-1.amazonaws.com/my.media/cat/a.jpg"),
        Row(
            testDescription: "an IP address has path style", endpoint: "http://127.0.0.1:9000",
            url: "http://127.0.0.1:9000/media/push/cat/a.jpg"),
        Row(
            testDescription: "localhost has path style", endpoint: "http://localhost:9000/",
            url: "http://localhost:9000/media/push/cat/a.jpg"),
        Row(
            testDescription: "a host name has virtual-hosted style", endpoint: "https://s3.example.com:8443",
            url: "https://media.s3.example.com:8443/push/cat/a.jpg"),
        Row(
            testDescription: "path style", endpoint: "https://s3.example.com", isPathStyle: true,
            url: "https://s3.example.com/media/push/cat/a.jpg"),
        Row(
            testDescription: "path style of the profile", endpoint: "https://s3.example.com",
            configuration: "[default]\ns3 =\n  addressing_style = path\n",
            url: "https://s3.example.com/media/push/cat/a.jpg"),
        Row(
            testDescription: "a path before the bucket", endpoint: "https://s3.example.com/storage/s3/",
            isPathStyle: true, url: "https://s3.example.com/storage/s3/media/push/cat/a.jpg"),
        Row(
            testDescription: "an endpoint of the environment",
            environment: ["AWS_ENDPOINT_URL_S3": "http://10.0.0.1", "AWS_ENDPOINT_URL": "http://10.0.0.2"],
            url: "http://10.0.0.1/media/push/cat/a.jpg"),
        Row(
            testDescription: "an endpoint of all services", environment: ["AWS_ENDPOINT_URL": "http://10.0.0.2"],
            configuration: "[default]\nendpoint_url = http://10.0.0.3\n", url: "http://10.0.0.2/media/push/cat/a.jpg"),
        Row(
            testDescription: "an endpoint of the profile",
            configuration: "[default]\nendpoint_url = http://10.0.0.3\n", url: "http://10.0.0.3/media/push/cat/a.jpg"),
        Row(
            testDescription: "configured endpoints ignored",
            environment: ["AWS_ENDPOINT_URL": "http://x", "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS": "true"],
            url: "https://media.s3.us-east-1.amazonaws.com/push/cat/a.jpg"),
        Row(
            testDescription: "an odd prefix", location: "s3://media/a b/ü+&?#%2F",
            url: "https://media.s3.us-east-1.amazonaws.com/a%20b/%C3%BC%2B%26%3F%23%252F/cat/a.jpg"),
    ]

    private func bucket(_ row: Row) throws -> S3Bucket {
        var settings = S3Settings(try S3Location(row.location), environment: row.environment)
        settings.endpoint = row.endpoint
        settings.region = row.region
        settings.usesPathStyle = row.isPathStyle
        let profile = AWSProfile(
            "default", credentials: AWSProfileFile(""), configuration: AWSProfileFile(row.configuration))
        return try S3Bucket(settings, profile)
    }

    @Test(arguments: rows) func `An object's URL follows from endpoint, region and addressing style`(row: Row) throws {
        let bucket = try bucket(row)
        #expect(bucket.url(bucket.location.key("cat/a.jpg")) == row.url)
    }

    @Test func `A query is sorted as signed, and its values are encoded`() throws {
        let bucket = try bucket(Row(testDescription: "", endpoint: "http://127.0.0.1", url: ""))
        #expect(
            bucket.url("k", query: ["uploadId": "a/b+c==", "partNumber": "2"])
                == "http://127.0.0.1/media/k?partNumber=2&uploadId=a%2Fb%2Bc%3D%3D")
        #expect(bucket.url("k", query: ["uploads": ""]) == "http://127.0.0.1/media/k?uploads=")
    }

    @Test(arguments: ["ftp://x", "http://x?y=1", "http://", "\u{7}"])
    func `An invalid endpoint is rejected`(endpoint: String) {
        #expect(throws: AttachPrepError.self) { try bucket(Row(testDescription: "", endpoint: endpoint, url: "")) }
    }

    @Test(arguments: ["", "eu west", "eu:s3", "a\nb", String(repeating: "x", count: 64)])
    func `An invalid region is rejected`(region: String) {
        #expect(throws: AttachPrepError.self) { try bucket(Row(testDescription: "", region: region, url: "")) }
    }
}
