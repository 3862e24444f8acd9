/* SPDX-License-Identifier: GPL-2.0-or-later */

/* A Python extension that calls back into Python for each element of a buffer, as numpy's do. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

static PyObject *__attribute__((noinline)) apply_each(PyObject *function, PyObject *buffer)
{
	Py_buffer view;
	double sum = 0;

	if (PyObject_GetBuffer(buffer, &view, PyBUF_SIMPLE))
		return NULL;
	for (Py_ssize_t i = 0; i < view.len; i++) {
		PyObject *result = PyObject_CallFunction(function, "i",
							 ((const unsigned char *)view.buf)[i]);

		if (!result) {
			PyBuffer_Release(&view);
			return NULL;
		}
		sum += PyFloat_AsDouble(result);
		Py_DECREF(result);
	}
	PyBuffer_Release(&view);
	return PyFloat_FromDouble(sum);
}

static PyObject *apply(PyObject *self, PyObject *args)
{
	PyObject *function, *buffer, *result;

	if (!PyArg_ParseTuple(args, "OO", &function, &buffer))
		return NULL;
	result = apply_each(function, buffer);
	__asm__ volatile(""); /* not a tail call: this frame is to be seen */
	return result;
}

static PyMethodDef methods[] = { { "apply", apply, METH_VARARGS, NULL }, { NULL, NULL, 0, NULL } };

static struct PyModuleDef module = {
	PyModuleDef_HEAD_INIT, "callback", NULL, -1, methods, NULL, NULL, NULL, NULL
};

PyMODINIT_FUNC PyInit_callback(void)
{
	return PyModule_Create(&module);
}
