// tests.rs - rustc's own test harness: a thread for each test, tests that panic and are expected to, one that fails.
fn fall(n: u32) -> u32 {
    if n == 0 {
        panic!("deep");
    }
    std::hint::black_box(fall(n - 1)) + 1
}

#[test]
#[should_panic(expected = "deep")]
fn panics() {
    fall(50);
}

#[test]
fn catches() {
    for n in 0..100 {
        assert!(std::panic::catch_unwind(|| fall(n)).is_err());
    }
}

#[test]
fn joins() {
    let all: Vec<_> = (0..8).map(|n| std::thread::spawn(move || fall(n))).collect();
    assert!(all.into_iter().all(|t| t.join().is_err()));
}

#[test]
fn fails() {
    assert_eq!("one".parse::<u32>().map_err(|e| e.to_string()), Ok(1));
}

#[test]
fn runs_a_child() {
    assert_eq!(std::process::Command::new("sh").args(["-c", "exit 7"]).status().unwrap().code(), Some(7));
}
