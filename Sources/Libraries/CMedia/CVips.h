// C functions around libvips for Swift, which imports neither variadic functions nor macros. Each has one fixed
// signature and libvips' name with the prefix CVips_.
#ifndef CVips_SHIM_H
#define CVips_SHIM_H

#include <gmodule.h>
#include <stdlib.h>
#include <string.h>
#include <vips/vips.h>

// The result of dladdr. glibc declares both only for _GNU_SOURCE, which a Swift module cannot define early enough.
struct CVips_symbol_info {
    const char *file;
    void *base;
    const char *symbol;
    void *address;
};

// As above.
int CVips_dladdr(const void *address, struct CVips_symbol_info *info) __asm__("dladdr");

// The path of the libvips in use; its loader modules are beside it.
static inline const char *CVips_library_path(void) {
    struct CVips_symbol_info info;
    return CVips_dladdr((void *) vips_init, &info) == 0 ? NULL : info.file;
}

// VIPS_INIT is a macro. Modules (ImageMagick, Poppler, OpenSlide, JPEG XL) are searched below VIPSHOME. A nonexistent
// folder excludes them, which saves 15 ms a process and reduces the attack surface by three libraries.
static inline int CVips_init_without_modules(void) {
    setenv("VIPSHOME", "/nonexistent", 1);
    // Images that are decoded as a whole stay in memory, because the sandbox has no folder for temporary files. Limits
    // bound their size.
    setenv("VIPS_DISC_THRESHOLD", "100g", 1);
    return VIPS_INIT("attachprep-media");
}

// GModule's flag is an enum that Swift imports as unsigned where the call takes a struct.
static inline int CVips_load_module(const char *path) {
    return g_module_open(path, G_MODULE_BIND_LAZY) == NULL ? -1 : 0;
}

// liborc allocates executable memory when the first resize operation is set up, which the sandbox later forbids. An
// operation that is never run makes it allocate early. Variadic.
static inline int CVips_prepare_vector_code(void) {
    VipsImage *black = NULL, *reduced = NULL;
    if (vips_black(&black, 16, 64, "bands", 3, NULL)) return -1;
    int code = vips_reducev(black, &reduced, 2.0, NULL);
    if (reduced != NULL) g_object_unref(reduced);
    g_object_unref(black);
    return code;
}

// FALSE and TRUE are macros with a cast.
static inline void CVips_block_all_operations(void) { vips_operation_block_set("VipsOperation", TRUE); }

// As above, for one class and those derived from it.
static inline void CVips_allow(const char *class_name) { vips_operation_block_set(class_name, FALSE); }

// The flag is in a class struct that only macros can access: 1 allowed, 0 blocked, -1 no such class.
static inline int CVips_is_allowed(const char *class_name) {
    GType type = g_type_from_name(class_name);
    if (type == 0 || !g_type_is_a(type, VIPS_TYPE_OPERATION)) return -1;
    VipsOperationClass *operation = VIPS_OPERATION_CLASS(g_type_class_ref(type));
    int blocked = (operation->flags & VIPS_OPERATION_BLOCKED) != 0;
    g_type_class_unref(operation);
    return !blocked;
}

// Collects the allowed classes below a GType, which Swift imports as a number without its macros.
static inline void CVips_collect_allowed(GType type, GPtrArray *names) {
    guint count;
    GType *children = g_type_children(type, &count);
    for (guint index = 0; index < count; index++) CVips_collect_allowed(children[index], names);
    g_free(children);
    if (CVips_is_allowed(g_type_name(type)) == 1 && !G_TYPE_IS_ABSTRACT(type))
        g_ptr_array_add(names, g_strdup(g_type_name(type)));
}

// A list that ends with NULL; g_strfreev frees it.
static inline char **CVips_allowed_classes(void) {
    GPtrArray *names = g_ptr_array_new();
    CVips_collect_allowed(VIPS_TYPE_OPERATION, names);
    g_ptr_array_add(names, NULL);
    return (char **) g_ptr_array_free(names, FALSE);
}

// g_object_unref takes any pointer; Swift would need an unsafe cast for each type.
static inline void CVips_unref_image(VipsImage *image) { g_object_unref(image); }

// As above.
static inline void CVips_unref_source(VipsSource *source) { g_object_unref(source); }

// Variadic. `options` are loader options, such as "[page=2,n=1,fail-on=error]".
static inline int CVips_image_new_from_source(
    VipsSource *source, const char *options, VipsImage **out) {
    *out = vips_image_new_from_source(source, options, "access", VIPS_ACCESS_SEQUENTIAL, NULL);
    return *out == NULL ? -1 : 0;
}

// Variadic. The loader by name: libvips recognizes an SVG only where 24 ASCII characters come first and "<svg" is in
// the first 1,000 bytes.
static inline int CVips_svgload_source(VipsSource *source, VipsImage **out, double scale) {
    return vips_svgload_source(
        source, out, "scale", scale, "fail_on", VIPS_FAIL_ON_ERROR, "access", VIPS_ACCESS_SEQUENTIAL, NULL);
}

// Variadic. Copies the bytes, because Swift may move them while the image exists.
static inline int CVips_image_new_from_bytes(
    const void *bytes, size_t length, const char *options, VipsImage **out) {
    VipsBlob *blob = vips_blob_copy(bytes, length);
    VipsSource *source = vips_source_new_from_blob(blob);
    vips_area_unref(VIPS_AREA(blob));
    if (source == NULL) return -1;
    *out = vips_image_new_from_source(source, options, NULL);
    g_object_unref(source);
    return *out == NULL ? -1 : 0;
}

// Variadic. Decodes at a reduced size where the format can; never enlarges; the result is upright. The operation's own
// fail_on does not reach the loader in 8.14.1, so it is passed in the options. Its export_profile shifts colors of
// images without a profile, so color management is done afterwards.
static inline int CVips_thumbnail_source(
    VipsSource *source, VipsImage **out, int width, int height, const char *options) {
    return vips_thumbnail_source(
        source, out, width, "height", height, "size", VIPS_SIZE_DOWN, "option_string", options, NULL);
}

// The same for bytes that Swift may move.
static inline int CVips_thumbnail_bytes(
    const void *bytes, size_t length, const char *options, VipsImage **out, int width, int height) {
    VipsBlob *blob = vips_blob_copy(bytes, length);
    VipsSource *source = vips_source_new_from_blob(blob);
    vips_area_unref(VIPS_AREA(blob));
    if (source == NULL) return -1;
    int code = CVips_thumbnail_source(source, out, width, height, options);
    g_object_unref(source);
    return code;
}

// Variadic. The same for an image in memory that is already upright and in sRGB.
static inline int CVips_thumbnail_image(VipsImage *in, VipsImage **out, int width, int height, int linear) {
    return vips_thumbnail_image(in, out, width, "height", height, "size", VIPS_SIZE_DOWN, "linear", linear, NULL);
}

// Variadic. Scales by these factors without color conversion.
static inline int CVips_resize(VipsImage *in, VipsImage **out, double across, double down) {
    return vips_resize(in, out, across, "vscale", down, NULL);
}

// Variadic. Scales to exactly that size regardless of proportions, for non-square pixels.
static inline int CVips_thumbnail_image_force(VipsImage *in, VipsImage **out, int width, int height) {
    return vips_thumbnail_image(in, out, width, "height", height, "size", VIPS_SIZE_FORCE, NULL);
}

// Variadic.
static inline int CVips_autorot(VipsImage *in, VipsImage **out) { return vips_autorot(in, out, NULL); }

// Variadic.
static inline int CVips_extract_area(VipsImage *in, VipsImage **out, int left, int top, int width, int height) {
    return vips_extract_area(in, out, left, top, width, height, NULL);
}

// Variadic.
static inline int CVips_addalpha(VipsImage *in, VipsImage **out) { return vips_addalpha(in, out, NULL); }

// Variadic.
static inline int CVips_extract_bands(VipsImage *in, VipsImage **out, int first, int count) {
    return vips_extract_band(in, out, first, "n", count, NULL);
}

// Variadic. Uses the embedded profile where it fits the pixels, otherwise libvips' built-in profile of that name.
static inline int CVips_icc_transform_to_srgb(VipsImage *in, VipsImage **out, const char *fallback_profile) {
    return vips_icc_transform(
        in, out, "srgb", "embedded", TRUE, "input_profile", fallback_profile, "intent",
        VIPS_INTENT_RELATIVE, "black_point_compensation", TRUE, "depth", 8, NULL);
}

// Variadic.
static inline int CVips_colourspace_srgb(VipsImage *in, VipsImage **out) {
    return vips_colourspace(in, out, VIPS_INTERPRETATION_sRGB, NULL);
}

// Variadic; shifts 16-bit pixels down to 8.
static inline int CVips_cast_uchar(VipsImage *in, VipsImage **out) { return vips_cast_uchar(in, out, NULL); }

// Variadic.
static inline int CVips_min(VipsImage *in, double *out) { return vips_min(in, out, NULL); }

// Variadic.
static inline int CVips_max(VipsImage *in, double *out) { return vips_max(in, out, NULL); }

// Variadic. Reads every pixel; used to decode a whole file when the pixels are not needed.
static inline int CVips_avg(VipsImage *in, double *out) { return vips_avg(in, out, NULL); }

// Variadic. Strips all metadata.
static inline int CVips_jpegsave_buffer(
    VipsImage *in, void **buffer, size_t *length, int quality, VipsForeignSubsample chroma, int optimizes,
    int interlaces) {
    return vips_jpegsave_buffer(
        in, buffer, length, "Q", quality, "subsample_mode", chroma, "optimize_coding", optimizes, "interlace",
        interlaces, "strip", TRUE, NULL);
}

// Variadic. As above; `filter` is a set of libpng's row filters.
static inline int CVips_pngsave_buffer(VipsImage *in, void **buffer, size_t *length, int compression, int filter) {
    return vips_pngsave_buffer(
        in, buffer, length, "compression", compression, "filter", filter, "strip", TRUE, NULL);
}

// Variadic. With a palette of at most 2 to the power of `bits` colors.
static inline int CVips_pngsave_palette_buffer(
    VipsImage *in, void **buffer, size_t *length, int compression, int bits, double dither, int effort) {
    return vips_pngsave_buffer(
        in, buffer, length, "compression", compression, "filter", VIPS_FOREIGN_PNG_FILTER_NONE, "palette", TRUE,
        "bitdepth", bits, "dither", dither, "effort", effort, "strip", TRUE, NULL);
}

// Variadic.
static inline int CVips_subtract(VipsImage *left, VipsImage *right, VipsImage **out) {
    return vips_subtract(left, right, out, NULL);
}

// Variadic.
static inline int CVips_multiply(VipsImage *left, VipsImage *right, VipsImage **out) {
    return vips_multiply(left, right, out, NULL);
}

// Variadic.
static inline int CVips_bandjoin2(VipsImage *first, VipsImage *second, VipsImage **out) {
    return vips_bandjoin2(first, second, out, NULL);
}

// Variadic. Transparent pixels become the given gray.
static inline int CVips_flatten(VipsImage *in, VipsImage **out, double gray) {
    VipsArrayDouble *background = vips_array_double_newv(1, gray);
    int code = vips_flatten(in, out, "background", background, NULL);
    vips_area_unref(VIPS_AREA(background));
    return code;
}

// Variadic. Changes only the interpretation of the values, not the pixels.
static inline int CVips_copy_as(VipsImage *in, VipsImage **out, VipsInterpretation interpretation) {
    return vips_copy(in, out, "interpretation", interpretation, NULL);
}

// vips_image_get_typeof returns a GType that Swift cannot compare with the 0 of a macro.
static inline int CVips_image_has(VipsImage *image, const char *name) {
    return vips_image_get_typeof(image, name) != 0;
}

#endif
