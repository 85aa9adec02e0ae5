/// Limits, with the unit in the name and the reason in the comment.
///
/// Each is checked as early as possible: a declared length before the body, the received length during the transfer,
/// pixel and frame counts before decoding.
public enum Limits {
    // MARK: Apple's limits in decimal bytes (valid for both readings of "MB")

    /// Apple: images up to 10 MB.
    public static let imageBytesMax = 10_000_000
    /// Apple: audio up to 5 MB.
    public static let audioBytesMax = 5_000_000
    /// Apple: movies up to 50 MB.
    public static let movieBytesMax = 50_000_000

    /// Apple's size limit for a kind, in bytes.
    public static func attachmentBytesMax(_ kind: MediaKind) -> Int {
        switch kind {
        case .image: imageBytesMax
        case .audio: audioBytesMax
        case .movie: movieBytesMax
        }
    }

    // MARK: Early work on an arriving source

    /// Smallest source that is decoded before it has arrived; smaller ones decode faster than early work starts.
    public static let earlySourceBytesMin = 500_000
    /// Bytes that must have arrived before early work: the headers of a photo, and enough to estimate the transfer
    /// rate.
    public static let earlyArrivedBytesMin = 262_144
    /// Longest estimated time until the last byte when early decoding starts: it occupies a media slot, and decoding at
    /// 1/8 takes about 0.1 s.
    public static let earlySecondsLeftMax = 0.2
    /// The same for a movie, whose validation decodes hundreds of frames: 0.5 s of work.
    public static let earlyMovieSecondsLeftMax = 0.6
    /// Early work gives up its media slot after this long without a byte.
    public static let earlySilenceSecondsMax = 0.3
    /// Bytes between two signals to readers of an arriving source: 0.5 ms of work.
    public static let earlySignalBytes = 65_536

    // MARK: Source sizes

    /// A camera's uncompressed TIFF is about 100 MB; larger files are not meant for notifications.
    public static let imageSourceBytesMax = 100_000_000
    /// An hour of CD-quality audio is about 600 MB; audio for notifications is less than a tenth of that.
    public static let audioSourceBytesMax = 100_000_000
    /// Two minutes of 4K video from a phone are about 400 MB; more does not convert within a 30 s budget.
    public static let movieSourceBytesMax = 500_000_000
    /// The largest of the three limits, which applies until the content is identified.
    public static let sourceBytesMax = movieSourceBytesMax

    /// The largest accepted source of a kind, in bytes.
    public static func sourceBytesMax(_ kind: MediaKind) -> Int {
        switch kind {
        case .image: imageSourceBytesMax
        case .audio: audioSourceBytesMax
        case .movie: movieSourceBytesMax
        }
    }

    // MARK: Decoding

    /// Phones with 108 megapixels write 12,000 x 9,000; a media process may use the memory for that.
    public static let imagePixelsMax = 120_000_000
    /// The largest side of a JPEG (65,500); libheif and WebP stop at 16,384.
    public static let imageSidePixelsMax = 65_500
    /// libvips reads at most 4,096 frames of an animation and silently drops the rest.
    public static let animationFramesMax = 4_096
    /// Frames times pixels: 10 s of decoding at the measured 100 megapixels/s.
    public static let animationPixelsMax = 1_000_000_000
    /// 8K video, 7,680 x 4,320, including padding.
    public static let moviePixelsMax = 36_000_000
    /// Longer than any movie or song for a notification; bounds the walk over its samples.
    public static let durationSecondsMax = 4.0 * 3600
    /// Larger cover art is treated as a decompression bomb.
    public static let coverArtBytesMax = 10_000_000
    /// Shops sell covers of 3,000 x 3,000; over 6,000 x 6,000 the audio is converted without its cover.
    public static let coverArtPixelsMax = 36_000_000
    /// Deviation of the pixel aspect ratio that still counts as square (cover art has 501:500).
    public static let sampleAspectTolerance = 0.01

    // MARK: Renditions

    /// The default side of the thumbnail: the collapsed notification shows 105 pixels at 3x, summaries more.
    public static let thumbnailSidePixels = 300
    /// The largest side that can be requested for a thumbnail.
    public static let thumbnailSidePixelsMax = 4_096

    // MARK: The display rendition

    /// The widest phone shows an image in a notification at 424 points with 3 pixels per point.
    public static let displayImageSidePixelsMax = 1_280
    /// Longer side of 720p video.
    public static let displayMovieLongSidePixelsMax = 1_280
    /// Shorter side of 720p video.
    public static let displayMovieShortSidePixelsMax = 720
    /// Higher frame rates do not matter in a notification.
    public static let displayFramesPerSecondMax = 30.0
    /// GIF takes about one byte per pixel; 480 pixels still fill a notification at 1x.
    public static let displayAnimationSidePixelsMax = 480
    /// The bit rate from which AAC stereo sounds uncompressed on a phone's loudspeaker.
    public static let displayAudioBitsPerSecondMax = 96_000
    /// The time that a service extension has in practice: 7 to 8 s were measured
    /// (`docs/reference/apple-attachment-rules.md` 1.7).
    public static let displayDeviceBudgetSeconds = 8.0
    /// Reserved from it for the TLS handshake, headers, the thumbnail that is fetched in parallel, and attaching.
    /// Without it, simulated phones on 3G were up to 0.3 s late.
    public static let displayReserveSeconds = 0.5
    /// The largest share of a short time budget to reserve.
    public static let displayReserveShare = 0.1
    /// Declared bit rates are rounded: a rate up to 5 % over the limit is accepted.
    public static let displayRateTolerance = 1.05

    // MARK: Stills in memory

    /// A decoded still and the copy needed to rotate it: a 108-megapixel JPEG fits at full size, rotated only reduced.
    public static let imageMemoryBytesMax = 360_000_000
    /// Coefficients of a progressive JPEG, which libjpeg keeps until the last scan: 110 megapixels with subsampled
    /// chroma.
    public static let jpegCoefficientBytesMax = 330_000_000

    /// An interlaced PNG, which its loader keeps as a whole: 120 megapixels with alpha, or half of that with 16 bits.
    public static let interlacedBytesMax = 480_000_000
    /// The same including the decoder's memory: coefficients of a progressive JPEG, pixels of a lossless WebP.
    public static let imageDecodingBytesMax = 560_000_000
    /// libheif keeps decoded images in memory three times, 8 to 13 bytes per pixel measured; phones write 50
    /// megapixels.
    public static let heifPixelsMax = 51_000_000
    /// Resident memory of a media process in the worst case. Measured: 54 MB with its libraries, at most 670 MB for
    /// images at their limits (120 megapixels with alpha, 108-megapixel JPEG, TIFF and WebP, 48-megapixel HEIC of 10
    /// bits); a third of that is added for fragmentation.
    public static let childMemoryBytesMax = 900_000_000

    // MARK: Download

    /// curl's default is 30 to 50; more than five redirects of a media URL are a loop or an attack.
    public static let redirectsMax = 5
    /// A connection that takes longer than a third of the default budget leaves no time for the body.
    public static let connectSecondsMax = 10.0
    /// From the request to the end of the response head, so that a server cannot send headers one byte at a time.
    public static let firstByteSecondsMax = 15.0
    /// A transfer with almost no bytes for this long is considered dead.
    public static let stallSecondsMax = 10.0
    /// Bytes that must arrive in that time: at 1 KB/s no media arrives within a budget, and the transfer holds a slot.
    public static let stallBytesMin = 10_000
    /// A name that is not resolved by then will not be resolved within the budget.
    public static let resolveSecondsMax = 5.0
    /// Threads for name resolution: one per request in flight, and as many that hang on dead name servers.
    public static let resolverThreadsMax = 64
    /// Addresses per name and family to which connections are tried; all addresses are checked by the policy.
    public static let addressesTriedMax = 4
    /// Response header bytes, summed over informational responses, the head and trailers. Servers accept 8 to 16 KB of
    /// request headers; 64 KB is an attack.
    public static let headerBytesMax = 65_536
    /// Response header lines, summed likewise: sites with long policies send some 60; a thousand is an attack.
    public static let headerLinesMax = 1_000
    /// ETags have some 40 bytes; a longer one is not sent back.
    public static let validatorBytesMax = 512
    /// The longest time a fetched source is considered fresh, whatever its server declares: a year (RFC 9111).
    public static let freshSecondsMax = 365.0 * 24 * 3600
    /// Largest expansion factor of a body with a Content-Encoding: media hardly compresses, and even flat BMPs and
    /// silent WAVs are not sent with one.
    public static let unpackedShareMax = 100
    /// Decoded bytes that are accepted at any ratio: a small text or flat image may shrink a thousandfold.
    public static let unpackedBytesFree = 1_000_000
    /// Attempts of one transfer, including the first.
    public static let downloadAttemptsMax = 4
    /// Back-off before the second attempt; doubled for each further one, with random jitter.
    public static let retryBackOffSeconds = 0.2
    /// Content is identified for the first time when this much has arrived (libmagic itself reads 4 KB to 7 MB).
    public static let identifyBytesFirst = 4_096
    /// The second and last identification before the end, for MP3s with large cover art in front.
    public static let identifyBytesLast = 65_536
    /// The most that is downloaded of content that is still unidentified: formats that are identified only as a whole
    /// (a song behind a broken tag with cover art) are small, and unknown content would fill the disk.
    public static let unidentifiedBytesMax = 20_000_000
    /// The body of a redirect or error is read up to this length to reuse the connection; longer ones close it.
    public static let discardedBodyBytesMax = 16_384
    /// Longest accepted URL: the length that browsers and CDNs support.
    public static let urlBytesMax = 8_192
    /// Concurrent requests.
    public static let requestsInFlight = 32

    // MARK: Requests

    /// The default time for one request, from when work on it begins: the 30 s of a service extension.
    public static let budgetSeconds = 30.0
    /// Reserved for hashing and renaming a 50 MB result.
    public static let publishReserveSeconds = 0.2
    /// The pool answers at most this long after a deadline: it kills and reaps the process and reports what was
    /// written.
    public static let engineGraceSeconds = 0.05
    /// The largest share of a short budget to reserve.
    public static let publishReserveShare = 0.1
    /// The longest accepted budget: 15 minutes.
    public static let budgetSecondsMax = 900.0
    /// Bytes of one line of a batch list.
    public static let requestBytesMax = 65_536
    /// Ticks per second of a movie's CMTime: 600 is Apple's usual timescale, a multiple of 24, 25 and 30.
    public static let movieTimescale: Int32 = 600

    // MARK: Payloads

    /// Apple: a remote notification's payload, in bytes as sent.
    public static let payloadBytesMax = 4_096
    /// Bytes of an input payload: its URLs may be longer than the new ones, and it may be indented.
    public static let payloadInputBytesMax = 65_536
    /// Nesting depth of objects and arrays; APNs payloads have a handful.
    public static let payloadDepthMax = 64
    /// Combining marks in a row: Unicode's stream-safe format has 30. Comparing strings is quadratic in their number.
    public static let payloadMarksMax = 255
    /// Media items of one payload: a notification shows one, a carousel has ten.
    public static let payloadMediaMax = 10
    /// Bytes of a media key: the longest path of a known dialect has 40.
    public static let payloadMediaKeyBytesMax = 500
    /// Warnings about further media of one payload.
    public static let payloadOtherMediaMax = 10
    /// A thumbnail time in a payload, in seconds or frames: a day is far beyond any attachable movie.
    public static let payloadThumbnailTimeMax = 86_400.0
    /// Additional time that a caller waits beyond the work's budget: for the queue.
    public static let payloadWaitGraceSeconds = 2.0

    // MARK: Device

    /// Time for all downloads, from the notification's arrival: below Apple's 30 s and the 25 s after which SDKs give
    /// up.
    public static let deviceSeconds = 24.0
    /// Reserved for the digest of 50 MB and for delivering the notification.
    public static let deviceReserveSeconds = 0.5
    /// The least time left to start a download: name resolution, connection and TLS take 0.75 s on 3G.
    public static let deviceFetchSecondsMin = 1.0
    /// Time after which the thumbnail is fetched in parallel with a slow attachment: half of the 7 to 8 s measured
    /// before iOS ends an extension, and ten times what 10 KB take on 3G.
    public static let deviceThumbnailSeconds = 4.0
    /// Interval between checks of a download: 0.1 s of Wi-Fi is 0.5 MB too much at most.
    public static let deviceWatchSeconds = 0.1
    /// A download without bytes for this long is considered dead.
    public static let deviceStallSeconds = 10.0
    /// Published URLs do not redirect; a CDN's may redirect once or twice, and each redirect costs 0.3 s or more on 3G.
    public static let deviceRedirectsMax = 3
    /// Larger files are not fetched in Low Data Mode: vendors recommend images of half this size.
    public static let deviceLowDataBytesMax = 1_000_000
    /// Chunk size for the digest of a file: an extension has 24 MB of memory, on older devices 12 MB.
    public static let devicePieceBytes = 65_536
    /// Stored reports that wait to be sent; the oldest are deleted.
    public static let deviceReceiptsMax = 100
    /// Reports are kept for a week, as results are; by then a campaign has been evaluated.
    public static let deviceReceiptAgeSecondsMax = 7.0 * 24 * 3600
    /// Older reports that are sent together with a new one, to limit the time it takes.
    public static let deviceReceiptsAtOnce = 20
    /// Time limit for sending one report; after a failure it is kept until the next notification.
    public static let deviceReceiptSeconds = 10.0
    /// A notification not delivered by then never was: iOS killed the extension.
    public static let deviceAbandonedSeconds = 60.0

    // MARK: Media processes

    /// A media process is replaced after this many calls, to free leaked memory.
    public static let childCallsMax = 500
    /// And after an hour: to discard state that a file may have left in it, and to load updated libraries.
    public static let childAgeSecondsMax = 3_600.0
    /// And when its resident memory after a call exceeds this: with the largest image on top (670 MB including 54 MB of
    /// libraries) it would exceed `childMemoryBytesMax`, and that file would be blamed.
    public static let childIdleMemoryBytesMax = 250_000_000
    /// Longest message between a media process and its parent: the 4,096 delays of an animation are about 25 KB of
    /// JSON.
    public static let childMessageBytesMax = 131_072
    /// Messages of one call: its answer, and one for each of the few stages of a render.
    public static let childMessagesMax = 16
    /// Characters of an error message from a media process; regular ones have under 200.
    public static let childSentenceCharactersMax = 500
    /// Characters of a library's error text for the log.
    public static let childDetailCharactersMax = 2_000
    /// Lines, streams and list entries in an answer; libav accepts a thousand streams.
    public static let childListCountMax = 1_000
    /// CPU seconds beyond the time left: CPU limits are whole seconds, and a busy machine is late.
    public static let childProcessorSlackSeconds = 2.0
    /// From closing its socket to the end of the process, which needs some time to free its memory.
    public static let childEndMillisecondsMax = 500
    /// A media process that has not answered the first call by then is considered broken.
    public static let childStartSecondsMax = 10.0
    /// Libraries take 240 MB of address space, the worst image 1,030 MB in total; its source may be mapped as well.
    public static let childAddressSpaceBytesMax = 1_600_000_000
    /// Twice Apple's largest attachment: larger renditions are abandoned much earlier.
    public static let childFileBytesMax = 100_000_000
    /// Standard streams, the socket, a source and three outputs, each duplicated by a library.
    public static let childOpenFilesMax = 64

    // MARK: Quarantine

    /// Process ends after which content is blocked: one may be caused by the machine.
    public static let quarantineStrikes = 2
    /// Two weeks: by then libraries have been updated, and content that crashed an old version may be tried again.
    public static let quarantineStrikeSecondsMax = 14.0 * 24 * 3600
    /// Entries in a state folder, some 500 bytes each; the oldest are deleted.
    public static let quarantineEntriesMax = 10_000
    /// Characters of an entry's source and of the reason why its process ended.
    public static let quarantineTextCharactersMax = 500

    // MARK: Validation

    /// Bytes of a file in memory at a time while its blocks, boxes, chunks or frames are walked.
    public static let walkWindowBytes = 65_536
    /// Boxes at the top level: four hours of half-second fragments are 28,800 pairs; more is an attack.
    public static let boxesMax = 100_000
    /// Tags, padding and a few damaged frames between the frames of an MP3; a file with more is not valid MP3.
    public static let audioJunkBytesMax = 131_072
    /// Junk before the first frame: the cover art of an ID3 tag with a wrong size.
    public static let audioLeadBytesMax = 2_000_000
    /// Pixels decoded to validate the first or last group of pictures: 0.5 s of work for libav.
    public static let validationPixelsMax = 300_000_000
    /// Frames decoded to validate a group of pictures, however small they are: encoders default to 250.
    public static let validationFramesMax = 300
    /// Encoded bytes of groups of pictures kept until the last one is known.
    public static let validationBytesMax = 64_000_000
    /// Packets of an audio stream decoded at its beginning and at its end.
    public static let validationAudioPackets = 8
    /// Encoded bytes of the group of pictures that contains a requested frame.
    public static let frameGroupBytesMax = 128_000_000
    /// One in this many frames of an AVI's index may be missing in the file.
    public static let indexedFramesSlackShare = 50
    /// Seconds by which the declared duration may exceed that of the samples before the file counts as truncated.
    public static let declaredDurationSlackSeconds = 0.5
    /// The smallest share of the declared duration that must be present: headers are rounded.
    public static let declaredDurationShareMin = 0.99
    /// Share of the declared duration that a damaged movie or audio file must contain to be repaired.
    public static let repairShareMin = 0.5
    /// Share of a request's time after which inspection gives up: a file that takes longer to read is not converted.
    public static let inspectionTimeShare = 0.6
    /// Share of the time left that validation of a movie or audio file may take; after it, validation stays incomplete.
    public static let validationTimeShare = 0.4
    /// Packets after which a damaged stream is abandoned when nothing has decoded.
    public static let undecodablePacketsMax = 200

    // MARK: Movie encoding

    /// Longer gaps with neither video nor audio are closed.
    public static let movieGapSecondsMax = 10.0
    /// Phones decode H.264 up to 4K at 60 frames/s; pixels of the longer and the shorter side.
    public static let movieLongSidePixelsMax = 3_840
    public static let movieShortSidePixelsMax = 2_160
    public static let movieFrameRateMax = 60.0
    /// The lowest frame rate, a little over half of film's; below it, motion is not smooth.
    public static let movieFrameRateFloor = 15.0
    /// Pixels of the shorter side below which faces are not recognizable; smaller sources keep their size.
    public static let movieShortSidePixelsFloor = 144
    /// x264's rate factor for a movie that only changes its format: visually close to its source.
    public static let movieQuality = 20.0
    /// The highest rate factor for sources of low bit rate: their coding noise is not worth keeping.
    public static let movieQualityLowBitRate = 25.0
    /// The rate factor for a movie that is shrunk: it uses the allowed bytes, up to where more are not visible.
    public static let movieQualityBest = 16.0
    /// The worst rate factor before the frame size is reduced, which then looks better.
    public static let movieQualityWorst = 33.0
    /// The worst rate factor before the movie is cut, which is then preferable.
    public static let movieQualityFloor = 37.0
    /// The share of a size limit that rate control aims for; the rest covers its inaccuracy.
    public static let movieFillShare = 0.955
    /// A shrunk movie below this share of the limit is encoded again, if there is time.
    public static let movieFillShareMin = 0.86
    /// Index bytes per video frame and per audio packet, in the worst case.
    public static let movieIndexBytesPerFrame = 24
    public static let movieIndexBytesPerAudioPacket = 8
    /// Bytes of everything other than samples and index.
    public static let movieHeaderBytes = 4_096
    /// The shortest useful cut in seconds, unless it is half of the source.
    public static let movieCutSecondsMin = 2.0

    // MARK: Audio encoding

    /// AAC is transparent at 96 kbit/s per channel on a phone's loudspeaker.
    public static let audioBitsPerSecondChannel = 96_000
    /// AAC bits per sample for low sample rates: as good as the rate allows.
    public static let audioBitsPerSample = 3
    /// Bit rate of a second lossy encoding relative to the first, to keep its quality.
    public static let audioSourceBitsShare = 1.5
    /// The lowest bit rate per channel: below it, AAC artifacts are audible for any source.
    public static let audioBitsPerSecondChannelMin = 32_000
    /// The lowest bit rate, speech grade: below it, audio is cut instead.
    public static let audioBitsPerSecondMin = 48_000
    /// Below this bit rate, stereo sounds worse than mono.
    public static let audioStereoBitsPerSecondMin = 72_000
    /// Bits per second and channel below which high frequencies are removed.
    public static let audioFullBandBitsPerSecondMin = 56_000
    /// The sample rate used then: frequencies up to 15 kHz.
    public static let audioNarrowBandSampleRate = 32_000
    /// The highest sample rate that phones play.
    public static let audioSampleRateMax = 48_000
    /// The share of the allowed bytes that is aimed for; encoders keep a bit rate to within a few percent.
    public static let audioFillShare = 0.97
    /// Shrunk audio below this share of the limit is encoded again at a higher rate.
    public static let audioFillShareMin = 0.88
    /// Encodings of one audio file.
    public static let audioTriesMax = 4
    /// Seconds of fade-out where audio is cut.
    public static let audioFadeSeconds = 2.0
    /// The shortest useful cut of audio, in seconds.
    public static let audioCutSecondsMin = 1.0
    /// Longer jumps in audio timestamps are closed instead of filled with silence, in seconds.
    public static let audioJumpSeconds = 5.0

    // MARK: Hostile media

    /// Chunks of a PNG: 100 MB in the usual chunks of 8 KB are 12,500; more is an attack.
    public static let pngChunksMax = 100_000
    /// Palette, color profile and other data that every frame of an animated PNG is decoded with: a profile is a few
    /// KB, a printer's 2 MB.
    public static let pngSharedBytesMax = 4_000_000
    /// Compressed text of a PNG: it may expand a thousandfold each time the file is opened.
    public static let pngPackedTextBytesMax = 250_000
    /// Tiles of a HEIF: a phone's 48 megapixels are 192.
    public static let heifTilesMax = 10_000
    /// A compressed index of a QuickTime movie, decompressed: an hour's is 5 MB.
    public static let packedIndexBytesMax = 20_000_000

    // MARK: Jobs

    /// Queued jobs: some 200 MB of database, and a day's work of a small machine.
    public static let queuedJobsMax = 100_000
    /// The duration of a lease, after which the loss of a worker is detected. Heartbeats run on a thread that decoding
    /// does not block.
    public static let leaseSeconds = 15.0
    /// Interval between heartbeats: two may be late before a lease expires.
    public static let heartbeatSeconds = 5.0
    /// Attempts of a job, including the first: with the back-off, they cover less than a minute of an origin's outage;
    /// later media would miss its notification.
    public static let jobAttemptsMax = 5
    /// Back-off after the first failure; doubled for each further one, with random jitter.
    public static let jobBackOffSeconds = 5.0
    /// The longest back-off.
    public static let jobBackOffSecondsMax = 600.0
    /// Losses of workers with a job before the job is blamed. Restarts and kills for other reasons are far more
    /// frequent, and decoding happens in separate processes.
    public static let jobLossesMax = 20
    /// Back-off after the second loss, doubled for each further one; short, since most losses are not caused by the
    /// job.
    public static let lossBackOffSeconds = 0.5
    /// The longest back-off after a loss, a lease: a job that kills its workers is given up after five minutes.
    public static let lossBackOffSecondsMax = 15.0
    /// Running jobs that fetch from one host, so that a slow host does not occupy all slots.
    public static let jobsPerHostMax = 16
    /// Interval at which a worker checks for jobs that other processes enqueued or released.
    public static let jobPollSeconds = 1.0
    /// Time limit for reading all jobs from the NATS servers at startup; after it, startup fails.
    public static let mirrorSecondsMax = 120.0
    /// A process that starts before the queue's servers, or before they have a leader, waits this long for them.
    public static let queueConnectSecondsMax = 60.0
    /// Pause between two connection attempts.
    public static let queueConnectPauseSeconds = 1.0
    /// Log lines that wait to be stored; the oldest are dropped.
    public static let jobLogBacklogMax = 5_000
    /// An idempotency key is valid for a day, as documented.
    public static let idempotencySecondsMax = 24.0 * 3600
    /// Characters of an idempotency key; a UUID has 36.
    public static let idempotencyKeyCharactersMax = 255
    /// Finished jobs and their files are kept for a week: by then notifications have been read or dismissed.
    public static let retentionSeconds = 7.0 * 24 * 3600
    /// Dead letters are kept longer, for manual inspection.
    public static let deadRetentionSeconds = 30.0 * 24 * 3600
    /// Total size of result and upload files, in bytes.
    public static let mediaQuotaBytes = 20_000_000_000
    /// Phones fetch soon after the push: newer files are not deleted to free space.
    public static let mediaAgeSecondsMin = 3_600.0
    /// An upload that no job names within a day is deleted.
    public static let uploadSecondsMax = 24.0 * 3600
    /// How long a machine keeps its copy of an upload that is stored on the servers: jobs of one upload mostly arrive
    /// together.
    public static let uploadCopySecondsMax = 3_600.0
    /// Log lines of a job; the oldest are deleted.
    public static let jobLogLinesMax = 200
    /// Characters of a log line.
    public static let jobLogCharactersMax = 2_000
    /// Time from SIGTERM to the end; jobs that still run return to the queue. Kubernetes kills after 30 s.
    public static let drainSeconds = 20.0

    /// Interval between cleanups.
    public static let housekeepingSeconds = 60.0

    // MARK: Service

    /// Bytes of a batch: one request may have 64 KB; ten thousand typical ones of 1 KB are 10 MB.
    public static let batchBytesMax = 16_000_000
    /// Requests of one batch; split larger ones.
    public static let batchRequestsMax = 10_000
    /// Total header bytes of a request; proxies and servers commonly accept 8 to 16 KB.
    public static let requestHeaderBytesMax = 16_384
    /// Concurrent connections: 1,000 with 64 KB of buffers each are 64 MB.
    public static let connectionsMax = 1_000
    /// A connection without traffic for this long is closed.
    public static let idleConnectionSecondsMax = 60.0
    /// Requests per second and burst size of each token: what two cores answer without other work.
    public static let requestsPerSecondMax = 2_000.0
    /// The longest time that a caller may wait for a job's end; proxies commonly give up after 60 s.
    public static let preferredWaitSecondsMax = 55.0
    /// The largest page of a job list.
    public static let pageCountMax = 200
    /// The default page size.
    public static let pageCount = 50
    /// Unread events of a listener; the oldest are dropped.
    public static let eventBacklogMax = 1_000
    /// Concurrent event listeners.
    public static let eventListenersMax = 100
    /// Bytes of a token: shorter ones can be guessed, longer ones are a mistake.
    public static let tokenBytesMin = 16
    public static let tokenBytesMax = 512
    /// Number of tokens: each request is compared with all of them.
    public static let tokensMax = 100
    /// Bytes of a token file: the maximum number of the longest tokens, and comments.
    public static let tokenFileBytesMax = 262_144
    /// Requests with a wrong token per second and address before rate limiting: a misconfigured client.
    public static let wrongTokensPerSecondMax = 10.0
    /// The lifetime of a browser session: a working day.
    public static let sessionSecondsMax = 12 * 3600
    /// Body of an unauthenticated sign-in request: the longest token with every character escaped.
    public static let sessionBytesMax = 4_096
    /// Addresses whose wrong tokens are counted.
    public static let countedAddressesMax = 10_000
    /// Connections over the limit, on which only probes are answered; further ones wait to be accepted.
    public static let refusedConnectionsMax = 100
    /// Time for the client to read the last response before its connection is closed.
    public static let lingerSeconds = 2.0
    /// The lowest average transfer rate of a body, in bytes per second; the slowest phone networks are faster.
    public static let bodyBytesPerSecondMin = 1_000.0
    /// Interval of comments in an event stream: proxies close connections that are silent for 30 to 60 s.
    public static let eventHeartbeatSeconds = 15.0
    /// Interval between updates of the queue counts for listeners.
    public static let eventCountsSeconds = 1.0
    /// How long the overview is cached: computing it for a busy hour takes 0.1 s of a core.
    public static let overviewSeconds = 1.5
    /// Interval between checks of the publish target while someone watches: each makes two requests to a bucket.
    public static let targetCheckSeconds = 60.0
    /// Interval at which a waiting request checks its job: another process may have finished it.
    public static let waitPollSeconds = 5.0
    /// Characters of a search: longer than any word in names and URLs of jobs.
    public static let searchCharactersMax = 200

    /// Bytes of a service response that a command accepts: many times a page of jobs with manifests of 3 KB.
    public static let serviceAnswerBytesMax = 16_000_000

    /// Niceness of media processes relative to the service, so that requests are answered first.
    public static let serviceMediaNiceness = 5

    // MARK: Webhooks

    /// The example schedule of Standard Webhooks: seconds after the previous attempt.
    public static let webhookScheduleSeconds: [Double] = [
        0, 5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400,
    ]
    /// Time for a receiver to respond (Standard Webhooks: 15 to 30 s).
    public static let webhookSecondsMax = 20.0
    /// Concurrent webhooks to one host.
    public static let webhooksPerHostMax = 8
    /// Concurrent webhooks.
    public static let webhooksInFlightMax = 32
    /// Stored webhooks of one job: each manual retry adds one; the oldest are deleted.
    public static let webhooksPerJobMax = 16
    /// On several machines, the one that finished a job sends its webhook; after this time, another one may, in case it
    /// has failed.
    public static let webhookGraceSeconds = 2.0
    /// Bytes of a signing secret (Standard Webhooks: 24 to 64).
    public static let webhookSecretBytesMin = 24
    public static let webhookSecretBytesMax = 64
    /// Concurrent secrets: a rotation needs two until receivers have changed.
    public static let webhookSecretsMax = 16
    /// Bytes read of a receiver's response; only its status matters.
    public static let webhookAnswerBytesMax = 1_000
    /// After this time, an attempt that was in progress when its process ended is repeated: the time limit of an
    /// attempt and some waiting.
    public static let webhookLeaseSeconds = 60.0

    // MARK: Receipts

    /// Recipients of one payload: about the number of iPhones.
    public static let dispatchRecipientsMax = 1_000_000_000
    /// How long arrivals of a payload are counted: APNs stores undelivered notifications for up to 30 days.
    public static let dispatchSeconds = 30.0 * 24 * 3600
    /// Campaigns are kept this long after their last payload or arrival: a quarter can be reviewed.
    public static let campaignSeconds = 100.0 * 24 * 3600
    /// Stored campaigns, some 10 KB each with their durations; a name for each payload is a mistake.
    public static let campaignsMax = 10_000
    /// Characters of a campaign's name.
    public static let campaignNameCharactersMax = 64
    /// Characters of a device's id for an arrival; a UUID has 36.
    public static let receiptNameCharactersMax = 64
    /// Receipts of one request: a phone that was offline for long has some dozen.
    public static let receiptsMax = 100
    /// Bytes of such a request: the maximum number of the longest receipts.
    public static let receiptsBytesMax = 65_536
    /// The longest accepted attach time: an extension has 30 s, but a phone may sleep meanwhile.
    public static let receiptAttachSecondsMax = 3_600.0
    /// The oldest accepted receipt: a phone may be off for a year. Reports of expired dispatches are accepted, so that
    /// the phone deletes them, but not counted.
    public static let receiptAgeSecondsMax = 400.0 * 24 * 3600

    // MARK: Outgoing requests

    /// Bytes of an outgoing request body: a webhook is a manifest of some 3 KB (Standard Webhooks: 20 KB).
    public static let httpRequestBodyBytesMax = 65_536
    /// Idle connections kept for reuse: a busy service has one or a few receivers.
    public static let httpIdleConnectionsMax = 32

    // MARK: Publishing to a bucket

    /// Larger files are uploaded in parts of this many bytes: S3 requires at least 5 MiB for all but the last.
    public static let publishPartBytes = 8_000_000
    /// Concurrent parts of one file: a 50 MB movie has seven.
    public static let publishPartsInFlight = 3
    /// Attempts of one request, including the first.
    public static let publishAttemptsMax = 4
    /// Back-off before the second attempt; doubled for each further one, with random jitter.
    public static let publishBackOffSeconds = 0.2
    /// From the last byte sent to the response: an endpoint needs time to join parts.
    public static let publishAnswerSecondsMax = 30.0
    /// Bytes of an endpoint's response: usually some 300; an error page with the signed text has 5 KB.
    public static let publishAnswerBytesMax = 65_536
    /// Bytes of a published manifest: some 3 KB; a larger file was not written by attachprep.
    public static let publishedManifestBytesMax = 262_144
    /// Reserved from a budget for uploading: 50 MB take 4 s at 100 Mbit/s.
    public static let remotePublishReserveSeconds = 3.0
    /// The largest share of a short budget to reserve.
    public static let remotePublishReserveShare = 0.2
    /// Time limit for reading a published manifest and for the probe of `doctor`.
    public static let publishCheckSecondsMax = 10.0
    /// Time limit for aborting a failed upload when its request has no time left.
    public static let publishCleanupSecondsMax = 10.0
    /// S3 rejects signatures of clocks that are off by more than 15 minutes.
    public static let publishClockSecondsMax = 900.0
    /// Bytes of a prefix: a key has at most 1,024; id and file name take 160 of them.
    public static let publishPrefixBytesMax = 800
    /// Bytes of AWS credentials and profile files, which have some KB.
    public static let profileFileBytesMax = 1_000_000

    // MARK: Metrics

    /// Metric series: attachprep's own are some two hundred, each with one to twenty lines per scrape.
    public static let metricSeriesMax = 2_000

    // MARK: Pages

    /// The time of a service extension, as documented by Apple.
    public static let deviceBudgetSeconds = 30.0
    /// With more results, a report has thumbnails of the size that a phone draws: a page of 5,000 then has 15 MB.
    public static let reportFullThumbnailsMax = 400
    /// The side of those thumbnails: 35 points with 3 pixels per point.
    public static let reportThumbnailSidePixels = 105
    /// Total size of a report's thumbnails: browsers read 40 MB of page in about 1 s.
    public static let reportThumbnailsBytesMax = 40_000_000
    /// Larger animations, movies and audio files are not embedded in a report's details.
    public static let reportAttachmentBytesMax = 1_500_000
    /// Total size of a report's embedded attachments, for the same second.
    public static let reportAttachmentsBytesMax = 24_000_000
    /// Total size of a preview's attachments, of which there are few: one of Apple's largest movies.
    public static let previewAttachmentsBytesMax = 50_000_000
}
