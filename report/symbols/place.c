/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/symbols/place.h"

const char *symbols_status_text(enum symbols_status status)
{
	switch (status) {
	case SYMBOLS_OK: return "ok";
	case SYMBOLS_STRIPPED: return "stripped";
	case SYMBOLS_NO_FILE: return "no file";
	case SYMBOLS_DIFFERENT: return "build-id differs";
	case SYMBOLS_UNREADABLE: return "unreadable";
	case SYMBOLS_TOO_LARGE: return "larger than is read";
	case SYMBOLS_SHORT: return "not all could be read";
	case SYMBOLS_NOT_LOOKED: return "not needed";
	case SYMBOLS_NO_SYMBOLS: return "no symbols recorded";
	}
	return "unknown";
}
