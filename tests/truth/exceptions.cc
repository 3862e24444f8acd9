// SPDX-License-Identifier: GPL-2.0-or-later

// exceptions MS: throws through frames with destructors, for some time.
#include <chrono>
#include <cstdlib>
#include <stdexcept>

struct guard {
	volatile int n;
	~guard() { n = 1; }
};

__attribute__((noinline)) static int throws(int n)
{
	guard g{ n };

	if (!n)
		throw std::runtime_error("at the bottom");
	return throws(n - 1) + g.n;
}

__attribute__((noinline)) static int catches(int n)
{
	try {
		return throws(n);
	} catch (std::exception &e) {
		return e.what()[0];
	}
}

int main(int argc, char **argv)
{
	auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(atol(argv[1]));
	long sum = 0;

	while (std::chrono::steady_clock::now() < end)
		sum += catches(20);
	return sum == 1;
}
