import ArgumentParser
import AttachPrep
import RichPush

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Where results appear: shared by `prepare`, `batch`, `payload` and `doctor`.
struct PublishOptionGroup: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Where results appear: file: (the folder of --output) or s3://bucket/prefix.", valueName: "target"))
    var publish = "file:"

    @Option(
        name: .customLong("s3-endpoint"),
        help: ArgumentHelp(
            "The S3 server (AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL; default: Amazon's).", valueName: "url"))
    var s3Endpoint: String?

    @Option(
        name: .customLong("s3-region"),
        help: ArgumentHelp("Its region (AWS_REGION, AWS_DEFAULT_REGION; default: us-east-1).", valueName: "region"))
    var s3Region: String?

    @Flag(name: .customLong("s3-path-style"), help: "Name the bucket in the path, not in the host's name.")
    var s3PathStyle = false

    @Option(
        name: .customLong("s3-cache-control"),
        help: ArgumentHelp(
            "The Cache-Control of files (default: \(S3Settings.standardCacheControl)).", valueName: "text"))
    var s3CacheControl: String?

    func validate() throws {
        _ = try place()
    }

    /// - Throws: `ValidationError` for a target that is none.
    func place() throws -> PublishPlace {
        do {
            let place = try PublishPlace(publish, environment: ProcessInfo.processInfo.environment)
            guard case .bucket(var settings) = place else { return place }
            settings.endpoint = s3Endpoint
            settings.region = s3Region
            if s3PathStyle { settings.usesPathStyle = true }
            if let s3CacheControl { settings.cacheControl = s3CacheControl }
            return .bucket(settings)
        } catch {
            throw ValidationError(error.message)
        }
    }
}
