/* inks.h - the colours of a page besides those of the scales. */
#ifndef CS_REPORT_HTML_INKS_H
#define CS_REPORT_HTML_INKS_H

#include "report/scale.h"

/* Light in an attribute, dark by class. */
enum cs_ink {
	CS_INK,	     /* of what is to be read */
	CS_INK_MUTE, /* of what explains it */
	CS_INK_GRID,
	CS_INK_AXIS,
	CS_INK_BOX, /* fills */
	CS_INK_TRACK,
	CS_INK_USUAL,
	CS_INK_MEASURED,
	CS_INK_NVLINK,
	CS_INK_PCIE,
	CS_INK_GOOD,
	CS_INK_WARN,
	CS_INK_BAD,
	CS_INK_CURVE, /* and the next 5 */
	CS_INKS = CS_INK_CURVE + 6
};
struct cs_ink_line {
	const char *name; /* class */
	uint32_t colour[CS_THEMES];
};
extern const struct cs_ink_line cs_inks[CS_INKS];

#endif
