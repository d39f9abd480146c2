// goes.go - goroutines and stacks that grow, at frames of every size; counts its own calls. Where a stack grows the
// function begins anew: that is one call.
package main

import (
	"fmt"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
)

var leafs, grows, workers, deeps, larges atomic.Int64

//go:noinline
func leaf(n int) int {
	leafs.Add(1)
	var room [64]int
	room[n&63] = n
	return room[(n+1)&63] + mix(n)
}

//go:noinline
func mix(n int) int { return n*31 + 7 }

//go:noinline
func grow(n int) int {
	grows.Add(1)
	var room [128]int
	if n == 0 {
		runtime.GC()
		return leaf(1)
	}
	room[n%128] = grow(n - 1)
	return room[n%128] + 1
}

// deep has a small frame, which is checked as it is.
//
//go:noinline
func deep(n int) int {
	deeps.Add(1)
	if n == 0 {
		return 1
	}
	return deep(n-1) + 1
}

// large has a frame that may reach beyond the address space.
//
//go:noinline
func large(n int) int {
	larges.Add(1)
	var room [1000]int
	if n > 0 {
		room[n] = large(n - 1)
	}
	return room[n] + 1
}

//go:noinline
func work(id int, sum *atomic.Int64) {
	workers.Add(1)
	for i := 0; i < 20; i++ {
		sum.Add(int64(grow(i*5) + leaf(id)))
		sum.Add(int64(deep(i*20) + large(i)))
		runtime.Gosched()
	}
}

//go:noinline
func recovers(n int) (r int) {
	defer func() {
		if e := recover(); e != nil {
			r = n
		}
	}()
	panics(n)
	return -1
}

//go:noinline
func panics(n int) {
	if n == 0 {
		panic("from the depth")
	}
	panics(n - 1)
}

func main() {
	var wg sync.WaitGroup
	var sum atomic.Int64
	for id := 0; id < 8; id++ {
		wg.Add(1)
		go func(id int) {
			defer wg.Done()
			work(id, &sum)
		}(id)
	}
	wg.Wait()
	fmt.Println("sum", sum.Load())
	fmt.Println("recovered", recovers(20))
	data, err := os.ReadFile("/proc/self/comm")
	fmt.Println("read", len(data) > 0, err)
	fmt.Println("calls main.leaf", leafs.Load())
	fmt.Println("calls main.grow", grows.Load())
	fmt.Println("calls main.work", workers.Load())
	fmt.Println("calls main.deep", deeps.Load())
	fmt.Println("calls main.large", larges.Load())
}
