#include "config.h"

#include "report/html/inks.h"

const struct cs_ink_line cs_inks[CS_INKS] = {
	[CS_INK] = { "ink", { 0x17232e, 0xe7edf2 } },
	[CS_INK_MUTE] = { "mut", { 0x556470, 0x93a4b2 } },
	[CS_INK_GRID] = { "gr", { 0xe3e9ee, 0x26333d } },
	[CS_INK_AXIS] = { "ax", { 0x9aa8b3, 0x4a5b68 } },
	[CS_INK_BOX] = { "box", { 0xf7f9fb, 0x161f27 } },
	[CS_INK_TRACK] = { "trk", { 0xe3e9ee, 0x26333d } },
	[CS_INK_USUAL] = { "use", { 0xcfe3f3, 0x27435a } },
	[CS_INK_MEASURED] = { "msr", { 0x1f5f99, 0x7db8ec } },
	[CS_INK_NVLINK] = { "nvl", { 0x3f8f5f, 0x5fb583 } },
	[CS_INK_PCIE] = { "pci", { 0x6d8ba3, 0x7b97ad } },
	[CS_INK_GOOD] = { "ok", { 0x1f7a4d, 0x6fcf97 } },
	[CS_INK_WARN] = { "wrn", { 0x8a5a00, 0xf0c674 } },
	[CS_INK_BAD] = { "bad", { 0x8f1d14, 0xff8f6b } },
	[CS_INK_CURVE] = { "c0", { 0x1f5f99, 0x7db8ec } },
	[CS_INK_CURVE + 1] = { "c1", { 0x9a5608, 0xe8a85a } },
	[CS_INK_CURVE + 2] = { "c2", { 0x5b3f8c, 0xb79be6 } },
	[CS_INK_CURVE + 3] = { "c3", { 0x1f7a4d, 0x6fcf97 } },
	[CS_INK_CURVE + 4] = { "c4", { 0xa0306a, 0xf08fc0 } },
	[CS_INK_CURVE + 5] = { "c5", { 0x4a5560, 0xb5c2cc } },
};
