/* SPDX-License-Identifier: GPL-2.0-or-later */

/* A program that is no Python by its name, but runs one. */
#include <Python.h>

int main(int argc, char **argv)
{
	PyConfig config;
	PyStatus status;

	PyConfig_InitPythonConfig(&config);
	status = PyConfig_SetBytesArgv(&config, argc, argv);
	if (!PyStatus_Exception(status))
		status = Py_InitializeFromConfig(&config);
	PyConfig_Clear(&config);
	if (PyStatus_Exception(status))
		Py_ExitStatusException(status);
	return Py_RunMain();
}
