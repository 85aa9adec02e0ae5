// libxml2's HTML parser unchanged: it returns codes and does not use longjmp, so it needs no wrappers.
#ifndef CXML_SHIM_H
#define CXML_SHIM_H

#include <libxml/HTMLparser.h>
#include <libxml/parser.h>
#include <libxml/parserInternals.h>

#endif
