//! Mailboxes between threads: every interleaving of both ends, and what waiting threads hear.

use std::thread;
use std::time::Duration;

use super::*;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Send,
    Finish,
    Fail,
    CancelSender,
    DropSender,
    Poll,
    EarlyTerminate,
    DropReceiver,
    Deadline,
}

const STEPS: [Step; 9] = [
    Step::Send,
    Step::Finish,
    Step::Fail,
    Step::CancelSender,
    Step::DropSender,
    Step::Poll,
    Step::EarlyTerminate,
    Step::DropReceiver,
    Step::Deadline,
];

/// What an observer outside may believe, kept without the state machines.
#[derive(Default)]
struct Observer {
    sent: Vec<u32>,
    received: Vec<u32>,
    end: Option<Last>,
    /// The first thing that ended the sender's side, and whether the reader spoiled the flow before.
    first_end: Option<Step>,
    reader_stopped: bool,
}

fn run(steps: &[Step]) {
    let options = MailboxOptions { credit: Credit { bytes: 1_000, blocks: 100 }, ..MailboxOptions::default() };
    let (sender, receiver) = mailbox::<u32>(options);
    let shared = Arc::clone(&sender.shared);
    let (mut sender, mut receiver) = (Some(sender), Some(receiver));
    let mut seen = Observer::default();
    for (index, &step) in steps.iter().enumerate() {
        let number = index as u32;
        match step {
            Step::Send => {
                let Some(sender) = &sender else { continue };
                match sender.send(number, 10) {
                    Ok(Sent::Queued) => {
                        assert!(!seen.reader_stopped && seen.first_end.is_none(), "{steps:?}");
                        seen.sent.push(number);
                    }
                    Ok(Sent::NotWanted) => assert!(seen.reader_stopped && seen.first_end.is_none(), "{steps:?}"),
                    Err(error) => {
                        assert!(seen.first_end.is_some(), "{steps:?}");
                        assert_eq!(error.kind(), ErrorKind::Closed);
                    }
                }
                continue;
            }
            Step::Finish | Step::Fail | Step::CancelSender | Step::DropSender => {
                let Some(sender) = sender.take() else { continue };
                match step {
                    Step::Finish => sender.finish(vec![("rows".into(), 5)]),
                    Step::Fail => sender.fail("no luck"),
                    Step::CancelSender => sender.cancel("enough"),
                    _ => drop(sender),
                }
                seen.first_end.get_or_insert(step);
            }
            Step::Deadline => {
                shared.deadline_passed(&mut shared.inner.lock());
                seen.first_end.get_or_insert(step);
            }
            Step::DropReceiver => {
                if receiver.take().is_some() {
                    seen.reader_stopped = true;
                    seen.first_end.get_or_insert(step);
                }
            }
            Step::EarlyTerminate => {
                if let Some(receiver) = &mut receiver {
                    receiver.early_terminate();
                    seen.reader_stopped = true;
                }
            }
            Step::Poll => poll(&mut receiver, &mut seen, steps),
        }
        let inner = shared.inner.lock();
        assert_eq!(inner.used.blocks as usize, inner.queue.len() + usize::from(inner.in_hand.is_some()), "{steps:?}");
        assert_eq!(inner.used.bytes, 10 * inner.used.blocks, "{steps:?}");
    }
    while receiver.is_some() && seen.first_end.is_some() && seen.end.is_none() {
        poll(&mut receiver, &mut seen, steps);
    }
    assert!(seen.sent.starts_with(&seen.received), "{steps:?}: in order, none twice");
    let Some(last) = &seen.end else { return };
    let expected = match seen.first_end.unwrap() {
        Step::Finish => None,
        Step::Fail => Some(End::Failed),
        Step::CancelSender => Some(End::Cancelled),
        Step::DropSender => Some(End::ClosedWithoutEos),
        Step::Deadline => Some(End::DeadlineExceeded),
        step => unreachable!("{step:?} ends no reading"),
    };
    match (last, expected) {
        (Last::Success(stats), None) => {
            assert_eq!(stats, &[("rows".to_owned(), 5)], "{steps:?}");
            assert!(seen.reader_stopped || seen.received == seen.sent, "{steps:?}: none lost before success");
        }
        (Last::Failure(failure), Some(end)) => assert_eq!(failure.end, end, "{steps:?}"),
        (last, expected) => panic!("{steps:?}: {last:?}, expected {expected:?}"),
    }
}

fn poll(receiver: &mut Option<ReceivingMailbox<u32>>, seen: &mut Observer, steps: &[Step]) {
    let Some(receiver) = receiver else { return };
    match receiver.poll() {
        None => assert!(seen.first_end.is_none() && seen.end.is_none(), "{steps:?}: an end is told at once"),
        Some(Received::Block(block)) => {
            assert!(!seen.reader_stopped && seen.end.is_none(), "{steps:?}: no block after the end");
            assert!(matches!(seen.first_end, None | Some(Step::Finish)), "{steps:?}: no block after an error");
            seen.received.push(block);
        }
        Some(Received::End(last)) => {
            assert!(seen.first_end.is_some(), "{steps:?}");
            assert!(seen.end.as_ref().is_none_or(|before| *before == last), "{steps:?}: one end");
            seen.end = Some(last);
        }
    }
}

/// Every operation is one step under the lock, so the interleavings of two threads are the sequences of steps: all of them.
#[test]
fn every_interleaving_keeps_the_promises() {
    let mut count = 0;
    for len in 0..=6_u32 {
        for code in 0..STEPS.len().pow(len) {
            let steps: Vec<Step> = (0..len).map(|place| STEPS[code / STEPS.len().pow(place) % STEPS.len()]).collect();
            run(&steps);
            count += 1;
        }
    }
    assert_eq!(count, (0..=6).map(|len| 9_usize.pow(len)).sum::<usize>());
}

#[test]
fn a_slow_reader_slows_the_sender() {
    let options = MailboxOptions { credit: Credit { bytes: 100, blocks: 3 }, ..MailboxOptions::default() };
    let (sender, mut receiver) = mailbox::<usize>(options);
    let shared = Arc::clone(&sender.shared);
    thread::scope(|scope| {
        scope.spawn(move || {
            for number in 0..1_000 {
                assert_eq!(sender.send(number, 40).unwrap(), Sent::Queued);
            }
            sender.finish(Stats::new());
        });
        for number in 0..1_000 {
            let Received::Block(block) = receiver.recv() else { panic!("block {number}") };
            assert_eq!(block, number);
            let used = shared.inner.lock().used;
            assert!(used.blocks <= 2 && used.bytes <= 80, "{used:?}");
        }
        assert!(matches!(receiver.recv(), Received::End(Last::Success(_))));
    });
}

#[test]
fn a_waiting_sender_hears_of_every_end() {
    type Act = fn(ReceivingMailbox<()>) -> Option<ReceivingMailbox<()>>;
    let acts: [(Act, bool); 3] = [
        (
            |receiver| {
                receiver.cancel("enough");
                None
            },
            false,
        ),
        (
            |receiver| {
                drop(receiver);
                None
            },
            false,
        ),
        (
            |mut receiver| {
                receiver.early_terminate();
                Some(receiver)
            },
            true,
        ),
    ];
    for (act, not_wanted) in acts {
        let options = MailboxOptions { credit: Credit { bytes: 1, blocks: 1 }, ..MailboxOptions::default() };
        let (sender, receiver) = mailbox::<()>(options);
        sender.send((), 1).unwrap();
        thread::scope(|scope| {
            let waiting = scope.spawn(move || sender.send((), 1));
            let _kept = act(receiver);
            // Whether it waits by now or not: it finds the end.
            match waiting.join().unwrap() {
                Ok(sent) => assert!(not_wanted && sent == Sent::NotWanted),
                Err(error) => assert!(!not_wanted && error.kind() == ErrorKind::Closed),
            }
        });
    }
}

#[test]
fn the_deadline_ends_both_sides() {
    let deadline = Some(Instant::now() + Duration::from_millis(20));
    let options = MailboxOptions { credit: Credit { bytes: 1, blocks: 1 }, deadline, ..MailboxOptions::default() };
    let (sender, mut receiver) = mailbox::<()>(options);
    sender.send((), 1).unwrap();
    let error = sender.send((), 1).unwrap_err();
    assert_eq!(error.to_string(), "mailbox mailbox has ended: DeadlineExceeded");
    let Received::End(Last::Failure(failure)) = receiver.recv() else { panic!("no end") };
    assert_eq!((failure.end, failure.text.as_str()), (End::DeadlineExceeded, "the deadline passed"));
}

#[test]
fn a_block_larger_than_the_credit_passes_alone() {
    let options = MailboxOptions { credit: Credit { bytes: 10, blocks: 4 }, ..MailboxOptions::default() };
    let (sender, mut receiver) = mailbox::<u8>(options);
    assert_eq!(sender.send(1, 1_000).unwrap(), Sent::Queued);
    assert!(matches!(receiver.poll(), Some(Received::Block(1))));
    assert!(receiver.poll().is_none());
    assert_eq!(sender.send(2, 5).unwrap(), Sent::Queued);
}
