/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "record/scripts/script_file.h"

#include <string.h>

#include "record/scripts/php_file.h"
#include "record/scripts/python_file.h"
#include "record/scripts/ruby_file.h"

static const char *read_python(struct script_process *process, const struct elf_file *e)
{
	struct python_file file;
	const char *problem = python_file_read(&file, e);

	memcpy(process->parameters, &file.process, sizeof(file.process));
	return problem;
}

static const char *read_ruby(struct script_process *process, const struct elf_file *e)
{
	struct ruby_process ruby;
	const char *problem = ruby_file_read(&ruby, e);

	memcpy(process->parameters, &ruby, sizeof(ruby));
	return problem;
}

static const char *read_php(struct script_process *process, const struct elf_file *e)
{
	struct php_process php;
	const char *problem = php_file_read(&php, e);

	memcpy(process->parameters, &php, sizeof(php));
	return problem;
}

static const struct script_language languages[] = {
	{ SCRIPT_PYTHON, "Python", python_file_is_one, read_python },
	{ SCRIPT_RUBY, "Ruby", ruby_file_is_one, read_ruby },
	{ SCRIPT_PHP, "PHP", php_file_is_one, read_php },
};

const struct script_language *script_file_language(const struct elf_file *e)
{
	for (size_t i = 0; i < sizeof(languages) / sizeof(*languages); i++)
		if (languages[i].is_one(e))
			return &languages[i];
	return NULL;
}
