#include "jpeg.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>

#include "colors.h"
#include "png.h"
#include "reduction.h"

// A warning means damage: attachprep rejects such files.
static void warn(j_common_ptr info, int level) {
    if (level < 0) info->err->error_exit(info);
}

static _Noreturn void stop(j_common_ptr info) {
    char text[JMSG_LENGTH_MAX];
    info->err->format_message(info, text);
    fail("JPEG: %s", text);
}

static void set_errors(struct jpeg_error_mgr *errors) {
    jpeg_std_error(errors);
    errors->error_exit = stop;
    errors->emit_message = warn;
}

static unsigned number(const uint8_t *bytes, int count, int is_little) {
    unsigned value = 0;
    for (int index = 0; index < count; index++) value = value << 8 | bytes[is_little ? count - 1 - index : index];
    return value;
}

// The EXIF orientation from the first directory.
static int orientation(const struct jpeg_decompress_struct *info) {
    for (jpeg_saved_marker_ptr marker = info->marker_list; marker; marker = marker->next) {
        if (marker->data_length < 20 || memcmp(marker->data, "Exif\0\0", 6)) continue;
        const uint8_t *tiff = marker->data + 6;
        unsigned size = marker->data_length - 6, little = tiff[0] == 'I', first = number(tiff + 4, 4, little);
        if (first + 2 > size) return 1;
        unsigned entries = number(tiff + first, 2, little);
        for (unsigned entry = first + 2; entries-- && entry + 12 <= size; entry += 12)
            if (number(tiff + entry, 2, little) == 0x0112) return (int) number(tiff + entry + 8, 2, little);
    }
    return 1;
}

// As libvips: leaves at least a factor of two to the resampling filter.
static int shrink(double factor) { return factor >= 16 ? 8 : factor >= 8 ? 4 : factor >= 4 ? 2 : 1; }

static void open_source(struct jpeg_decompress_struct *info, struct jpeg_error_mgr *errors, Source source) {
    set_errors(errors);
    info->err = errors;
    jpeg_create_decompress(info);
    jpeg_mem_src(info, source.bytes, source.size);
    jpeg_save_markers(info, JPEG_APP0 + 1, 0xFFFF);
    jpeg_save_markers(info, JPEG_APP0 + 2, 0xFFFF);
    jpeg_read_header(info, TRUE);
    info->out_color_space = info->num_components == 1 ? JCS_GRAYSCALE : JCS_RGB;
}

// Starts decoding at the shrink of a thumbnail; returns the thumbnail's size before rotation.
static void start(struct jpeg_decompress_struct *info, int *width, int *height) {
    picture_fit(info->image_width, info->image_height, THUMBNAIL_SIDE, width, height);
    info->scale_num = 1;
    info->scale_denom = shrink((double) info->image_width / *width);
    jpeg_start_decompress(info);
}

void jpeg_decode(Source source) {
    struct jpeg_decompress_struct info;
    struct jpeg_error_mgr errors;
    int width, height;
    open_source(&info, &errors, source);
    start(&info, &width, &height);
    JSAMPROW row = malloc((size_t) info.output_width * info.output_components);
    while (info.output_scanline < info.output_height) jpeg_read_scanlines(&info, &row, 1);
    free(row);
    jpeg_finish_decompress(&info);
    jpeg_destroy_decompress(&info);
}

void jpeg_thumbnail(Source source, const char *path) {
    struct jpeg_decompress_struct info;
    struct jpeg_error_mgr errors;
    int width, height;
    open_source(&info, &errors, source);
    start(&info, &width, &height);
    Reduction *reduction =
        reduction_open(info.output_width, info.output_height, info.output_components, width, height);
    JSAMPROW row = malloc((size_t) info.output_width * info.output_components);
    while (info.output_scanline < info.output_height) {
        jpeg_read_scanlines(&info, &row, 1);
        reduction_row(reduction, row);
    }
    free(row);
    int turn = orientation(&info);
    JOCTET *profile = NULL;
    unsigned profile_size = 0;
    jpeg_read_icc_profile(&info, &profile, &profile_size);
    jpeg_finish_decompress(&info);
    jpeg_destroy_decompress(&info);
    Picture reduced = reduction_close(reduction);
    colors_to_srgb(&reduced, profile, profile_size);
    free(profile);
    picture_turn(&reduced, turn);
    jpeg_write(&reduced, THUMBNAIL_QUALITY, path);
    picture_free(&reduced);
}

// Reads RGBA directly and skips the alpha byte.
static void describe(struct jpeg_compress_struct *info, const Picture *picture, int quality) {
    info->image_width = picture->width;
    info->image_height = picture->height;
    info->input_components = picture->bands;
    info->in_color_space = picture->bands == 1 ? JCS_GRAYSCALE : picture->bands == 4 ? JCS_EXT_RGBX : JCS_RGB;
    jpeg_set_defaults(info);
    jpeg_set_quality(info, quality, TRUE);
    info->optimize_coding = TRUE;
    info->comp_info[0].h_samp_factor = info->comp_info[0].v_samp_factor = quality < FULL_QUALITY ? 2 : 1;
}

void jpeg_write(const Picture *picture, int quality, const char *path) {
    struct jpeg_compress_struct info;
    struct jpeg_error_mgr errors;
    set_errors(&errors);
    info.err = &errors;
    jpeg_create_compress(&info);
    unsigned char *bytes = NULL;
    unsigned long size = 0;
    jpeg_mem_dest(&info, &bytes, &size);
    describe(&info, picture, quality);
    jpeg_start_compress(&info, TRUE);
    while (info.next_scanline < info.image_height) {
        JSAMPROW row = picture->pixels + (size_t) info.next_scanline * picture->width * picture->bands;
        jpeg_write_scanlines(&info, &row, 1);
    }
    jpeg_finish_compress(&info);
    jpeg_destroy_compress(&info);
    source_write(path, bytes, size);
    free(bytes);
}

void thumbnail_write(const Picture *reduced, const char *path) {
    if (picture_is_transparent(reduced))
        png_write(reduced, path);
    else
        jpeg_write(reduced, THUMBNAIL_QUALITY, path);
}

void thumbnail_of(const Picture *picture, const char *path) {
    int width, height;
    picture_fit(picture->width, picture->height, THUMBNAIL_SIDE, &width, &height);
    if (width == picture->width && height == picture->height) {
        thumbnail_write(picture, path);
        return;
    }
    Picture reduced = reduction_of(picture, width, height);
    thumbnail_write(&reduced, path);
    picture_free(&reduced);
}
