/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/page/html_page.h"

#include <stddef.h>

/* The assembler takes the files as they are; the Makefile says that this depends on them. */
#define EMBED(name, file)                                                                          \
	__asm__(".section .rodata\n" #name "_begin:\n.incbin \"report/page/html/" file             \
		"\"\n" #name "_end:\n.byte 0\n.previous\n");                                       \
	extern const char name##_begin[], name##_end[]

EMBED(page, "page.html");
EMBED(style, "style.css");
EMBED(words, "words.js");
EMBED(payload, "payload.js");
EMBED(tree, "tree.js");
EMBED(shape, "shape.js");
EMBED(menu, "menu.js");
EMBED(colours, "colours.js");
EMBED(flame, "flame.js");
EMBED(strip, "strip.js");
EMBED(tables, "tables.js");
EMBED(list, "list.js");
EMBED(changes, "changes.js");
EMBED(calls, "calls.js");
EMBED(code, "code.js");
EMBED(weights, "weights.js");
EMBED(running, "running.js");
EMBED(tip, "tip.js");
EMBED(controls, "controls.js");
EMBED(address, "address.js");
EMBED(app, "app.js");

const struct html_piece html_page = { page_begin, page_end };
const struct html_piece html_style = { style_begin, style_end };

const struct html_piece html_scripts[] = {
	{ words_begin, words_end },	{ payload_begin, payload_end },
	{ tree_begin, tree_end },	{ shape_begin, shape_end },
	{ weights_begin, weights_end }, { running_begin, running_end },
	{ colours_begin, colours_end }, { flame_begin, flame_end },
	{ strip_begin, strip_end },	{ tables_begin, tables_end },
	{ list_begin, list_end },	{ changes_begin, changes_end },
	{ calls_begin, calls_end },	{ code_begin, code_end },
	{ tip_begin, tip_end },		{ menu_begin, menu_end },
	{ address_begin, address_end }, { controls_begin, controls_end },
	{ app_begin, app_end },		{ NULL, NULL },
};
