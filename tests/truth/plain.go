// SPDX-License-Identifier: GPL-2.0-or-later

// plain: functions without frames, assembly that uses the frame pointer, garbage collection,
// goroutines and growing stacks, for three seconds.
package main

import (
	"crypto/sha256"
	"fmt"
	"sort"
	"time"
)

var a [1024]int

//go:noinline
func leaf(n int) int {
	s := 0
	for i := 0; i < n; i++ {
		s += a[i&1023] ^ i
	}
	return s
}

//go:noinline
func middle(n int) int { return leaf(n) + 1 }

//go:noinline
func other(n int) int { x := leaf(n / 2); return x + leaf(n/2) + 2 }

//go:noinline
func hash(b []byte) int { s := sha256.Sum256(b); return int(s[0]) }

//go:noinline
func grow(n int) int {
	var room [64]int
	if n > 0 {
		room[n&63] = grow(n - 1)
	}
	return room[n&63] + 1
}

//go:noinline
func garbage(n int) int {
	m := make(map[int][]byte)
	for i := 0; i < n; i++ {
		m[i] = make([]byte, 100+i%50)
	}
	return len(m)
}

//go:noinline
func sorted(n int) int {
	v := make([]int, n)
	for i := range v {
		v[i] = i * 7919 % 10007
	}
	sort.Ints(v)
	return v[0]
}

//go:noinline
func routines() int {
	c := make(chan int)
	go func() { c <- grow(500) }()
	return <-c
}

func main() {
	t, b := 0, make([]byte, 100000)
	for end := time.Now().Add(3 * time.Second); time.Now().Before(end); {
		t += middle(100000) + other(100000) + hash(b) + garbage(2000) + sorted(5000) + routines()
	}
	fmt.Println(t)
}
