// rusty.rs - a panic caught by catch_unwind through frames with destructors, threads, a panic in a thread.
use std::panic;
use std::sync::atomic::{AtomicU64, Ordering};

static FALLS: AtomicU64 = AtomicU64::new(0);
static AFTERS: AtomicU64 = AtomicU64::new(0);
static DROPPED: AtomicU64 = AtomicU64::new(0);

struct Guard;

impl Drop for Guard {
    fn drop(&mut self) {
        DROPPED.fetch_add(1, Ordering::Relaxed);
    }
}

#[no_mangle]
#[inline(never)]
pub fn fall_from(n: u32) -> u32 {
    let _guard = Guard;
    FALLS.fetch_add(1, Ordering::Relaxed);
    if n == 0 {
        panic!("from the depth");
    }
    fall_from(n - 1) + 1
}

#[no_mangle]
#[inline(never)]
pub fn after(n: u32) -> u32 {
    AFTERS.fetch_add(1, Ordering::Relaxed);
    std::hint::black_box(n) + 1
}

#[no_mangle]
#[inline(never)]
pub fn catch_over(n: u32) -> u32 {
    match panic::catch_unwind(|| fall_from(n - 1)) {
        Ok(_) => 0,
        Err(_) => after(n),
    }
}

fn main() {
    panic::set_hook(Box::new(|_| {}));
    println!("over 5: {}", catch_over(5));
    println!("over 40: {}", catch_over(40));
    println!("over 100: {}", catch_over(100));
    let mut sum = 0;
    for i in 0..50 {
        sum += catch_over(i % 10 + 1);
    }
    println!("many: {}", sum);
    let threads: Vec<_> = (0..4)
        .map(|_| std::thread::spawn(|| (0..10).map(|_| catch_over(7)).sum::<u32>()))
        .collect();
    for t in threads {
        println!("thread: {}", t.join().unwrap());
    }
    println!("panicked: {}", std::thread::spawn(|| fall_from(12)).join().is_err());
    println!("dropped {}", DROPPED.load(Ordering::Relaxed));
    for i in 0..10 {
        sum += after(i);
    }
    println!("sum {}", sum);
    println!("calls fall_from {}", FALLS.load(Ordering::Relaxed));
    println!("calls after {}", AFTERS.load(Ordering::Relaxed));
}
