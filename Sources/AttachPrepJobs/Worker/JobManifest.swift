import AttachPrep
import RichPush

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// A job's own manifest, made of its work's.
///
/// Its id is the caller's, else the one that is derived from the request; its source is called as the request calls it.
/// `queue` is the wait for a turn in all: from when the job was due until it was claimed, and then for media slots.
enum JobManifest {
    /// Of work that was done for this job.
    static func made(_ manifest: Manifest, for job: ClaimedJob, waited: Double) -> Manifest {
        var manifest = manifest
        manifest.timings.queue = rounded(manifest.timings.queue + waited)  // Bounded: floating-point numbers.
        return manifest
    }

    /// Of work that was done for another one: it took no time but to find it.
    static func reused(_ manifest: Manifest, for job: ClaimedJob, waited: Double, total: Double) -> Manifest {
        var manifest = manifest
        if let identity = try? RequestIdentity(job.request, localState: nil) { manifest.id = identity.id }
        manifest.source.url = RedactedURL.redact(job.request.source)
        manifest.timings = ManifestTimings()
        manifest.timings.queue = rounded(waited)
        manifest.timings.total = rounded(total)
        return manifest
    }

    /// Of a job that ended without work.
    static func refusing(_ job: ClaimedJob, _ error: any Error, waited: Double) -> Manifest {
        var manifest = Manifest(refusing: job.request, error)
        manifest.timings.queue = rounded(waited)
        return manifest
    }

    /// Hundredths of a millisecond, as everywhere in a manifest.
    private static func rounded(_ milliseconds: Double) -> Double { (milliseconds * 100).rounded() / 100 }
}
