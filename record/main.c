/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "common/message.h"
#include "record/options.h"
#include "record/session.h"

int main(int argc, char **argv)
{
	struct settings settings;
	int status = 2;

	message_setup("prof-record", MESSAGE_INFO);
	switch (settings_parse(&settings, argc, argv)) {
	case OPTIONS_OK:
		message_setup("prof-record", settings.quiet     ? MESSAGE_ERROR :
					     settings.verbose ? MESSAGE_DETAIL :
								MESSAGE_INFO);
		status = 0;
		if (settings.list)
			event_list_print_available(stdout);
		else
			status = session_run(&settings);
		break;
	case OPTIONS_DONE:
		status = 0;
		break;
	case OPTIONS_WRONG:
		break;
	}
	settings_release(&settings);
	return status;
}
