#include "movie.h"

#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>

#include "packet_run.h"
#include "shown_frame.h"

// attachprep's bounds for the part of a GOP that it decodes for validation.
#define PROVED_PIXELS 300000000
#define PROVED_FRAMES 300

typedef struct {
    AVFormatContext *format;
    AVStream *stream;
    AVCodecContext *decoder;
    AVFrame *frame, *wanted;
    int frames_max;
} Movie;

static int check(int code, const char *step) {
    if (code < 0) fail("movie: %s: %s", step, av_err2str(code));
    return code;
}

void movie_quiet(void) { av_log_set_level(AV_LOG_ERROR); }

static Movie open_movie(const char *path) {
    Movie movie = {0};
    check(avformat_open_input(&movie.format, path, NULL, NULL), "open");
    int index = check(av_find_best_stream(movie.format, AVMEDIA_TYPE_VIDEO, -1, -1, NULL, 0), "video");
    movie.stream = movie.format->streams[index];
    const AVCodec *codec = avcodec_find_decoder(movie.stream->codecpar->codec_id);
    movie.decoder = avcodec_alloc_context3(codec);
    check(avcodec_parameters_to_context(movie.decoder, movie.stream->codecpar), "parameters");
    // Frame threads are worthwhile only for large frames.
    movie.decoder->thread_count = movie.stream->codecpar->width * movie.stream->codecpar->height >= 1280 * 720 ? 2 : 1;
    check(avcodec_open2(movie.decoder, codec, NULL), "decoder");
    movie.frame = av_frame_alloc();
    movie.wanted = av_frame_alloc();
    int64_t pixels = (int64_t) movie.decoder->width * movie.decoder->height;
    int64_t frames = pixels ? PROVED_PIXELS / pixels : PROVED_FRAMES;
    movie.frames_max = (int) (frames > PROVED_FRAMES ? PROVED_FRAMES : frames < 8 ? 8 : frames);
    return movie;
}

static void close_movie(Movie *movie) {
    av_frame_free(&movie->frame);
    av_frame_free(&movie->wanted);
    avcodec_free_context(&movie->decoder);
    avformat_close_input(&movie->format);
}

// By the index, every sample must be inside the file.
static void check_index(const Movie *movie) {
    int64_t size = avio_size(movie->format->pb);
    for (unsigned stream = 0; stream < movie->format->nb_streams; stream++) {
        int count = avformat_index_get_entries_count(movie->format->streams[stream]);
        for (int place = 0; place < count; place++) {
            const AVIndexEntry *entry = avformat_index_get_entry(movie->format->streams[stream], place);
            if (entry->pos + entry->size > size) fail("movie: a sample lies outside the file");
        }
    }
}

// Demuxes to the end and keeps references to the video packets.
static Run read_all(Movie *movie) {
    Run run = {0};
    AVPacket *packet = av_packet_alloc();
    int code;
    while ((code = av_read_frame(movie->format, packet)) >= 0) {
        if (packet->flags & AV_PKT_FLAG_CORRUPT) fail("movie: a sample is cut");
        if (packet->stream_index == movie->stream->index && packet->size) run_add(&run, packet);
        av_packet_unref(packet);
    }
    if (code != AVERROR_EOF) check(code, "read");
    av_packet_free(&packet);
    return run;
}

static void receive(Movie *movie, int64_t wanted, int *pictures) {
    while (avcodec_receive_frame(movie->decoder, movie->frame) >= 0) {
        if (movie->frame->decode_error_flags || movie->frame->flags & AV_FRAME_FLAG_CORRUPT)
            fail("movie: a picture is damaged");
        ++*pictures;
        if (movie->frame->pts == wanted) av_frame_move_ref(movie->wanted, movie->frame);
    }
}

// Decodes a GOP once: up to a number of packets for validation, and up to the wanted packet if it contains it. Skips
// the loop filter for frames that are not shown, and non-reference frames that are not needed for validation.
static void decode_group(Movie *movie, const Run *run, Group group, int proved, int wanted) {
    int64_t time = wanted >= group.first && wanted < group.end ? run->packets[wanted]->pts : AV_NOPTS_VALUE;
    int length = group.end - group.first, pictures = 0;
    int end = group.first + (proved < length ? proved : length);
    int is_long = length > movie->frames_max;
    if (time != AV_NOPTS_VALUE && end <= wanted) end = wanted + 1;
    for (int index = group.first; index < end; index++) {
        int is_wanted = time != AV_NOPTS_VALUE && index == wanted;
        int proves = index - group.first < proved && !is_long;
        movie->decoder->skip_loop_filter = is_wanted ? AVDISCARD_DEFAULT : AVDISCARD_ALL;
        movie->decoder->skip_frame = is_wanted || proves ? AVDISCARD_DEFAULT : AVDISCARD_NONREF;
        check(avcodec_send_packet(movie->decoder, run->packets[index]), "decode");
        receive(movie, time, &pictures);
    }
    check(avcodec_send_packet(movie->decoder, NULL), "decode");
    receive(movie, time, &pictures);
    avcodec_flush_buffers(movie->decoder);
    if (!pictures) fail("movie: no picture decodes");
}

static int same(Group left, Group right) { return left.first == right.first; }

static int64_t tick_at(const Movie *movie, double seconds) {
    int64_t time = seconds < 0 ? movie->format->duration / 2 : (int64_t) (seconds * AV_TIME_BASE);
    return av_rescale_q(time, (AVRational){1, AV_TIME_BASE}, movie->stream->time_base);
}

void movie_thumbnail(const char *path, double seconds, const char *thumbnail) {
    Movie movie = open_movie(path);
    check_index(&movie);
    Run run = read_all(&movie);
    if (!run.count) fail("movie: no picture");
    int wanted = run_place(&run, tick_at(&movie, seconds));
    Group first = run_group(&run, 0), last = run_group(&run, run.count - 1), middle = run_group(&run, wanted);
    // A single GOP is validated with the bounds of a last one.
    if (!same(first, last)) decode_group(&movie, &run, first, movie.frames_max / 2, wanted);
    if (!same(middle, first) && !same(middle, last)) decode_group(&movie, &run, middle, 0, wanted);
    decode_group(&movie, &run, last, movie.frames_max * 2, wanted);
    shown_frame_write(movie.wanted, movie.stream, thumbnail);
    run_free(&run);
    close_movie(&movie);
}

// From the keyframe to the first packet whose decoding time is after the wanted time.
static Run read_run(Movie *movie, int64_t tick) {
    Run run = {0};
    AVPacket *packet = av_packet_alloc();
    while (av_read_frame(movie->format, packet) >= 0) {
        int is_ours = packet->stream_index == movie->stream->index;
        if (is_ours) run_add(&run, packet);
        int64_t decoded = packet->dts;
        av_packet_unref(packet);
        if (is_ours && decoded > tick) break;
    }
    av_packet_free(&packet);
    return run;
}

void movie_frame(const char *path, double seconds, const char *thumbnail) {
    Movie movie = open_movie(path);
    for (unsigned index = 0; index < movie.format->nb_streams; index++)
        if ((int) index != movie.stream->index) movie.format->streams[index]->discard = AVDISCARD_ALL;
    int64_t tick = tick_at(&movie, seconds);
    check(av_seek_frame(movie.format, movie.stream->index, tick, AVSEEK_FLAG_BACKWARD), "seek");
    Run run = read_run(&movie, tick);
    if (!run.count) fail("movie: no picture at that time");
    int wanted = run_place(&run, tick);
    decode_group(&movie, &run, run_group(&run, wanted), 0, wanted);
    shown_frame_write(movie.wanted, movie.stream, thumbnail);
    run_free(&run);
    close_movie(&movie);
}
