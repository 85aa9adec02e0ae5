import AttachPrep
import Foundation
import Glibc
import TestSupport
import Testing

@testable import AttachPrepService

@Suite struct ProcessMetricsTests {
    private let registry = PrometheusRegistry()

    private func page(_ usage: MediaProcessUsage = MediaProcessUsage()) throws -> PrometheusPage {
        ProcessMetrics(registry, commit: "0123abc").refresh(usage)
        return try PrometheusPage(registry.exposition())
    }

    @Test func `The build has version and commit`() throws {
        let labels = ["version": ProductVersion.text, "revision": "0123abc"]
        #expect(try page().value("attachprep_build_info", labels) == 1)
    }

    @Test func `Memory and processor time of the process are those that the kernel has`() throws {
        let page = try page()
        let bytes = try #require(page.value("process_resident_memory_bytes"))
        // Between the size of a small program and of the machine.
        #expect(bytes > 5_000_000 && bytes < Double(ProcessInfo.processInfo.physicalMemory))
        #expect(page.types["process_cpu_seconds_total"] == "counter")
        let seconds = try #require(page.value("process_cpu_seconds_total"))
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        #expect(seconds > 0 && seconds <= Double(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) + 2)
    }

    @Test func `Open descriptors are counted, and their limit is the soft limit`() throws {
        let files = (0..<100).map { _ in open("/dev/null", O_RDONLY) }
        defer { files.forEach { close($0) } }
        let page = try page()
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        #expect(page.value("process_max_fds") == Double(limit.rlim_cur))
        #expect(try #require(page.value("process_open_fds")) >= 100)
    }

    @Test func `The start is in the past and does not change`() throws {
        let start = try #require(try page().value("process_start_time_seconds"))
        #expect(start <= Date.now.timeIntervalSince1970 + 1 && start > Date.now.timeIntervalSince1970 - 86_400)
        #expect(try page().value("process_start_time_seconds") == start)
    }

    @Test func `Media processes have sums of their own, and their processor time never decreases`() throws {
        var usage = MediaProcessUsage()
        (usage.processes, usage.residentBytes, usage.processorSeconds) = (3, 150_000_000, 12.5)
        _ = try page(usage)
        usage.processorSeconds = 12
        let page = try page(usage)
        #expect(page.value("attachprep_media_processes") == 3)
        #expect(page.value("attachprep_media_process_resident_memory_bytes") == 150_000_000)
        #expect(page.value("attachprep_media_process_cpu_seconds_total") == 12.5)
    }
}
