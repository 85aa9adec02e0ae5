#include "heif.h"

#include <libheif/heif.h>
#include <stdlib.h>
#include <string.h>

#include "colors.h"
#include "jpeg.h"
#include "picture.h"
#include "png.h"

static void check(struct heif_error error) {
    if (error.code) fail("HEIF: %s", error.message);
}

// Rows usually have no padding and are then used without a copy.
static Picture pixels(const struct heif_image *image, int bands, int *is_own) {
    int stride, width = heif_image_get_width(image, heif_channel_interleaved);
    int height = heif_image_get_height(image, heif_channel_interleaved);
    const uint8_t *plane = heif_image_get_plane_readonly(image, heif_channel_interleaved, &stride);
    *is_own = stride != width * bands;
    if (!*is_own) return (Picture){width, height, bands, (uint8_t *) plane};
    Picture picture = picture_make(width, height, bands);
    size_t row = (size_t) width * bands;
    for (int y = 0; y < height; y++) memcpy(picture.pixels + y * row, plane + (size_t) y * stride, row);
    return picture;
}

static void convert_colors(const struct heif_image_handle *handle, Picture *picture) {
    size_t size = heif_image_handle_get_raw_color_profile_size(handle);
    void *profile = malloc(size + 1);
    if (size) check(heif_image_handle_get_raw_color_profile(handle, profile));
    colors_to_srgb(picture, profile, size);
    free(profile);
}

void heif_convert(Source source, const char *attachment, const char *thumbnail) {
    struct heif_context *context = heif_context_alloc();
    check(heif_context_read_from_memory_without_copy(context, source.bytes, source.size, NULL));
    struct heif_image_handle *handle;
    check(heif_context_get_primary_image_handle(context, &handle));
    int bands = heif_image_handle_has_alpha_channel(handle) ? 4 : 3;
    struct heif_image *image;
    check(heif_decode_image(handle, &image, heif_colorspace_RGB,
                            bands == 4 ? heif_chroma_interleaved_RGBA : heif_chroma_interleaved_RGB, NULL));
    int is_own;
    Picture picture = pixels(image, bands, &is_own);
    convert_colors(handle, &picture);
    thumbnail_of(&picture, thumbnail);
    if (picture_is_transparent(&picture))
        png_write(&picture, attachment);
    else
        jpeg_write(&picture, FULL_QUALITY, attachment);
    if (is_own) picture_free(&picture);
    heif_image_release(image);
    heif_image_handle_release(handle);
    heif_context_free(context);
}
