// The floor: the least work for a file, with plain library calls in one running process.
//
//   floor batch LIST FOLDER       each line `KIND PATH`: all work of a request except the network
//   floor frame FILE SECONDS OUT [ROUNDS]   one exact frame of a movie: seek, decode, resize, encode
//   floor movie FILE SECONDS OUT [ROUNDS]   the same frame and the validation of the movie
//   floor decode FILE [ROUNDS]    libjpeg-turbo alone, at the shrink of a thumbnail
//   floor copy FILE OUT [ROUNDS]  a plain copy
//   floor remux FILE OUT [ROUNDS] stream copy to an MP4 with its index at the front
//
// Prints one JSON line a file or round: processor seconds of all threads, and wall seconds. The work:
//
// - The file is read once. Types that iOS attaches (jpeg, png, gif, mp4, mp3) are written unchanged; webp, heic and
//   avif are decoded once for the attachment (JPEG of quality 90 with 4:4:4 chroma, PNG if transparent, GIF if
//   animated) and the thumbnail (300 x 300, JPEG of quality 85 with 4:2:0 chroma).
// - It is validated like in attachprep: stills are decoded to their last row; the blocks of a GIF are walked and
//   every frame is decoded; the frames of an MP3 are walked and counted; the samples of a movie must be inside the
//   file, it is demuxed to the end, and its first and last GOPs are decoded within attachprep's bounds.
// - Nothing is done twice: one decode validates a still and makes its thumbnail; a GOP is decoded once for validation
//   and thumbnail. Color profiles of JPEG and HEIC are converted to sRGB by lcms2. No hash, no identification by
//   content, no manifest, no JSON, no metadata except the orientation, no limits, no timeouts, no sandbox.
// - malloc keeps large buffers for the next file instead of returning them to the kernel (mallopt).
// - libheif, libde265, dav1d and libavcodec have Debian's settings; movies of 720p and more use two threads.
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "gif.h"
#include "heif.h"
#include "jpeg.h"
#include "moving_webp.h"
#include "movie.h"
#include "mp3.h"
#include "png.h"
#include "remux.h"
#include "source.h"
#include "webp.h"

static double seconds(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return now.tv_sec + now.tv_nsec / 1e9;
}

typedef struct {
    double cpu, wall;
} Moment;

static Moment now(void) { return (Moment){seconds(CLOCK_PROCESS_CPUTIME_ID), seconds(CLOCK_MONOTONIC)}; }

static void report(const char *kind, const char *path, Moment start) {
    Moment end = now();
    printf("{\"kind\": \"%s\", \"file\": \"%s\", \"cpu\": %.6f, \"wall\": %.6f}\n", kind, path, end.cpu - start.cpu,
           end.wall - start.wall);
}

static void prepare(const char *kind, const char *path, const char *folder) {
    char attachment[4096], thumbnail[4096];
    snprintf(attachment, sizeof attachment, "%s/attachment", folder);
    snprintf(thumbnail, sizeof thumbnail, "%s/thumbnail", folder);
    Source source = source_read(path);
    int is_converted = !strcmp(kind, "webp") || !strcmp(kind, "webp-moving") || !strcmp(kind, "heic")
        || !strcmp(kind, "avif");
    if (!is_converted) source_write(attachment, source.bytes, source.size);
    if (!strcmp(kind, "jpeg")) jpeg_thumbnail(source, thumbnail);
    else if (!strcmp(kind, "png")) png_thumbnail(source, thumbnail);
    else if (!strcmp(kind, "gif")) gif_thumbnail(source, thumbnail);
    else if (!strcmp(kind, "webp")) webp_convert(source, attachment, thumbnail);
    else if (!strcmp(kind, "webp-moving")) moving_webp_convert(source, attachment, thumbnail);
    else if (!strcmp(kind, "heic") || !strcmp(kind, "avif")) heif_convert(source, attachment, thumbnail);
    else if (!strcmp(kind, "mp4")) movie_thumbnail(attachment, -1, thumbnail);
    else if (!strcmp(kind, "mp3")) mp3_thumbnail(source, thumbnail);
    else fail("no kind %s", kind);
}

// The first file of a kind is processed twice, because its library's initialization counts as start-up.
static void batch(const char *list, const char *folder) {
    FILE *file = fopen(list, "r");
    if (!file) fail("%s cannot be read", list);
    char kind[32], path[4096], last[32] = "";
    while (fscanf(file, "%31s %4095[^\n]", kind, path) == 2) {
        if (strcmp(kind, last)) prepare(kind, path, folder);
        strcpy(last, kind);
        Moment start = now();
        prepare(kind, path, folder);
        report(kind, path, start);
    }
    fclose(file);
}

static void one(int argc, char **argv) {
    const char *work = argv[1], *path = argv[2];
    Moment start = now();
    if (!strcmp(work, "decode")) jpeg_decode(source_read(path));
    else if (!strcmp(work, "copy") && argc > 3) {
        Source source = source_read(path);
        source_write(argv[3], source.bytes, source.size);
    } else if (!strcmp(work, "remux") && argc > 3) remux(path, argv[3]);
    else if (!strcmp(work, "frame") && argc > 4) movie_frame(path, atof(argv[3]), argv[4]);
    else if (!strcmp(work, "movie") && argc > 4) movie_thumbnail(path, atof(argv[3]), argv[4]);
    else fail("no such work; see the head of floor.c");
    report(work, path, start);
}

static int rounds(int argc, char **argv) {
    int last = !strcmp(argv[1], "decode") ? 3 : !strcmp(argv[1], "frame") || !strcmp(argv[1], "movie") ? 5 : 4;
    return argc > last ? atoi(argv[last]) : 1;
}

int main(int argc, char **argv) {
    mallopt(M_MMAP_MAX, 0);
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
    movie_quiet();
    if (argc < 3) fail("see the head of floor.c");
    if (!strcmp(argv[1], "batch")) {
        batch(argv[2], argc > 3 ? argv[3] : ".");
    } else {
        // Warm-up for the initial allocations of the libraries.
        for (int round = 0; round < rounds(argc, argv); round++) one(argc, argv);
    }
}
