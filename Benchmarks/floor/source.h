// A source that is read into memory, and the files written beside it.
#ifndef SOURCE_H
#define SOURCE_H

#include <stddef.h>
#include <stdint.h>

typedef struct {
    uint8_t *bytes;
    size_t size;
} Source;

// The paths of a file's renditions.
typedef struct {
    char attachment[4096], thumbnail[4096];
} Outputs;

// Reads into a buffer that is reused; ends the program if the file cannot be read.
Source source_read(const char *path);
void source_write(const char *path, const void *bytes, size_t size);
// Ends the program with a message that names the step.
_Noreturn void fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
