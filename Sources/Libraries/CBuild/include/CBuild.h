#ifndef CBUILD_H
#define CBUILD_H

/// The commit that the program was built from; "unknown" unless ATTACHPREP_COMMIT was set for the build.
const char *CBuild_commit(void);

#endif
