//! Ctrl-C and SIGTERM: the first ends the work early and in order, the second at once.

use std::sync::OnceLock;

use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;

static STOP: OnceLock<watch::Receiver<bool>> = OnceLock::new();

/// Becomes true at the first signal. Listens from the first call on.
pub(crate) fn stop() -> watch::Receiver<bool> {
    STOP.get_or_init(|| {
        let (send, receive) = watch::channel(false);
        std::thread::spawn(move || listen(&send));
        receive
    })
    .clone()
}

fn listen(stop: &watch::Sender<bool>) {
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else { return };
    runtime.block_on(async {
        let (Ok(mut interrupt), Ok(mut terminate)) = (signal(SignalKind::interrupt()), signal(SignalKind::terminate()))
        else {
            return;
        };
        for first in [true, false] {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
            if !first {
                eprintln!("interrupted again: leaving at once");
                std::process::exit(130);
            }
            eprintln!("interrupted: ending early (once more to leave at once)");
            stop.send_replace(true);
        }
    });
}

/// Calls `act` once the first signal comes.
pub(crate) fn on_stop(act: impl FnOnce() + Send + 'static) {
    let mut stop = stop();
    std::thread::spawn(move || {
        if let Ok(runtime) = tokio::runtime::Builder::new_current_thread().build()
            && runtime.block_on(stop.wait_for(|stop| *stop)).is_ok()
        {
            act();
        }
    });
}
