#include "CBuild.h"

// Package.swift defines ATTACHPREP_COMMIT from the environment of the build. Only this file and the linked program
// depend on it, so a new commit compiles no Swift module again but the one that calls it.
#ifndef ATTACHPREP_COMMIT
#define ATTACHPREP_COMMIT unknown
#endif

// The macro has no quotes, which build systems pass on differently.
#define TEXT_OF(name) #name
#define TEXT(macro) TEXT_OF(macro)

const char *CBuild_commit(void) {
    return TEXT(ATTACHPREP_COMMIT);
}
