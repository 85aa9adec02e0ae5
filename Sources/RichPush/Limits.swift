/// Every limit of the product, each with its unit in its name and its reason beside it.
///
/// Limits are checked as early as the fact is known: a declared length before the body, the running count while it
/// arrives, pixel and frame counts before decoding. Pixel and frame limits bound what we decode.
public enum Limits {
    // MARK: Apple's, decimal bytes (safe under both readings of "MB")

    /// Apple: images up to 10 MB.
    public static let imageBytesMax = 10_000_000
    /// Apple: audio up to 5 MB.
    public static let audioBytesMax = 5_000_000
    /// Apple: movies up to 50 MB.
    public static let movieBytesMax = 50_000_000

    /// Apple's limit for a kind, in decimal bytes.
    public static func attachmentBytesMax(_ kind: MediaKind) -> Int {
        switch kind {
        case .image: imageBytesMax
        case .audio: audioBytesMax
        case .movie: movieBytesMax
        }
    }

    // MARK: Work on a source that still arrives

    /// A smaller one is decoded in less time than it takes to begin early.
    public static let earlySourceBytesMin = 500_000
    /// The headers of a photograph, and enough of its arrival to tell how fast the rest comes.
    public static let earlyArrivedBytesMin = 262_144
    /// How near the rest has to be: a media slot waits for it, and decoding to an eighth takes a tenth of a second.
    public static let earlySecondsLeftMax = 0.2
    /// The same for a movie, of which hundreds of pictures are decoded to prove it: half a second of work.
    public static let earlyMovieSecondsLeftMax = 0.6
    /// After so long without a byte the slot is wanted back.
    public static let earlySilenceSecondsMax = 0.3
    /// Bytes between two words to who waits for them: half a millisecond of work.
    public static let earlyToldBytes = 65_536

    // MARK: The conversion ceiling: how large a source may be

    /// A camera's raw-sized TIFF is about 100 MB; what is larger is not meant for a notification.
    public static let imageSourceBytesMax = 100_000_000
    /// An hour of CD-quality sound is about 600 MB; a notification's sound comes from a tenth of that.
    public static let audioSourceBytesMax = 100_000_000
    /// Two minutes of phone 4K is about 400 MB; more does not convert inside a 30 s budget.
    public static let movieSourceBytesMax = 500_000_000
    /// The widest of the three, in force until the content is known.
    public static let sourceBytesMax = movieSourceBytesMax

    /// The largest source of a kind we take in, in decimal bytes.
    public static func sourceBytesMax(_ kind: MediaKind) -> Int {
        switch kind {
        case .image: imageSourceBytesMax
        case .audio: audioSourceBytesMax
        case .movie: movieSourceBytesMax
        }
    }

    // MARK: Decoding

    /// 108-megapixel phones write 12,000 x 9,000; twice a 24 MP camera's memory is what a child may take for it.
    public static let picturePixelsMax = 120_000_000
    /// libheif and WebP stop at 16,384; nothing a notification shows is wider than a JPEG can be.
    public static let pictureSidePixelsMax = 65_500
    /// libvips holds at most 4,096 frames of an animation, and drops the rest without a word.
    public static let animationFramesMax = 4_096
    /// Frames times pixels: ten seconds of decoding at the measured 100 megapixels a second.
    public static let animationPixelsMax = 1_000_000_000
    /// 8K video, 7,680 x 4,320, with its padding.
    public static let moviePixelsMax = 36_000_000
    /// Longer than any notification's movie or song; bounds the walk over its samples.
    public static let durationSecondsMax = 4.0 * 3600
    /// A sound picture of a cover larger than this is a bomb, not a cover.
    public static let coverArtBytesMax = 10_000_000
    /// Shops sell covers of 3,000 x 3,000; one of more than 6,000 x 6,000 is a bomb, and the sound goes without it.
    public static let coverArtPixelsMax = 36_000_000
    /// How far from an exact square pixel ratio still counts as square (cover art carries 501:500).
    public static let sampleAspectTolerance = 0.01

    // MARK: Renditions

    /// The default thumbnail box: 105 pixels collapsed at 3x, summaries ask for more.
    public static let thumbnailSidePixels = 300
    /// A thumbnail larger than this is a picture, not a thumbnail.
    public static let thumbnailSidePixelsMax = 4_096

    // MARK: The display rendition

    /// The widest phone shows a notification's picture at 424 points, three pixels each.
    public static let displayPictureSidePixelsMax = 1_280
    /// Longer side of 720p video.
    public static let displayMovieLongSidePixelsMax = 1_280
    /// Shorter side of 720p video.
    public static let displayMovieShortSidePixelsMax = 720
    /// Nothing in a notification is watched for its smoothness.
    public static let displayFramesPerSecondMax = 30.0
    /// GIF spends a byte on a pixel; at 480 it still fills a notification at its points.
    public static let displayAnimationSidePixelsMax = 480
    /// Where AAC stereo stops being heard as compressed on a phone's loudspeaker.
    public static let displaySoundBitsPerSecondMax = 96_000
    /// What is left to a service extension in practice: 7 to 8 s were measured (`apple-attachments.md` 1.7).
    public static let displayDeviceBudgetSeconds = 8.0
    /// Kept back of it for what goes beside the file: a TLS handshake, headers, the thumbnail that is fetched meanwhile
    /// and attaching. Simulated phones on 3G were up to 0.3 s late without it.
    public static let displayReserveSeconds = 0.5
    /// And never more of a short time than this.
    public static let displayReserveShare = 0.1
    /// Headers round: a rate so little over the limit is within it.
    public static let displayRateTolerance = 1.05

    // MARK: Stills in memory

    /// A decoded still, with the copy it takes to turn it: a 108-megapixel JPEG as it is, a turned one reduced.
    public static let pictureMemoryBytesMax = 360_000_000
    /// Coefficients of a progressive JPEG, which libjpeg holds until the last scan: 110 megapixels with halved chroma.
    public static let jpegCoefficientBytesMax = 330_000_000

    /// An interlaced PNG as a whole, which its loader holds: 120 megapixels with alpha, half of them with 16 bits.
    public static let interlacedBytesMax = 480_000_000
    /// The same with what the decoder itself holds: a progressive JPEG's coefficients, a lossless WebP's pixels.
    public static let pictureDecodingBytesMax = 560_000_000
    /// What libheif decodes is in memory three times, 8 to 13 bytes a pixel measured; phones write 50 megapixels.
    public static let heifPixelsMax = 51_000_000
    /// Resident memory of a media child in the worst case. Measured: 54 MB with its libraries, 670 MB at most for
    /// pictures at their limits (120 megapixels with alpha, 108-megapixel JPEG, TIFF and WebP, 48-megapixel HEIC of
    /// 10 bits); a third of it more is headroom for fragmentation.
    public static let childMemoryBytesMax = 900_000_000

    // MARK: Download

    /// Curl's own default is 30 to 50; a media link that needs more than five hops is a loop or a trap.
    public static let redirectsMax = 5
    /// A TCP connection that takes longer than a third of the default budget leaves no time for the body.
    public static let connectSecondsMax = 10.0
    /// From the request to the end of the answer's head, so that headers cannot come a byte at a time.
    public static let firstByteSecondsMax = 15.0
    /// Next to no byte for so long is a dead transfer.
    public static let stallSecondsMax = 10.0
    /// What must come in that time: at a kilobyte a second no media arrives inside a budget, and a drip holds a slot.
    public static let stallBytesMin = 10_000
    /// A name that is not resolved by then never will be in time.
    public static let resolveSecondsMax = 5.0
    /// Threads that wait for name servers: every request in flight has one, and as many may hang on dead servers.
    public static let resolverThreadsMax = 64
    /// Addresses of a name and of one family that are tried; all of them are checked. Who has four dead ones is down.
    public static let addressesTriedMax = 4
    /// Servers close at 8 to 16 KB of request header; 64 KB of response header is an attack. Counted over one answer:
    /// informational answers before it and trailers after it included.
    public static let headerBytesMax = 65_536
    /// Lines of the same: sites with long policies send some 60; a thousand is an attack.
    public static let headerLinesMax = 1_000
    /// ETags are some 40 bytes; a longer name for a version is not sent back.
    public static let validatorBytesMax = 512
    /// The longest that a fetched source is taken for the current one, whatever its server says: a year (RFC 9111).
    public static let freshSecondsMax = 365.0 * 24 * 3600
    /// How many times its size a body with a Content-Encoding may unpack to: media hardly shrinks, even flat BMPs and
    /// silent WAVs are not sent in such encodings.
    public static let unpackedShareMax = 100
    /// Unpacked bytes that are always taken: a small text or flat picture may shrink a thousandfold.
    public static let unpackedBytesFree = 1_000_000
    /// Tries of one transfer, the first one included.
    public static let downloadAttemptsMax = 4
    /// Back-off before the second try; doubled for each further one, then a random part of it is taken.
    public static let retryBackOffSeconds = 0.2
    /// Content is looked at for the first time when so much has arrived (libmagic's own look is 4 KB to 7 MB).
    public static let identifyBytesFirst = 4_096
    /// The second, last look at content that the first could not name: MP3s with a large picture in front.
    public static let identifyBytesLast = 65_536
    /// And so much is taken in of content that even the second look could not name: what is named only as a whole (a
    /// song behind a broken tag with its picture) is small, and what has no name at all would fill the disk.
    public static let unnamedBytesMax = 20_000_000
    /// A redirect's or an error's body is read so far that its connection can be used again; a longer one is cut off.
    public static let discardedBodyBytesMax = 16_384
    /// Longest URL we take: what browsers and CDNs agree on.
    public static let urlBytesMax = 8_192
    /// Requests in flight.
    public static let requestsInFlight = 32

    // MARK: Requests

    /// Default time for one request, from when work on it begins: what a service extension has.
    public static let budgetSeconds = 30.0
    /// Kept back for hashing and renaming a 50 MB result.
    public static let publishReserveSeconds = 0.2
    /// The pool answers so long after a deadline: it kills its child, reaps it, and says what was written.
    public static let engineGraceSeconds = 0.05
    /// And never more of a short budget than this.
    public static let publishReserveShare = 0.1
    /// Nobody waits longer than a quarter of an hour for a notification's picture.
    public static let budgetSecondsMax = 900.0
    /// One line of a batch list.
    public static let requestBytesMax = 65_536
    /// A movie's CMTime is written in 600ths of a second, Apple's usual timescale: 24, 25 and 30 fps divide it.
    public static let movieTimescale: Int32 = 600

    // MARK: Payloads

    /// Apple: a remote notification's payload, in bytes as sent.
    public static let payloadBytesMax = 4_096
    /// A payload that is handed over: its addresses may be longer than those it gets, and it may be spread over lines.
    public static let payloadInputBytesMax = 65_536
    /// Objects and arrays within each other; APNs payloads have a handful.
    public static let payloadDepthMax = 64
    /// Combining marks in a row: Unicode's stream-safe form has 30. To compare texts takes the square of a longer run.
    public static let payloadMarksMax = 255
    /// Pieces of media of one payload: a notification shows one, and a carousel has ten.
    public static let payloadMediaMax = 10
    /// A media key: the longest path of the table has 40 characters.
    public static let payloadMediaKeyBytesMax = 500
    /// Warnings about media at other places of one payload; more would say nothing new.
    public static let payloadOtherMediaMax = 10
    /// A thumbnail's time in a payload, in seconds or frames: a day is far beyond what iOS attaches.
    public static let payloadThumbnailTimeMax = 86_400.0
    /// A caller waits so much longer than work may take: the way into the queue and out of it.
    public static let payloadWaitGraceSeconds = 2.0

    // MARK: Device

    /// For fetching, from the notification's arrival: below Apple's 30 s and the 25 s after which SDKs give up.
    public static let deviceSeconds = 24.0
    /// Kept back for the digest of 50 MB, and for handing over.
    public static let deviceReserveSeconds = 0.5
    /// A file that has less time is not begun: names, connection and TLS take 0.75 s on 3G.
    public static let deviceFetchSecondsMin = 1.0
    /// From then on the thumbnail is fetched beside a slow attachment: half of the 7 to 8 s that were measured before
    /// iOS ends an extension, and ten times what 10 KB take on 3G.
    public static let deviceThumbnailSeconds = 4.0
    /// Between two looks at a download: what comes too much in a tenth of a second of Wi-Fi is half a megabyte.
    public static let deviceWatchSeconds = 0.1
    /// Next to nothing for so long is a dead transfer.
    public static let deviceStallSeconds = 10.0
    /// An address of ours has none; a CDN's may have one or two, and each costs 0.3 s or more on 3G.
    public static let deviceRedirectsMax = 3
    /// What is larger is not fetched in Low Data Mode: vendors recommend pictures of half of it.
    public static let deviceLowDataBytesMax = 1_000_000
    /// A file is digested in such pieces: an extension has 24 MB, older ones 12.
    public static let devicePieceBytes = 65_536
    /// Arrivals that wait to be reported, a small file each; the oldest make room.
    public static let deviceReceiptsMax = 100
    /// And no longer than a week, as results are: by then a campaign has been counted.
    public static let deviceReceiptAgeSecondsMax = 7.0 * 24 * 3600
    /// Older arrivals that go along with a new one: a phone that was away must not spend its time on them.
    public static let deviceReceiptsAtOnce = 20
    /// For one report: nobody waits for it, and it is kept until the next notification.
    public static let deviceReceiptSeconds = 10.0
    /// A notification that was not handed over by then never was: iOS had ended the extension.
    public static let deviceAbandonedSeconds = 60.0

    // MARK: Media children

    /// A child is replaced after so many calls, so that what a library leaks comes back.
    public static let childCallsMax = 500
    /// And after an hour: what a file may have left behind in it is gone then, and updated libraries are in use.
    public static let childAgeSecondsMax = 3_600.0
    /// And when it keeps more than that after a call, resident: with the largest picture on top (670 MB with the 54 MB
    /// of its libraries) it would pass `childMemoryBytesMax`, and that file would be blamed.
    public static let childIdleMemoryBytesMax = 250_000_000
    /// Longest message between a child and its parent: an animation's 4,096 delays are about 25 KB of JSON.
    public static let childMessageBytesMax = 131_072
    /// Messages of one call: its answer, and one for what is written at each of the few stages of a render.
    public static let childMessagesMax = 16
    /// Characters of a sentence that comes from a child; ours have under 200.
    public static let childSentenceCharactersMax = 500
    /// Characters of what a library said, which goes to the log.
    public static let childDetailCharactersMax = 2_000
    /// Lines, streams and entries of a list in an answer; libav takes a thousand streams.
    public static let childListCountMax = 1_000
    /// Processor seconds beyond the time left: limits count whole seconds, and a busy machine is late.
    public static let childProcessorSlackSeconds = 2.0
    /// From closing its socket to its end: a process that leaves needs a few, to give its memory back.
    public static let childEndMillisecondsMax = 500
    /// A child that has not answered the first question by then is broken.
    public static let childStartSecondsMax = 10.0
    /// Libraries take 240 MB of addresses; the worst picture took 1,030 MB in all; its source may be mapped as well.
    public static let childAddressSpaceBytesMax = 1_600_000_000
    /// Twice Apple's largest attachment: a rendition that grows beyond is given up long before.
    public static let childFileBytesMax = 100_000_000
    /// Streams, the socket, a source and three outputs, each doubled by a library.
    public static let childOpenFilesMax = 64

    // MARK: Quarantine

    /// Ends of its media process after which content is refused: one may be the machine's fault, two are not.
    public static let quarantineStrikes = 2
    /// Two weeks: by then libraries have been updated, and content that once ended an old one deserves another try.
    public static let quarantineStrikeSecondsMax = 14.0 * 24 * 3600
    /// Entries in a state folder, some 500 bytes each; the oldest make room.
    public static let quarantineEntriesMax = 10_000
    /// Characters of an entry's source and of how its process ended.
    public static let quarantineTextCharactersMax = 500

    // MARK: Soundness

    /// One window of a file at a time is in memory while its blocks, boxes, chunks or frames are walked.
    public static let walkWindowBytes = 65_536
    /// Four hours of half-second fragments are 28,800 pairs of boxes at the top level; more is a trap.
    public static let boxesMax = 100_000
    /// Tags, padding and a few damaged frames between the frames of an MP3; more junk than that is not sound.
    public static let soundJunkBytesMax = 131_072
    /// Before the first frame an ID3 tag that states its size wrongly shows its picture.
    public static let soundLeadBytesMax = 2_000_000
    /// Pixels decoded to prove a first or a last group of pictures: half a second of work for libav.
    public static let soundnessPixelsMax = 300_000_000
    /// Frames decoded to prove a group of pictures, however small they are: encoders' default is 250.
    public static let soundnessFramesMax = 300
    /// Encoded bytes of the groups of pictures held back until it is known which one is the last.
    public static let soundnessBytesMax = 64_000_000
    /// Packets of a sound stream decoded at its beginning and at its end.
    public static let soundnessSoundPackets = 8
    /// Encoded bytes of the group of pictures that a wanted frame stands in.
    public static let frameGroupBytesMax = 128_000_000
    /// One in so many pictures of an AVI's index may be missing in the file.
    public static let indexedPicturesSlackShare = 50
    /// A container may declare so much more than its samples last before it counts as cut, in seconds.
    public static let declaredDurationSlackSeconds = 0.5
    /// And so much of it has to be there, as a share: headers round.
    public static let declaredDurationShareMin = 0.99
    /// Part of the declared duration that a damaged movie or sound must hold to be worth a repair.
    public static let repairShareMin = 0.5
    /// Part of a request's time after which inspection gives up: a file that takes longer to read is not converted.
    public static let inspectionTimeShare = 0.6
    /// Part of the time left that decoding may take to prove a movie or sound; past it the proof is left unfinished.
    public static let proofTimeShare = 0.4
    /// Packets after which a damaged stream of which nothing decoded is given up.
    public static let salvagePackets = 200

    // MARK: Movies written

    /// A pause in a movie with neither picture nor sound that is longer is closed; nobody waits before a still screen.
    public static let movieGapSecondsMax = 10.0
    /// Phones decode H.264 up to 4K at 60 frames a second; pixels of the longer and the shorter side.
    public static let movieLongSidePixelsMax = 3_840
    public static let movieShortSidePixelsMax = 2_160
    public static let movieFrameRateMax = 60.0
    /// Half of film's rate and a little more: below, movement falls apart into pictures.
    public static let movieFrameRateFloor = 15.0
    /// Below that a face is no face any more; smaller sources stay as they are. Pixels of the shorter side.
    public static let movieShortSidePixelsFloor = 144
    /// x264's rate factor for a movie that only has to change its format: hardly told from its source.
    public static let movieQuality = 20.0
    /// As far as that gives way where the source has few bytes: noise that its encoder made is not worth keeping.
    public static let movieQualityOfWorth = 25.0
    /// And for one that has to be made smaller: it takes the bytes it may have, up to where more of them show nothing.
    public static let movieQualityBest = 16.0
    /// The worst rate factor at which a smaller picture does not look better.
    public static let movieQualityWorst = 33.0
    /// And the worst at which a shorter movie is not the better one.
    public static let movieQualityFloor = 37.0
    /// The part of a limit that a movie is steered to; the rest is for what steering cannot foresee.
    public static let movieFillShare = 0.955
    /// Below that part a movie that was made smaller is written again, if there is time.
    public static let movieFillShareMin = 0.86
    /// Bytes of the index for each picture and each packet of sound, in the worst case.
    public static let movieIndexBytesPerPicture = 24
    public static let movieIndexBytesPerSound = 8
    /// Bytes of everything else that is no sample.
    public static let movieHeaderBytes = 4_096
    /// A movie cut shorter than that says nothing any more, unless it is half of the source, in seconds.
    public static let movieCutSecondsMin = 2.0

    // MARK: Sounds that are written

    /// AAC is good at 96 kbit/s a channel: more is not heard, on a phone's speaker least of all.
    public static let soundBitsPerSecondChannel = 96_000
    /// Bits that AAC is given for a sample of a low rate: as good as the rate allows.
    public static let soundBitsPerSample = 3
    /// A second coder in a row needs more than the first one to keep what that left, as a share.
    public static let soundSourceBitsShare = 1.5
    /// And never less than this a channel: below it AAC is heard, whatever the source was.
    public static let soundBitsPerSecondChannelMin = 32_000
    /// Speech-grade: below it sound is cut, not coarsened.
    public static let soundBitsPerSecondMin = 48_000
    /// Stereo below it sounds worse than mono.
    public static let soundStereoBitsPerSecondMin = 72_000
    /// Bits a second and channel below which high sounds cost more than they are worth.
    public static let soundFullBandBitsPerSecondMin = 56_000
    /// Samples a second that are kept then: sound up to 15 kHz.
    public static let soundNarrowBandSampleRate = 32_000
    /// Samples a second at most: nothing a phone plays has more.
    public static let soundSampleRateMax = 48_000
    /// Share of the allowed bytes that is aimed at; encoders keep a bit rate to within a few in a hundred.
    public static let soundFillShare = 0.97
    /// A shrunk sound that takes less of its limit is tried again at a higher rate.
    public static let soundFillShareMin = 0.88
    /// Encodings of one sound at most.
    public static let soundTriesMax = 4
    /// Seconds of fade where a sound is cut.
    public static let soundFadeSeconds = 2.0
    /// A cut sound of fewer seconds tells nobody anything.
    public static let soundCutSecondsMin = 1.0
    /// Seconds above which a jump in a sound's time is closed: nobody listens to so much silence.
    public static let soundJumpSeconds = 5.0

    // MARK: Hostile media

    /// Chunks of a PNG: 100 MB of data in the usual pieces of 8 KB are 12,500; more is a trap for who counts them.
    public static let pngChunksMax = 100_000
    /// Palette, colour profile and the like, which every frame of an animated PNG is decoded with: a profile is a few
    /// KB, a printer's 2 MB.
    public static let pngSharedBytesMax = 4_000_000
    /// Packed text of a PNG: a thousand times as much may come out of it, each time the file is opened.
    public static let pngPackedTextBytesMax = 250_000
    /// Pictures that one of a HEIF is put together of: a phone's 48 megapixels are 192 tiles.
    public static let heifTilesMax = 10_000
    /// A QuickTime movie's index that is stored packed, when it is unpacked: an hour's is 5 MB.
    public static let packedIndexBytesMax = 20_000_000

    // MARK: Jobs

    /// Jobs waiting to run: some 200 MB of database, and a day's work of a small machine; more is a caller run wild.
    public static let queuedJobsMax = 100_000
    /// A lease; a worker that is gone is noticed after it. Heartbeats come from a thread that no decoding blocks.
    public static let leaseSeconds = 15.0
    /// Between heartbeats: two may be late before a lease is lost.
    public static let heartbeatSeconds = 5.0
    /// Attempts of a job, the first one included: with the back-off below a minute of an origin's trouble; a picture
    /// that comes much later has missed its notification.
    public static let jobAttemptsMax = 5
    /// Back-off after a first failure; doubled for each further one, then a random part of it is waited.
    public static let jobBackOffSeconds = 5.0
    /// And never more than that.
    public static let jobBackOffSecondsMax = 600.0
    /// Workers that may end while they have a job, before it is taken for what ended them. Machines are restarted and
    /// processes killed for other reasons far more often, and decoding happens in processes of its own.
    public static let jobLossesMax = 20
    /// After a second loss; doubled for each further one: most are not the job's doing, and it is not to wait for them.
    public static let lossBackOffSeconds = 0.5
    /// And never longer than a lease: what ends its workers is given up after five minutes of that.
    public static let lossBackOffSecondsMax = 15.0
    /// Running jobs that fetch from one host: a slow one must not hold all places.
    public static let jobsPerHostMax = 16
    /// A worker looks for jobs that other processes put into the queue, or gave back, at least so often.
    public static let jobPollSeconds = 1.0
    /// A machine that has not seen all jobs of the NATS servers by then does not start: something holds them up.
    public static let mirrorSecondsMax = 120.0
    /// A process that starts before the queue's servers do, or before they have a leader, waits so long for them.
    public static let queueConnectSecondsMax = 60.0
    /// Between two tries of that.
    public static let queueConnectPauseSeconds = 1.0
    /// Log lines that wait to be kept, when they cannot be for a while; the oldest make room.
    public static let jobLogBacklogMax = 5_000
    /// How long an idempotency key is known: a day, as the contract says.
    public static let idempotencySecondsMax = 24.0 * 3600
    /// Characters of such a key; a UUID has 36.
    public static let idempotencyKeyCharactersMax = 255
    /// Finished jobs and their files are kept for a week: notifications are read or gone by then.
    public static let retentionSeconds = 7.0 * 24 * 3600
    /// Dead letters wait longer for somebody to look at them.
    public static let deadRetentionSeconds = 30.0 * 24 * 3600
    /// Files of results and uploads in all, decimal bytes.
    public static let mediaQuotaBytes = 20_000_000_000
    /// A phone fetches soon after the push: what is younger is not deleted for want of room.
    public static let mediaAgeSecondsMin = 3_600.0
    /// An upload is named by a job within a day, or forgotten.
    public static let uploadSecondsMax = 24.0 * 3600
    /// A machine's copy of an upload that lies with the servers: jobs of one upload mostly come at the same time.
    public static let uploadCopySecondsMax = 3_600.0
    /// Lines of a job's log; the oldest make room.
    public static let jobLogLinesMax = 200
    /// Characters of such a line.
    public static let jobLogCharactersMax = 2_000
    /// Between SIGTERM and the end: what runs then goes back into the queue. Kubernetes kills after 30 s.
    public static let drainSeconds = 20.0

    /// Between two looks for what is no longer needed.
    public static let housekeepingSeconds = 60.0

    // MARK: Service

    /// One request of a batch has 64 KB; ten thousand usual ones of a kilobyte are 10 MB.
    public static let batchBytesMax = 16_000_000
    /// Requests of one batch: more are sent as several.
    public static let batchRequestsMax = 10_000
    /// Header lines of one request in all; proxies and servers commonly stop at 8 to 16 KB.
    public static let requestHeaderBytesMax = 16_384
    /// Connections at a time: 1,000 with 64 KB of buffers each are 64 MB.
    public static let connectionsMax = 1_000
    /// A connection on which nothing moves for so long is closed, whoever keeps it waiting.
    public static let idleConnectionSecondsMax = 60.0
    /// Requests a second for each token, and as many at once: what two cores answer without work to do.
    public static let requestsPerSecondMax = 2_000.0
    /// The longest a caller may wait for a job's end; proxies in between commonly give up after 60 s.
    public static let preferredWaitSecondsMax = 55.0
    /// Jobs on a page of a list.
    public static let pageCountMax = 200
    /// And when nobody says how many.
    public static let pageCount = 50
    /// Events that a listener may leave unread before it loses the oldest.
    public static let eventBacklogMax = 1_000
    /// Listeners to events at a time.
    public static let eventListenersMax = 100
    /// Bytes of a token: fewer can be guessed, more are a mistake.
    public static let tokenBytesMin = 16
    public static let tokenBytesMax = 512
    /// Tokens at a time: each request is compared with all of them.
    public static let tokensMax = 100
    /// A token file: that many of the longest, and comments.
    public static let tokenFileBytesMax = 262_144
    /// Wrong tokens a second from one address before it is told to slow down: a client that is set up wrongly.
    public static let wrongTokensPerSecondMax = 10.0
    /// A browser that showed a token is known for a working day, and somebody who forgot to sign out no longer.
    public static let sessionSecondsMax = 12 * 3600
    /// A body that shows a token, which everybody may send: the longest one, with every character escaped.
    public static let sessionBytesMax = 4_096
    /// Addresses whose wrong tokens are counted.
    public static let countedAddressesMax = 10_000
    /// Connections over the limit: probes are answered on them, all else is told so; further ones wait until they are
    /// accepted.
    public static let refusedConnectionsMax = 100
    /// Between an answer after which a connection ends and its end: the client has so long to read it.
    public static let lingerSeconds = 2.0
    /// A body has to come faster than that, in the long run, bytes a second: the slowest phone network is.
    public static let bodyBytesPerSecondMin = 1_000.0
    /// Between comments in a stream of events: proxies cut what is silent for 30 to 60 s.
    public static let eventHeartbeatSeconds = 15.0
    /// Between two looks at the queue's numbers for those who listen: nobody reads faster.
    public static let eventCountsSeconds = 1.0
    /// How long the overview is the same for everybody: a busy hour's numbers take a tenth of a second of a core.
    public static let overviewSeconds = 1.5
    /// Between two looks whether results can be published, while somebody watches: each is two requests to a bucket.
    public static let targetLookSeconds = 60.0
    /// A caller that waits for a job looks itself after so long: another process may have finished it.
    public static let waitPollSeconds = 5.0
    /// Characters of a search: longer than any word that stands in a job's names and addresses.
    public static let searchCharactersMax = 200

    /// What a command takes as an answer of a service: a page of jobs, each with a manifest of 3 KB, many times over.
    public static let serviceAnswerBytesMax = 16_000_000

    /// Media children stand so far behind the service in line for the processor: an answer takes next to none of it.
    public static let serviceMediaNiceness = 5

    // MARK: Webhooks

    /// The schedule that Standard Webhooks gives as its example: seconds after the try before.
    public static let webhookScheduleSeconds: [Double] = [
        0, 5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400,
    ]
    /// A receiver has so long to answer (Standard Webhooks: 15 to 30 s).
    public static let webhookSecondsMax = 20.0
    /// Webhooks on their way to one host at a time.
    public static let webhooksPerHostMax = 8
    /// Webhooks on their way at a time.
    public static let webhooksInFlightMax = 32
    /// Webhooks that one job leaves, each time that somebody has it tried again by hand one more; older ones go.
    public static let webhooksPerJobMax = 16
    /// On several machines, who ended a job sends its webhook; the others take it after that, should he be gone.
    public static let webhookGraceSeconds = 2.0
    /// Bytes of a signing secret (Standard Webhooks: 24 to 64).
    public static let webhookSecretBytesMin = 24
    public static let webhookSecretBytesMax = 64
    /// Secrets at a time: a change needs two, for as long as receivers take to change.
    public static let webhookSecretsMax = 16
    /// What a receiver says is read so far: its status is what counts.
    public static let webhookAnswerBytesMax = 1_000
    /// A try under way when the process ended is made again after it: its own time, and some waiting for a place.
    public static let webhookLeaseSeconds = 60.0

    // MARK: Receipts

    /// Devices that one payload goes to: about as many iPhones as there are.
    public static let dispatchRecipientsMax = 1_000_000_000
    /// How long arrivals of a payload are counted: APNs keeps what it could not deliver for up to 30 days.
    public static let dispatchSeconds = 30.0 * 24 * 3600
    /// Campaigns are kept so long after their last payload or arrival: a quarter is looked back on.
    public static let campaignSeconds = 100.0 * 24 * 3600
    /// Campaigns at a time, some 10 KB each with their durations; a name for each payload is a mistake.
    public static let campaignsMax = 10_000
    /// Characters of a campaign's name.
    public static let campaignNameCharactersMax = 64
    /// Characters of a device's own name for an arrival; a UUID has 36.
    public static let receiptNameCharactersMax = 64
    /// Receipts of one request: a phone that was offline for long has some dozen.
    public static let receiptsMax = 100
    /// That many of the longest.
    public static let receiptsBytesMax = 65_536
    /// An extension has 30 seconds; a phone may sleep in between.
    public static let receiptAttachSecondsMax = 3_600.0
    /// A phone may lie in a drawer for a year; what it says then is taken, so that it forgets it, and not counted.
    public static let receiptAgeSecondsMax = 400.0 * 24 * 3600

    // MARK: Calls

    /// Bytes of a request that is sent to somebody: a webhook is a manifest of some 3 KB (Standard Webhooks: 20 KB).
    public static let callBytesMax = 65_536
    /// Connections kept for the next call: a busy service has one receiver, or a few.
    public static let callConnectionsIdleMax = 32

    // MARK: Publishing to a bucket

    /// Larger files go up in parts of so much, decimal bytes: S3 takes none but the last below 5 MiB.
    public static let publishPartBytes = 8_000_000
    /// Parts of one file at a time: a 50 MB movie has seven.
    public static let publishPartsInFlight = 3
    /// Tries of one request, the first one included.
    public static let publishAttemptsMax = 4
    /// Back-off before the second try; doubled for each further one, then a random part of it is taken.
    public static let publishBackOffSeconds = 0.2
    /// From the last byte sent to the answer: an endpoint that puts parts together takes its time.
    public static let publishAnswerSecondsMax = 30.0
    /// What an endpoint says is some 300 bytes; a page that says what was signed has 5 KB.
    public static let publishAnswerBytesMax = 65_536
    /// A manifest has some 3 KB; what is larger is none of ours.
    public static let publishedManifestBytesMax = 262_144
    /// Kept back of a budget for bringing the files to another machine: 50 MB take 4 s at 100 Mbit/s.
    public static let remotePublishReserveSeconds = 3.0
    /// And never more of a short budget than this.
    public static let remotePublishReserveShare = 0.2
    /// For a look whether a result stands, and for the doctor's probe: nobody waits longer for an answer of 3 KB.
    public static let publishLookSecondsMax = 10.0
    /// For taking back an upload that failed, when its request has no time left.
    public static let publishCleanupSecondsMax = 10.0
    /// S3 refuses what is signed by a clock that is off by more than a quarter of an hour.
    public static let publishClockSecondsMax = 900.0
    /// A key has 1,024 bytes at most; an id and a file's name take 160 of them.
    public static let publishPrefixBytesMax = 800
    /// Somebody's credentials and profiles are some KB.
    public static let profileFileBytesMax = 1_000_000

    // MARK: Metrics

    /// Series that are kept: all of ours are some two hundred, and each is a line or twenty of every reading.
    public static let metricSeriesMax = 2_000

    // MARK: Pages

    /// What Apple says a service extension has.
    public static let deviceBudgetSeconds = 30.0
    /// From then on a report has thumbnails of the size that a phone draws them in: a page of 5,000 has 15 MB then.
    public static let reportFullThumbnailsMax = 400
    /// The side of those: 35 points, three pixels each.
    public static let reportThumbnailSidePixels = 105
    /// All thumbnails of a report: browsers read 40 MB of page in about a second.
    public static let reportThumbnailsBytesMax = 40_000_000
    /// A report's details play short animations and sounds; for long ones the poster is enough.
    public static let reportAttachmentBytesMax = 1_500_000
    /// All attachments of a report, for the same second.
    public static let reportAttachmentsBytesMax = 24_000_000
    /// All attachments of a preview, where there are few and all are looked at: one of Apple's largest videos.
    public static let previewAttachmentsBytesMax = 50_000_000
}
