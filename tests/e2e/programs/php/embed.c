/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Runs PHP code that it is given, in an interpreter that is a library: embed LIBRARY CODE. */

#include <dlfcn.h>
#include <stddef.h>

int main(int argc, char **argv)
{
	void *php = argc > 2 ? dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL) : NULL;
	int (*begin)(int, char **) = php ? dlsym(php, "php_embed_init") : NULL;
	int (*run)(const char *, void *, const char *) = php ? dlsym(php, "zend_eval_string")
							     : NULL;
	void (*end)(void) = php ? dlsym(php, "php_embed_shutdown") : NULL;

	if (!begin || !run || !end)
		return 1;
	begin(0, NULL);
	run(argv[2], NULL, "embedded");
	end();
	return 0;
}
