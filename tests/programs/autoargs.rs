// autoargs.rs - as autoargs.c: the program writes down its own calls. '?' is what nobody can show.
use std::hint::black_box;

#[derive(Clone, Copy)]
#[repr(i32)]
pub enum Kind { One = 1, Two = 2 }

#[derive(Clone, Copy)]
pub struct Pair { a: i32, b: i64 }

#[inline(never)]
fn add(a: i32, b: u8, c: i64) -> i64 { a as i64 + b as i64 + c }
#[inline(never)]
pub fn length(s: &str, n: u32) -> u32 { s.len() as u32 + n }
#[inline(never)]
fn kind(k: Kind, n: i16) -> Kind { if n > 0 { k } else { Kind::One } }
#[inline(never)]
fn pair(p: Pair, n: i32) -> Pair { Pair { a: n, b: p.b + p.a as i64 } }
#[inline(never)]
fn option(n: i32) -> Option<i32> { if n > 2 { Some(n) } else { None } }
#[inline(never)]
fn array(n: i32) -> [i64; 5] { black_box([n as i64; 5]) }
#[inline(never)]
fn unused(_a: i32, b: i32) -> i32 { black_box(b) }
#[inline(never)]
fn by_reference(a: &i32, b: i32) -> i32 { *a + b }
#[inline(never)]
fn ignored(b: i32) -> i32 { black_box(b); b + 1 }
#[inline(never)]
fn float(a: i32, f: f64, b: i32) -> f64 { f + a as f64 + b as f64 }
#[inline(never)]
extern "C" fn as_in_c(a: i32, b: u64) -> i32 { a + b as i32 }
#[inline(never)]
fn unit(_u: (), b: i32) -> i32 { b + 2 }
#[inline(never)]
fn slice(v: &[i32], b: bool, c: char) -> usize { v.len() + b as usize + c as usize }

fn main() {
    let n = std::env::args().count() as i32;
    for i in n..n + 3 {
        println!("add({}, 200, -5000) = {}", i, add(i, 200, -5000));
        println!("length(?, {}) = {}", i, length("abc", i as u32));
        kind(Kind::Two, i as i16);
        println!("kind(Two, {}) = Two", i);
        println!("pair(?, {}) = {}", i, pair(Pair { a: i, b: 2 }, i).b);
        println!("option({}) = {:?}", i, option(i));
        println!("array({}) = {}", i, array(i)[0]);
        println!("unused({}, {}) = {}", i * 3, i, unused(i * 3, i));
        println!("by_reference(?, {}) = {}", i, by_reference(&(i * 2), i));
        ignored(i);
        println!("ignored({}) = {}", i, i + 1);
        println!("float({}, ?, 3) = {:.6}", i, float(i, 2.5, 3));
        println!("as_in_c({}, 5) = {}", i, as_in_c(i, 5));
        println!("unit(?, {}) = {}", i, unit((), i));
        println!("slice(?, 1, ?) = {}", slice(&[1, 2, 3], true, 'x'));
    }
}
