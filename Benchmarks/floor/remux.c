#include "remux.h"

#include <libavformat/avformat.h>

#include "source.h"

static int check(int code, const char *step) {
    if (code < 0) fail("remux: %s: %s", step, av_err2str(code));
    return code;
}

void remux(const char *path, const char *target) {
    AVFormatContext *in = NULL, *out = NULL;
    check(avformat_open_input(&in, path, NULL, NULL), "open");
    check(avformat_find_stream_info(in, NULL), "streams");
    check(avformat_alloc_output_context2(&out, NULL, "mp4", target), "output");
    for (unsigned index = 0; index < in->nb_streams; index++) {
        AVStream *stream = avformat_new_stream(out, NULL);
        check(avcodec_parameters_copy(stream->codecpar, in->streams[index]->codecpar), "parameters");
        stream->codecpar->codec_tag = 0;
    }
    check(avio_open(&out->pb, target, AVIO_FLAG_WRITE), "output");
    AVDictionary *options = NULL;
    av_dict_set(&options, "movflags", "+faststart", 0);
    check(avformat_write_header(out, &options), "header");
    AVPacket *packet = av_packet_alloc();
    while (av_read_frame(in, packet) >= 0) {
        int index = packet->stream_index;
        av_packet_rescale_ts(packet, in->streams[index]->time_base, out->streams[index]->time_base);
        packet->pos = -1;
        check(av_interleaved_write_frame(out, packet), "write");
    }
    av_packet_free(&packet);
    check(av_write_trailer(out), "index");
    av_dict_free(&options);
    avio_closep(&out->pb);
    avformat_free_context(out);
    avformat_close_input(&in);
}
