/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/report.h"

int main(int argc, char **argv)
{
	struct report_options options;
	int status;

	switch (report_options_parse(&options, argc, argv)) {
	case OPTIONS_OK:
		status = report_run(&options);
		break;
	case OPTIONS_DONE:
		status = 0;
		break;
	default:
		status = 2;
	}
	report_options_release(&options);
	return status;
}
