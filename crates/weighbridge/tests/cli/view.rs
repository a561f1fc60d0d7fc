//! The live view, through a pseudo-terminal: shown, resized, left by a key; and plain lines where it is not wanted.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use rustix::pty::{OpenptFlags, grantpt, ioctl_tiocgptpeer, openpt, unlockpt};
use rustix::termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize};

use crate::support::{Place, signal, weighbridge};

/// Long enough for any machine; nothing waits so long unless it fails.
const PATIENCE: Duration = Duration::from_secs(60);

const ENTER: &str = "\x1b[?1049h";
const LEAVE: &str = "\x1b[?1049l";

/// A pseudo-terminal, and all that was written to it.
struct Terminal {
    master: File,
    /// What a process has for its terminal.
    slave: OwnedFd,
    written: Arc<Mutex<Vec<u8>>>,
}

impl Terminal {
    fn new(rows: u16, columns: u16) -> Self {
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let master = openpt(flags).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let slave = ioctl_tiocgptpeer(&master, flags).unwrap();
        let terminal = Terminal { master: File::from(master), slave, written: Arc::default() };
        terminal.resize(rows, columns);
        let (mut reader, written) = (terminal.master.try_clone().unwrap(), terminal.written.clone());
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(read @ 1..) = reader.read(&mut bytes) {
                written.lock().unwrap().extend_from_slice(&bytes[..read]);
            }
        });
        terminal
    }

    fn resize(&self, rows: u16, columns: u16) {
        let size = Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&self.slave, size).unwrap();
    }

    /// Fills it, so that nothing more can be written to it as long as what is returned is kept.
    fn stall(&self) -> MutexGuard<'_, Vec<u8>> {
        let held = self.written.lock().unwrap();
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let mut filler = File::from(ioctl_tiocgptpeer(&self.master, flags).unwrap());
        rustix::io::ioctl_fionbio(&filler, true).unwrap();
        // Its reader may be about to take a last piece.
        for _ in 0..10 {
            while filler.write(b" ").is_ok() {}
            std::thread::sleep(Duration::from_millis(20));
        }
        held
    }

    /// Starts the tool with this as its terminal, and its result to be read.
    fn start(&self, args: &[&str], environment: &[(&str, &str)]) -> Child {
        let plain = weighbridge(args);
        let mut command = Command::new("setsid");
        command.arg("--ctty").arg(plain.get_program()).args(plain.get_args());
        for (name, _) in plain.get_envs() {
            command.env_remove(name);
        }
        command.env_remove("NO_COLOR").env("TERM", "xterm-256color").envs(environment.iter().copied());
        command.stdin(self.slave.try_clone().unwrap()).stderr(self.slave.try_clone().unwrap());
        command.stdout(Stdio::piped()).spawn().unwrap()
    }

    fn press(&mut self, keys: &str) {
        self.master.write_all(keys.as_bytes()).unwrap();
    }

    fn written(&self) -> String {
        String::from_utf8_lossy(&self.written.lock().unwrap()).into_owned()
    }

    /// Waits until what is on the screen, or was written, is as it should be.
    fn wait_until(&self, what: &str, so: impl Fn(&str) -> bool) {
        let until = Instant::now() + PATIENCE;
        while !so(&self.written()) {
            assert!(Instant::now() < until, "{what}: never came:\n{}\n{:?}", screen(&self.written()), self.written());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn wait_for(&self, text: &str) {
        self.wait_until(text, |written| screen(written).contains(text));
    }

    /// Whether keys come one by one and without echo.
    fn raw(&self) -> bool {
        !tcgetattr(&self.slave)
            .unwrap()
            .local_modes
            .intersects(LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG)
    }

    /// Whether it is as it was found: lines with echo, signals, the main screen, a cursor.
    fn restored(&self) -> bool {
        let local = tcgetattr(&self.slave).unwrap().local_modes;
        let written = self.written();
        local.contains(LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG)
            && written.matches(ENTER).count() == written.matches(LEAVE).count()
            && written.rfind("\x1b[?25h") > written.rfind("\x1b[?25l")
    }
}

/// What is on a screen after all that was written, as far as the view's sequences go.
fn screen(written: &str) -> String {
    let mut lines = vec![vec![' '; 200]; 60];
    let (mut row, mut column) = (0, 0);
    let mut chars = written.chars().peekable();
    while let Some(char) = chars.next() {
        match char {
            '\x1b' if chars.next_if_eq(&'[').is_some() => {
                let mut sequence = String::new();
                let end = chars.by_ref().find(|char| {
                    sequence.push(*char);
                    ('@'..='~').contains(char)
                });
                match end {
                    Some('H') => {
                        let mut place = sequence.trim_end_matches('H').split(';').map(|n| n.parse().unwrap_or(1));
                        row = place.next().unwrap_or(1usize) - 1;
                        column = place.next().unwrap_or(1usize) - 1;
                    }
                    Some('J') => lines.iter_mut().for_each(|line| line.fill(' ')),
                    _ => {}
                }
            }
            '\r' => column = 0,
            '\n' => row += 1,
            char => {
                if let Some(cell) = lines.get_mut(row).and_then(|line| line.get_mut(column)) {
                    *cell = char;
                }
                column += 1;
            }
        }
    }
    lines.iter().map(|line| line.iter().collect::<String>().trim_end().to_owned() + "\n").collect()
}

fn ended(mut child: Child) -> (i32, String) {
    let until = Instant::now() + PATIENCE;
    while child.try_wait().unwrap().is_none() {
        if Instant::now() > until {
            child.kill().unwrap();
            panic!("it never ended");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let Output { status, stdout, .. } = child.wait_with_output().unwrap();
    (status.code().unwrap_or(-1), String::from_utf8(stdout).unwrap())
}

#[test]
fn a_load_and_a_run_are_shown_live_and_give_the_terminal_back() {
    let place = Place::new();
    let url = place.sqlite();
    let terminal = Terminal::new(30, 100);
    let load = terminal.start(&["load", "--url", &url], &[]);
    terminal.wait_for("rows a second, top");
    let (status, result) = ended(load);
    assert_eq!(status, 0, "{}", terminal.written());
    assert!(result.starts_with("loaded warehouse 1 into sqlite:"), "{result}");
    terminal.wait_until("the main screen", |written| written.contains(LEAVE));
    assert!(terminal.restored(), "{:?}", terminal.written());
    assert!(terminal.written().contains("\x1b[38;5;"), "colours");

    let out = place.text("out");
    let run = ["run", "--url", &url, "--ramp", "0s", "--duration", "1h", "--pacing", "none", "--out", &out];
    let mut terminal = Terminal::new(30, 100);
    let child = terminal.start(&run, &[("NO_COLOR", "1")]);
    terminal.wait_for("measured  0:0");
    assert!(terminal.raw());
    let shown = screen(&terminal.written());
    for word in
        ["efficiency n/a", "p90 of New-Order, ms", "Stock-Level", "deferred", "connections ", "lag p99", "? help"]
    {
        assert!(shown.contains(word), "{word}\n{shown}");
    }
    terminal.press("?");
    terminal.wait_for("twice leaves at once");
    terminal.press("?p");
    terminal.wait_for("DISPLAY PAUSED");
    terminal.press("p");
    terminal.wait_until("another size", |_| {
        terminal.resize(15, 60);
        let shown = screen(&terminal.written());
        shown.contains("Stock-Level")
            && !shown.contains("max ms")
            && shown.lines().all(|line| line.chars().count() <= 60)
    });
    terminal.press("q");
    let (status, result) = ended(child);
    assert_eq!(status, 0, "{}", terminal.written());
    assert!(result.contains("NOPM") && result.contains("Stock-Level"), "{result}");
    terminal.wait_until("what was said meanwhile", |written| {
        written.rsplit_once(LEAVE).is_some_and(|(_, after)| after.contains("interrupted: ending early"))
    });
    assert!(terminal.restored(), "{:?}", terminal.written());
    assert!(!terminal.written().contains("\x1b[38;5;"), "no colours");

    // However often it is asked to end.
    let out = place.text("out2");
    let run = ["run", "--url", &url, "--ramp", "0s", "--duration", "1h", "--pacing", "none", "--out", &out];
    let terminal = Terminal::new(30, 100);
    let mut child = terminal.start(&run, &[]);
    terminal.wait_for("measured  0:0");
    while child.try_wait().unwrap().is_none() {
        signal(&child, "-TERM");
    }
    let (status, result) = ended(child);
    assert!(status == 130 || (status == 0 && result.contains("NOPM")), "{status} {result}");
    terminal.wait_until("the main screen", |written| written.contains(LEAVE));
    assert!(terminal.restored(), "{:?}", terminal.written());
}

#[test]
fn keys_that_the_view_does_not_know_hold_nothing() {
    let place = Place::new();
    let out = place.text("out");
    let run = ["run", "--url", "null:", "--ramp", "0s", "--duration", "3s", "--warehouses", "1", "--out", &out];
    let mut terminal = Terminal::new(30, 100);
    let child = terminal.start(&run, &[]);
    terminal.wait_for("measured  0:0");
    terminal.press("\x1b[");
    let (status, result) = ended(child);
    assert!(status == 0 || status == 3, "{}", terminal.written());
    assert!(result.contains("verdict"), "{result}");
}

#[test]
fn a_terminal_that_takes_nothing_holds_nothing() {
    let place = Place::new();
    for (times, status) in [(1, [0, 3]), (2, [130, 130])] {
        let out = place.text(&format!("out{times}"));
        let run = ["run", "--url", "null:", "--ramp", "0s", "--duration", "1h", "--warehouses", "1", "--out", &out];
        let terminal = Terminal::new(30, 100);
        let child = terminal.start(&run, &[]);
        terminal.wait_for("measured  0:0");
        let held = terminal.stall();
        for _ in 0..times {
            signal(&child, "-TERM");
            // Two that come at once count once.
            std::thread::sleep(Duration::from_millis(500));
        }
        let (ended, result) = ended(child);
        assert!(status.contains(&ended), "{ended} {result}");
        assert_eq!(result.contains("verdict"), times == 1, "{result}");
        drop(held);
    }
}

#[test]
fn plain_lines_are_to_be_had_on_a_terminal_too() {
    for (option, term) in [(Some("--no-tui"), "xterm"), (None, "dumb")] {
        let place = Place::new();
        let out = place.text("out");
        let run = ["run", "--url", "null:", "--ramp", "0s", "--duration", "1s", "--warehouses", "1", "--out", &out];
        let terminal = Terminal::new(30, 100);
        let child = terminal.start(&[&run[..], option.as_slice()].concat(), &[("TERM", term)]);
        let (status, result) = ended(child);
        assert!(status == 0 || status == 3, "{}", terminal.written());
        assert!(result.contains("verdict"), "{result}");
        terminal.wait_until("a plain line", |written| written.contains("NO/min now") && written.contains("measured"));
        assert!(!terminal.written().contains(ENTER), "{:?}", terminal.written());
    }
}
