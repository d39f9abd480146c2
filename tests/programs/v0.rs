// v0.rs - names as rustc mangles them in its new way: generic functions, a trait's method, a closure.
mod m {
    use std::hint::black_box;
    pub struct Wrap<T>(pub T);
    pub trait Go {
        fn go(&self) -> u32;
    }
    impl Go for Wrap<u32> {
        #[inline(never)]
        fn go(&self) -> u32 {
            black_box(self.0) + 1
        }
    }
    #[inline(never)]
    pub fn generic<T: Into<u64>>(t: T) -> u64 {
        black_box(t.into()) + 2
    }
    #[inline(never)]
    pub fn plain(n: u32) -> u32 {
        black_box(n) * 3
    }
}
use m::Go;

fn main() {
    println!("{} {} {}", m::Wrap(4u32).go(), m::generic(3u32), m::plain(2));
}
