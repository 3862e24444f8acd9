/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/report.h"

int main(int argc, char **argv)
{
	struct report_options options;
	int status = report_options_parse(&options, argc, argv);

	if (status == OPTIONS_OK)
		status = report_run(&options);
	report_options_release(&options);
	return status;
}
