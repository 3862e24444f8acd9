// SPDX-License-Identifier: GPL-2.0-or-later

// cgo: Go calls C, and C calls Go again, for three seconds.
package main

/*
__attribute__((noinline)) static long cleaf(long n) { volatile long s = 0; for (long i = 0; i < n; i++) s += i; return s; }
__attribute__((noinline)) static long cwork(long n) { return cleaf(n) + 1; }
extern long callback(long);
__attribute__((noinline)) static long ccall(long n) { return callback(n) + 1; }
*/
import "C"
import (
	"fmt"
	"time"
)

//export callback
func callback(n C.long) C.long { return C.long(work(int(n))) }

//go:noinline
func work(n int) int {
	s := 0
	for i := 0; i < n; i++ {
		s ^= i*s + 1
	}
	return s
}

//go:noinline
func down(n int) int { return int(C.cwork(C.long(n))) }

//go:noinline
func back(n int) int { return int(C.ccall(C.long(n))) }

func main() {
	t := 0
	for end := time.Now().Add(3 * time.Second); time.Now().Before(end); {
		t += down(100000) + back(100000)
	}
	fmt.Println(t)
}
