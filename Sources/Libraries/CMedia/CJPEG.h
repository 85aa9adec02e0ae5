// C functions around libjpeg-turbo for Swift. libjpeg reports errors with longjmp, which must not unwind a Swift
// function, and its callbacks are fields of structs. So each operation is one C function that catches the jump and
// returns a code.
#ifndef CJPEG_SHIM_H
#define CJPEG_SHIM_H

#include <errno.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <jpeglib.h>
#include <jerror.h>

// Bytes read at a time: the fast Huffman decoder needs a few thousand in its buffer; libvips gives it 4,096.
#define CJPEG_INPUT_BYTES 262144
// Maximum scans of one image: encoders write about ten, and each goes over all coefficients.
#define CJPEG_SCANS_MAX 100

// Bytes supplied at a time when every code must be checked: with fewer than 128 for each block of an MCU libjpeg-turbo
// does not use its fast Huffman decoder, which reads invalid codes as zero without a warning.
#define CJPEG_CAREFUL_BYTES 127

// Bytes of any value that encoders leave before a marker, as in `ScanBytes`; and how many of a longer run are compared.
#define CJPEG_STRAY_BYTES 16
#define CJPEG_SURPLUS_BYTES 512

// Zeros in a row at a file's end that are not image data: a flat area can be coded in zeros, but EOI follows it.
#define CJPEG_FILLER_BYTES 512

// A decoder, its input and the jump target for errors.
struct CJPEG_decoder {
    struct jpeg_decompress_struct info;
    struct jpeg_error_mgr errors;
    struct jpeg_source_mgr input;
    struct jpeg_progress_mgr progress;
    jmp_buf escape;
    int descriptor;
    // File offset of the next bytes.
    int64_t offset;
    // Number of bytes filled in `bytes`, and number of those already supplied to libjpeg.
    size_t filled;
    size_t given;
    // Whether bytes are supplied a few at a time.
    int is_careful;
    // How often libjpeg had to fill in missing data, or left image data over.
    int64_t inventions;
    // How often the file ended early; included in the inventions.
    int64_t ends;
    // Whether a marker came although image data was left.
    int has_surplus;
    // A flag for each row of MCUs in which, or since which, data was filled in; NULL before decoding starts.
    unsigned char *lost_rows;
    // A bit for each component that occurred in a scan.
    unsigned components_seen;
    unsigned char bytes[CJPEG_INPUT_BYTES];
};

// error_exit must not return; libjpeg's default ends the process.
static inline void CJPEG_give_up(j_common_ptr info) {
    struct CJPEG_decoder *decoder = (struct CJPEG_decoder *) info->client_data;
    longjmp(decoder->escape, 1);
}

// libjpeg's default writes to standard error.
static inline void CJPEG_say_nothing(j_common_ptr info) { (void) info; }

// Whether damage in the current scan is visible at once: the first scan of a component, and luma's first scan of AC
// coefficients. Damage in later scans of a progressive image only makes it coarser.
static inline int CJPEG_is_essential(j_decompress_ptr info) {
    if (!info->progressive_mode) return 1;
    if (info->Ah != 0 || info->comps_in_scan < 1) return 0;
    return info->Ss == 0 || (info->Ss == 1 && info->cur_comp_info[0]->component_index == 0);
}

// Marks the rows from the current one up to the next restart marker as lost.
static inline void CJPEG_lose_rows(struct CJPEG_decoder *decoder) {
    j_decompress_ptr info = &decoder->info;
    JDIMENSION first = info->input_iMCU_row, end = info->total_iMCU_rows;
    if (decoder->lost_rows == NULL || first >= end) return;
    if (info->restart_interval > 0 && info->MCUs_per_row > 0 && info->comps_in_scan > 0) {
        // A scan of one component covers several rows of its blocks in each row of MCUs.
        uint64_t columns = info->MCUs_per_row;
        if (info->comps_in_scan == 1) columns *= (unsigned) info->cur_comp_info[0]->v_samp_factor;
        uint64_t rows = (info->restart_interval + columns - 1) / columns + 1;
        if (rows < end - first) end = first + (JDIMENSION) rows;
    }
    memset(decoder->lost_rows + first, 1, end - first);
}

// Whether the bytes that libjpeg skipped before a marker are image data, and not the padding of an encoder: long, and
// not one value, or 0xFF and its stuffed zeros, repeated.
static inline int CJPEG_skipped_data(const struct CJPEG_decoder *decoder, int count) {
    unsigned char bytes[CJPEG_SURPLUS_BYTES];
    if (count <= CJPEG_STRAY_BYTES) return 0;
    size_t size = (size_t) count < sizeof bytes ? (size_t) count : sizeof bytes;
    int64_t end = decoder->offset - (int64_t) decoder->filled + (int64_t) decoder->given
        - (int64_t) decoder->input.bytes_in_buffer;
    if (pread(decoder->descriptor, bytes, size, end - (int64_t) size) != (ssize_t) size) return 1;
    int is_filler = 1, is_uniform = 1;
    for (size_t index = 0; index < size; index++) {
        is_filler = is_filler && (bytes[index] == 0 || bytes[index] == 0xFF);
        is_uniform = is_uniform && bytes[index] == bytes[0];
    }
    return !is_filler && !is_uniform;
}

// Handles libjpeg's warnings: counts those for which data was filled in or left over. The others do not affect the
// image.
static inline void CJPEG_note(j_common_ptr common, int level) {
    struct CJPEG_decoder *decoder = (struct CJPEG_decoder *) common->client_data;
    if (level >= 0) return;
    common->err->num_warnings++;
    switch (common->err->msg_code) {
    case JWRN_HUFF_BAD_CODE:
    case JWRN_ARITH_BAD_CODE:
    case JWRN_MUST_RESYNC:
    case JWRN_BOGUS_PROGRESSION:
        decoder->inventions++;
        CJPEG_lose_rows(decoder);
        break;
    case JWRN_EXTRANEOUS_DATA:
        // Not between the segments of the header.
        if (decoder->lost_rows == NULL || !CJPEG_skipped_data(decoder, common->err->msg_parm.i[0])) break;
        decoder->inventions++;
        decoder->has_surplus = 1;
        break;
    case JWRN_JPEG_EOF:
        decoder->inventions++;
        decoder->ends++;
        // Huffman codes are read ahead, so only the next warning shows whether image data is missing. Arithmetic
        // decoding continues with zeros and no further warning.
        if (!decoder->info.arith_code) break;
        if (CJPEG_is_essential(&decoder->info)) CJPEG_lose_rows(decoder);
        break;
    case JWRN_HIT_MARKER:
        decoder->inventions++;
        if (CJPEG_is_essential(&decoder->info)) CJPEG_lose_rows(decoder);
        break;
    default: break;
    }
}

// Supplies the next bytes of the buffer.
static inline void CJPEG_give(struct CJPEG_decoder *decoder) {
    size_t count = decoder->filled - decoder->given;
    if (decoder->is_careful && count > CJPEG_CAREFUL_BYTES) count = CJPEG_CAREFUL_BYTES;
    decoder->input.next_input_byte = decoder->bytes + decoder->given;
    decoder->input.bytes_in_buffer = count;
    decoder->given += count;
}

// Reads the next bytes of the file. At its end an EOI is inserted, as libjpeg's own source does, to keep what was
// decoded.
static inline boolean CJPEG_fill(j_decompress_ptr info) {
    struct CJPEG_decoder *decoder = (struct CJPEG_decoder *) info->client_data;
    if (decoder->given == decoder->filled) {
        ssize_t count;
        do count = pread(decoder->descriptor, decoder->bytes, sizeof decoder->bytes, decoder->offset);
        while (count < 0 && errno == EINTR);
        // A file without image data, or one that cannot be read, is an error, not an image that ends early.
        if (count < 0 || (count == 0 && decoder->lost_rows == NULL)) CJPEG_give_up((j_common_ptr) info);
        if (count == 0) {
            WARNMS(info, JWRN_JPEG_EOF);
            decoder->bytes[0] = 0xFF;
            decoder->bytes[1] = JPEG_EOI;
            count = 2;
        } else {
            decoder->offset += count;
        }
        decoder->filled = (size_t) count;
        decoder->given = 0;
    }
    CJPEG_give(decoder);
    return TRUE;
}

// Skips segments that are not needed.
static inline void CJPEG_skip(j_decompress_ptr info, long count) {
    struct CJPEG_decoder *decoder = (struct CJPEG_decoder *) info->client_data;
    if (count <= 0) return;
    if ((size_t) count <= decoder->input.bytes_in_buffer) {
        decoder->input.next_input_byte += count;
        decoder->input.bytes_in_buffer -= (size_t) count;
        return;
    }
    size_t left = (size_t) count - decoder->input.bytes_in_buffer;
    size_t held = decoder->filled - decoder->given;
    if (left <= held) {
        decoder->given += left;
    } else {
        decoder->offset += (int64_t) (left - held);
        decoder->given = decoder->filled;
    }
    decoder->input.bytes_in_buffer = 0;
}

// The source manager's first and last calls, which need no action.
static inline void CJPEG_do_nothing(j_decompress_ptr info) { (void) info; }

// Called between rows. Limits the scans: a small file with a thousand scans would keep the decoder busy for minutes.
static inline void CJPEG_watch_scans(j_common_ptr common) {
    j_decompress_ptr info = (j_decompress_ptr) common;
    struct CJPEG_decoder *decoder = (struct CJPEG_decoder *) common->client_data;
    if (info->input_scan_number > CJPEG_SCANS_MAX) CJPEG_give_up(common);
    for (int index = 0; index < info->comps_in_scan; index++)
        decoder->components_seen |= 1u << info->cur_comp_info[index]->component_index;
}

// A decoder for a file that must stay open while the decoder exists; NULL without memory.
static inline struct CJPEG_decoder *CJPEG_decoder_new(int descriptor) {
    struct CJPEG_decoder *decoder = (struct CJPEG_decoder *) malloc(sizeof *decoder);
    if (decoder == NULL) return NULL;
    memset(decoder, 0, offsetof(struct CJPEG_decoder, bytes));
    decoder->descriptor = descriptor;
    decoder->info.err = jpeg_std_error(&decoder->errors);
    decoder->info.client_data = decoder;
    decoder->errors.error_exit = CJPEG_give_up;
    decoder->errors.output_message = CJPEG_say_nothing;
    decoder->errors.emit_message = CJPEG_note;
    if (setjmp(decoder->escape)) {
        jpeg_destroy_decompress(&decoder->info);
        free(decoder);
        return NULL;
    }
    jpeg_create_decompress(&decoder->info);
    decoder->info.client_data = decoder;
    decoder->input.init_source = CJPEG_do_nothing;
    decoder->input.term_source = CJPEG_do_nothing;
    decoder->input.fill_input_buffer = CJPEG_fill;
    decoder->input.skip_input_data = CJPEG_skip;
    decoder->input.resync_to_restart = jpeg_resync_to_restart;
    decoder->info.src = &decoder->input;
    decoder->progress.progress_monitor = CJPEG_watch_scans;
    decoder->info.progress = &decoder->progress;
    return decoder;
}

// jpeg_destroy_decompress frees libjpeg's memory; the decoder struct is freed here.
static inline void CJPEG_decoder_free(struct CJPEG_decoder *decoder) {
    jpeg_destroy_decompress(&decoder->info);
    free(decoder->lost_rows);
    free(decoder);
}

// Reads the file up to the first scan; 0, or -1 when there is none.
static inline int CJPEG_read_header(struct CJPEG_decoder *decoder) {
    if (setjmp(decoder->escape)) return -1;
    return jpeg_read_header(&decoder->info, TRUE) == JPEG_HEADER_OK ? 0 : -1;
}

// Sets up decoding at `eighths` of the size: into planes, without chroma upsampling, or into RGB pixels. With
// `is_careful` every code of a sequential image is checked, which takes longer.
static inline int CJPEG_start(struct CJPEG_decoder *decoder, int eighths, int is_careful, int to_pixels) {
    j_decompress_ptr info = &decoder->info;
    if (setjmp(decoder->escape)) return -1;
    // One more, since an image without rows would have no flags at all.
    decoder->lost_rows = (unsigned char *) calloc(info->image_height / DCTSIZE + 2, 1);
    if (decoder->lost_rows == NULL) return -1;
    decoder->is_careful = is_careful;
    if (is_careful && decoder->input.bytes_in_buffer > CJPEG_CAREFUL_BYTES) {
        decoder->given -= decoder->input.bytes_in_buffer - CJPEG_CAREFUL_BYTES;
        decoder->input.bytes_in_buffer = CJPEG_CAREFUL_BYTES;
    }
    info->scale_num = (unsigned) eighths;
    info->scale_denom = 8;
    info->out_color_space = to_pixels ? JCS_RGB : info->jpeg_color_space;
    info->raw_data_out = !to_pixels;
    return jpeg_start_decompress(info) ? 0 : -1;
}

// Reads from the image's last row to EOI; 0, or -1 on an error. Does not call jpeg_finish_decompress, which would
// release the state that is queried afterwards.
static inline int CJPEG_finish(struct CJPEG_decoder *decoder) {
    if (setjmp(decoder->escape)) {
        decoder->inventions++;
        return -1;
    }
    while (!jpeg_input_complete(&decoder->info)) jpeg_consume_input(&decoder->info);
    return 0;
}

// Whether each component's sampling factors divide the largest ones. libjpeg-turbo cannot upsample other images,
// although it can reduce them.
static inline int CJPEG_has_whole_factors(const struct CJPEG_decoder *decoder) {
    const struct jpeg_decompress_struct *info = &decoder->info;
    int across = 1, down = 1;
    for (int index = 0; index < info->num_components; index++) {
        const jpeg_component_info *component = &info->comp_info[index];
        if (component->h_samp_factor > across) across = component->h_samp_factor;
        if (component->v_samp_factor > down) down = component->v_samp_factor;
    }
    for (int index = 0; index < info->num_components; index++) {
        const jpeg_component_info *component = &info->comp_info[index];
        if (component->h_samp_factor < 1 || across % component->h_samp_factor != 0) return 0;
        if (component->v_samp_factor < 1 || down % component->v_samp_factor != 0) return 0;
    }
    return 1;
}

// Whether the file ends in zeros where its EOI should be: space that was allocated and never written. libjpeg decodes
// those bits as valid codes, so no data is filled in for them.
static inline int CJPEG_ends_in_zeros(const struct CJPEG_decoder *decoder) {
    unsigned char bytes[CJPEG_FILLER_BYTES];
    struct stat status;
    if (fstat(decoder->descriptor, &status) != 0 || status.st_size < CJPEG_FILLER_BYTES) return 0;
    ssize_t count = pread(decoder->descriptor, bytes, sizeof bytes, status.st_size - CJPEG_FILLER_BYTES);
    if (count != CJPEG_FILLER_BYTES) return 0;
    for (size_t index = 0; index < sizeof bytes; index++)
        if (bytes[index] != 0) return 0;
    return 1;
}

// Whether the file ends early, and no image data was left over before.
static inline int CJPEG_is_cut(const struct CJPEG_decoder *decoder) {
    return decoder->ends > 0 && !decoder->has_surplus;
}

// Whether the file has all image data and lacks only its EOI. In a progressive image, every coefficient of every
// component has all of its bits.
static inline int CJPEG_lacks_only_end(const struct CJPEG_decoder *decoder) {
    const struct jpeg_decompress_struct *info = &decoder->info;
    if (decoder->ends != decoder->inventions || info->arith_code) return 0;
    for (JDIMENSION row = 0; row < info->total_iMCU_rows; row++)
        if (decoder->lost_rows[row]) return 0;
    for (int index = 0; index < info->num_components; index++) {
        if (!(decoder->components_seen & 1u << index) && (info->progressive_mode || decoder->components_seen != 0))
            return 0;
        for (int number = 0; info->progressive_mode && number < DCTSIZE2; number++)
            if (info->coef_bits == NULL || info->coef_bits[index][number] != 0) return 0;
    }
    return 1;
}

// How often data had to be filled in so far.
static inline int64_t CJPEG_inventions(const struct CJPEG_decoder *decoder) { return decoder->inventions; }

// Rows of MCUs without filled-in data, out of `of`; 0 for an image that lacks a component, or all AC coefficients.
static inline uint32_t CJPEG_intact_rows(const struct CJPEG_decoder *decoder, uint32_t *of) {
    const struct jpeg_decompress_struct *info = &decoder->info;
    uint32_t intact = 0;
    *of = info->total_iMCU_rows;
    if (decoder->lost_rows == NULL) return 0;
    if (info->progressive_mode || decoder->components_seen != 0) {
        for (int index = 0; index < info->num_components; index++)
            if (!(decoder->components_seen & 1u << index)) return 0;
    }
    if (info->progressive_mode && info->coef_bits != NULL && info->coef_bits[0][1] < 0) return 0;
    for (JDIMENSION row = 0; row < info->total_iMCU_rows; row++) intact += !decoder->lost_rows[row];
    return intact;
}

// Reads all image data to check it; 0, or -1 when decoding cannot continue.
static inline int CJPEG_read_through(struct CJPEG_decoder *decoder) {
    j_decompress_ptr info = &decoder->info;
    // The samples are not needed: all rows share one buffer.
    JSAMPROW rows[4 * DCTSIZE];
    JSAMPARRAY arrays[MAX_COMPONENTS];
    if (setjmp(decoder->escape)) return -1;
    size_t widest = 0;
    for (int index = 0; index < info->num_components; index++) {
        size_t blocks = (size_t) info->comp_info[index].width_in_blocks + MAX_SAMP_FACTOR;
        if (blocks * DCTSIZE > widest) widest = blocks * DCTSIZE;
        arrays[index] = rows;
    }
    // Memory of libjpeg's pool is freed with its decompressor.
    JSAMPROW row = (JSAMPROW) (*info->mem->alloc_large)((j_common_ptr) info, JPOOL_IMAGE, widest);
    for (int line = 0; line < 4 * DCTSIZE; line++) rows[line] = row;
    JDIMENSION lines = (JDIMENSION) (info->max_v_samp_factor * info->min_DCT_scaled_size);
    while (info->output_scanline < info->output_height)
        if (jpeg_read_raw_data(info, arrays, lines) == 0) return -1;
    return 0;
}

// Decodes all rows as interleaved RGB; 0, or -1 when decoding cannot continue.
static inline int CJPEG_read_pixels(struct CJPEG_decoder *decoder, unsigned char *buffer) {
    j_decompress_ptr info = &decoder->info;
    if (setjmp(decoder->escape)) return -1;
    while (info->output_scanline < info->output_height) {
        JSAMPROW row = buffer + (size_t) info->output_scanline * info->output_width * 3;
        jpeg_read_scanlines(info, &row, 1);
    }
    return 0;
}

// The decoded size of a component, and the columns and rows of its buffer: whole blocks, and whole rows of MCUs.
struct CJPEG_plane {
    int width;
    int height;
    int stride;
    int rows;
};

// comp_info is an array behind a pointer, with a field whose name depends on libjpeg's version.
static inline struct CJPEG_plane CJPEG_plane_of(const struct CJPEG_decoder *decoder, int index) {
    const jpeg_component_info *component = &decoder->info.comp_info[index];
    int rows_per_mcu = component->v_samp_factor * component->DCT_scaled_size;
    struct CJPEG_plane plane = {
        .width = (int) component->downsampled_width,
        .height = (int) component->downsampled_height,
        .stride = (int) component->width_in_blocks * component->DCT_scaled_size,
        .rows = (int) decoder->info.total_iMCU_rows * rows_per_mcu,
    };
    // An interleaved scan fills whole MCUs of several blocks.
    int blocks = component->h_samp_factor * component->DCT_scaled_size;
    plane.stride = (plane.stride + blocks - 1) / blocks * blocks;
    return plane;
}

// Decodes all rows into the planes' buffers, one after the other; 0, or -1 when the file ends or decoding cannot
// continue.
static inline int CJPEG_read_planes(struct CJPEG_decoder *decoder, unsigned char *buffer) {
    j_decompress_ptr info = &decoder->info;
    if (setjmp(decoder->escape)) return -1;
    JSAMPROW rows[3][4 * DCTSIZE];
    JSAMPARRAY arrays[3] = {rows[0], rows[1], rows[2]};
    JDIMENSION lines = (JDIMENSION) (info->max_v_samp_factor * info->min_DCT_scaled_size);
    for (size_t mcu_row = 0; info->output_scanline < info->output_height; mcu_row++) {
        unsigned char *plane = buffer;
        for (int index = 0; index < info->num_components; index++) {
            const jpeg_component_info *component = &info->comp_info[index];
            struct CJPEG_plane shape = CJPEG_plane_of(decoder, index);
            int count = component->v_samp_factor * component->DCT_scaled_size;
            for (int row = 0; row < count; row++)
                rows[index][row] = plane + (mcu_row * (size_t) count + (size_t) row) * (size_t) shape.stride;
            plane += (size_t) shape.stride * (size_t) shape.rows;
        }
        if (jpeg_read_raw_data(info, arrays, lines) == 0) return -1;
    }
    return 0;
}

// The error manager of an encoder, and its jump target.
struct CJPEG_encoder_errors {
    struct jpeg_error_mgr errors;
    jmp_buf escape;
};

// As CJPEG_give_up.
static inline void CJPEG_stop_encoding(j_common_ptr info) {
    longjmp(((struct CJPEG_encoder_errors *) info->client_data)->escape, 1);
}

// Installs an error manager that jumps to `escape`; libjpeg's default ends the process.
static inline void CJPEG_report_to(struct jpeg_compress_struct *info, struct CJPEG_encoder_errors *errors) {
    memset(info, 0, sizeof *info);
    info->err = jpeg_std_error(&errors->errors);
    errors->errors.error_exit = CJPEG_stop_encoding;
    errors->errors.output_message = CJPEG_say_nothing;
    info->client_data = errors;
}

// Sets up encoding of a JFIF file into memory, which the caller releases with `free`.
static inline void CJPEG_begin_encoding(
    struct jpeg_compress_struct *info, int width, int height, int components, int quality, int optimizes,
    unsigned char **bytes, unsigned long *count) {
    jpeg_create_compress(info);
    jpeg_mem_dest(info, bytes, count);
    info->image_width = (JDIMENSION) width;
    info->image_height = (JDIMENSION) height;
    info->input_components = components;
    info->in_color_space = components == 1 ? JCS_GRAYSCALE : JCS_YCbCr;
    jpeg_set_defaults(info);
    jpeg_set_quality(info, quality, TRUE);
    info->optimize_coding = optimizes ? TRUE : FALSE;
}

// Encodes interleaved Y, Cb and Cr as a JFIF file in memory, which the caller releases with `free`; 0, or -1.
static inline int CJPEG_encode(
    const unsigned char *pixels, int width, int height, int quality, int halves_chroma, unsigned char **bytes,
    unsigned long *count) {
    struct jpeg_compress_struct info;
    struct CJPEG_encoder_errors errors;
    CJPEG_report_to(&info, &errors);
    if (setjmp(errors.escape)) {
        jpeg_destroy_compress(&info);
        return -1;
    }
    CJPEG_begin_encoding(&info, width, height, 3, quality, 1, bytes, count);
    if (!halves_chroma) info.comp_info[0].h_samp_factor = info.comp_info[0].v_samp_factor = 1;
    jpeg_start_compress(&info, TRUE);
    while (info.next_scanline < info.image_height) {
        JSAMPROW row = (JSAMPROW) pixels + (size_t) info.next_scanline * (size_t) width * 3;
        jpeg_write_scanlines(&info, &row, 1);
    }
    jpeg_finish_compress(&info);
    jpeg_destroy_compress(&info);
    return 0;
}

// A component in memory: its samples row by row.
struct CJPEG_samples {
    const unsigned char *samples;
    int width;
    int height;
};

// Fills lines up to whole blocks by repeating the last column and row.
static inline void CJPEG_fill_lines(
    const struct CJPEG_samples *plane, int first, int count, int stride, unsigned char *lines, JSAMPROW *rows) {
    for (int line = 0; line < count; line++) {
        int row = first + line < plane->height ? first + line : plane->height - 1;
        unsigned char *target = lines + (size_t) line * (size_t) stride;
        memcpy(target, plane->samples + (size_t) row * (size_t) plane->width, (size_t) plane->width);
        memset(target + plane->width, target[plane->width - 1], (size_t) (stride - plane->width));
        rows[line] = target;
    }
}

// Encodes planar components, luma first, as a JFIF file in memory, which the caller releases with `free`; `across` and
// `down` are the luma samples per chroma sample. 0, or -1.
static inline int CJPEG_encode_planes(
    const struct CJPEG_samples *planes, int components, int across, int down, int quality, int optimizes,
    unsigned char **bytes, unsigned long *count) {
    struct jpeg_compress_struct info;
    struct CJPEG_encoder_errors errors;
    // Two blocks more than the widest row: an MCU has at most two across.
    int stride = (planes[0].width + 4 * DCTSIZE - 1) / (2 * DCTSIZE) * (2 * DCTSIZE);
    unsigned char *lines = (unsigned char *) malloc((size_t) stride * 3 * 2 * DCTSIZE);
    if (lines == NULL) return -1;
    CJPEG_report_to(&info, &errors);
    if (setjmp(errors.escape)) {
        jpeg_destroy_compress(&info);
        free(lines);
        return -1;
    }
    CJPEG_begin_encoding(&info, planes[0].width, planes[0].height, components, quality, optimizes, bytes, count);
    info.raw_data_in = TRUE;
    info.comp_info[0].h_samp_factor = components == 1 ? 1 : across;
    info.comp_info[0].v_samp_factor = components == 1 ? 1 : down;
    jpeg_start_compress(&info, TRUE);
    JSAMPROW rows[3][2 * DCTSIZE];
    JSAMPARRAY arrays[3] = {rows[0], rows[1], rows[2]};
    int lines_per_mcu = info.max_v_samp_factor * DCTSIZE;
    for (int mcu_row = 0; info.next_scanline < info.image_height; mcu_row++) {
        for (int index = 0; index < components; index++) {
            int component_lines = info.comp_info[index].v_samp_factor * DCTSIZE;
            CJPEG_fill_lines(
                &planes[index], mcu_row * component_lines, component_lines, stride,
                lines + (size_t) index * 2 * DCTSIZE * (size_t) stride, rows[index]);
        }
        jpeg_write_raw_data(&info, arrays, (JDIMENSION) lines_per_mcu);
    }
    jpeg_finish_compress(&info);
    jpeg_destroy_compress(&info);
    free(lines);
    return 0;
}

#endif
