//! Mailboxes over loopback: many on one connection, slow readers, every end, and peers that break the rules.

use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use tsloom_block::{Block, BlockColumn, BlockLayout};
use tsloom_model::{DataType, ErrorKind, ValuesRef};

use super::*;
use crate::control::{Credit, PayloadCodec, Stats};
use crate::frame::{FrameHead, FrameKind, FrameWriter};
use crate::mailbox::{Last, Received, Sent};
use crate::state::End;

fn pair(options: &NetOptions) -> (Connection, Connection) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let server = listener.accept().unwrap().0;
    (Connection::connect(client, options.clone()).unwrap(), Connection::accepted(server, options.clone()).unwrap())
}

fn schema() -> Vec<BlockColumn> {
    vec![
        BlockColumn { name: "v".into(), data_type: DataType::Int64 },
        BlockColumn { name: "text".into(), data_type: DataType::String },
    ]
}

fn block(number: i64, row_count: usize) -> Block {
    let mut block = Block::new(&BlockLayout { row_budget: row_count, columns: schema() });
    for row in 0..row_count as i64 {
        block.times_mut().push(row);
        assert!(block.column_mut(0).push((number * 1_000_000 + row).into()) && block.column_mut(1).push("some text".into()));
    }
    block
}

fn small() -> NetOptions {
    NetOptions { chunk_bytes: 4 << 10, ..NetOptions::default() }
}

fn end(received: tsloom_model::Result<Received<&crate::BlockView>>) -> Last {
    match received.unwrap() {
        Received::End(last) => last,
        Received::Block(view) => panic!("a block of {} rows", view.row_count()),
    }
}

fn failure_of(last: Last) -> (End, String) {
    match last {
        Last::Failure(failure) => (failure.end, failure.text),
        Last::Success(stats) => panic!("success {stats:?}"),
    }
}

#[test]
fn blocks_of_many_mailboxes_share_a_connection() {
    let (client, server) = pair(&small());
    thread::scope(|scope| {
        scope.spawn(|| {
            thread::scope(|scope| {
                for _ in 0..4 {
                    let incoming = server.accept().unwrap();
                    scope.spawn(move || {
                        let rows = usize::from(incoming.open().request[0]) * 1_000;
                        let mut sender = incoming.send(schema()).unwrap();
                        for number in 0..50 {
                            assert_eq!(sender.send_block(&block(number, rows)).unwrap(), Sent::Queued);
                        }
                        sender.finish(vec![("rows".into(), 50 * rows as u64)]).unwrap();
                    });
                }
            });
        });
        for size in 1..=4_u8 {
            let client = &client;
            scope.spawn(move || {
                let credit = Credit { bytes: 400 << 10, blocks: 3 };
                let mut receiver = client.open_receiver("q", PayloadCodec::Block, credit, None, vec![size]).unwrap();
                assert_eq!(receiver.schema(), schema());
                for number in 0..50 {
                    let Received::Block(view) = receiver.recv_block().unwrap() else { panic!("an end before block {number}") };
                    assert_eq!(view.row_count(), usize::from(size) * 1_000);
                    let Some(ValuesRef::Int64(values)) = view.column(0).values else { panic!() };
                    assert_eq!(values[999], number * 1_000_000 + 999);
                }
                assert_eq!(end(receiver.recv_block()), Last::Success(vec![("rows".into(), 50_000 * u64::from(size))]));
                assert_eq!(end(receiver.recv_block()), Last::Success(vec![("rows".into(), 50_000 * u64::from(size))]));
            });
        }
    });
    // The last control frames may still be on their way.
    let began = Instant::now();
    while client.pool().usage().used_bytes > 0 {
        assert!(began.elapsed() < Duration::from_secs(10), "{:?}", client.pool().usage());
        thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn a_sender_opens_a_mailbox_for_tablets() {
    let (client, server) = pair(&small());
    let mut sender = client.open_sender("ingest", PayloadCodec::Tablet, vec![], None, b"to: weather".to_vec()).unwrap();
    thread::scope(|scope| {
        scope.spawn(move || {
            for size in [0, 1, 4 << 10, 10_000] {
                assert_eq!(sender.send_bytes(&vec![size as u8; size]).unwrap(), Sent::Queued);
            }
            sender.finish(Stats::new()).unwrap();
        });
        let incoming = server.accept().unwrap();
        assert_eq!((incoming.open().id.as_str(), incoming.open().request.as_slice()), ("ingest", &b"to: weather"[..]));
        let mut receiver = incoming.receive(Credit { bytes: 10_000, blocks: 2 }).unwrap();
        for size in [0, 1, 4 << 10, 10_000] {
            let Received::Block(payload) = receiver.recv() else { panic!("an end") };
            let bytes: Vec<u8> = payload.parts().iter().flat_map(AsRef::as_ref).copied().collect();
            assert_eq!(bytes, vec![size as u8; size]);
        }
        assert!(matches!(receiver.recv(), Received::End(Last::Success(_))));
    });
}

#[test]
fn a_slow_reader_bounds_both_sides_and_cancel_does_not_wait() {
    let credit = Credit { bytes: 1 << 20, blocks: 4 };
    let (client, server) = pair(&small());
    thread::scope(|scope| {
        let sending = scope.spawn(|| {
            let mut sender = server.accept().unwrap().send(schema()).unwrap();
            let block = block(0, 8_000);
            let mut sent = 0_u64;
            loop {
                match sender.send_block(&block) {
                    Ok(outcome) => assert_eq!(outcome, Sent::Queued),
                    Err(error) => return (sent, error),
                }
                sent += 1;
            }
        });
        let receiver = client.open_receiver("q", PayloadCodec::Block, credit, None, vec![]).unwrap();
        // All of the credit is used, and nobody reads.
        let began = Instant::now();
        while client.pool().usage().used_bytes < 600 << 10 && began.elapsed() < Duration::from_secs(10) {
            thread::sleep(Duration::from_millis(5));
        }
        thread::sleep(Duration::from_millis(50));
        receiver.cancel("seen enough");
        let (sent, error) = sending.join().unwrap();
        assert!((1..=4).contains(&sent), "{sent}");
        assert_eq!(error.kind(), ErrorKind::Closed);
        assert!(error.to_string().ends_with("mailbox q has ended: Cancelled seen enough"), "{error}");
        assert!(client.pool().usage().peak_bytes <= 3 << 20, "{:?}", client.pool().usage());
    });
}

#[test]
fn early_termination_in_the_middle_of_blocks_still_brings_the_statistics() {
    let (client, server) = pair(&NetOptions { chunk_bytes: 256, ..NetOptions::default() });
    for round in 0..20 {
        thread::scope(|scope| {
            scope.spawn(|| {
                let mut sender = server.accept().unwrap().send(schema()).unwrap();
                let block = block(0, 4_000);
                let mut sent = 0;
                while sender.send_block(&block).unwrap() == Sent::Queued {
                    sent += 1;
                }
                assert_eq!(sender.send_block(&block).unwrap(), Sent::NotWanted);
                sender.finish(vec![("sent".into(), sent)]).unwrap();
            });
            let credit = Credit { bytes: 1 << 20, blocks: 4 };
            let mut receiver = client.open_receiver("limit", PayloadCodec::Block, credit, None, vec![]).unwrap();
            for _ in 0..round {
                let Received::Block(view) = receiver.recv_block().unwrap() else { panic!("an end") };
                assert_eq!(view.row_count(), 4_000);
            }
            receiver.early_terminate();
            let Last::Success(stats) = end(receiver.recv_block()) else { panic!("no success") };
            assert!(stats[0].1 >= round);
        });
    }
}

#[test]
fn every_end_of_a_sender_reaches_the_reader() {
    let (client, server) = pair(&small());
    type Act = fn(RemoteSender);
    let acts: [(Act, End, &str); 3] = [
        (|sender| sender.fail("disk on fire"), End::Failed, "disk on fire"),
        (drop, End::ClosedWithoutEos, "the sender was dropped before it finished"),
        (|sender| sender.cancel_handle().cancel("not today"), End::Cancelled, "not today"),
    ];
    for (act, expected, text) in acts {
        thread::scope(|scope| {
            scope.spawn(|| {
                let mut sender = server.accept().unwrap().send(schema()).unwrap();
                sender.send_block(&block(1, 10)).unwrap();
                act(sender);
            });
            let mut receiver =
                client.open_receiver("q", PayloadCodec::Block, Credit { bytes: 1 << 20, blocks: 4 }, None, vec![]).unwrap();
            let last = match receiver.recv_block().unwrap() {
                Received::End(last) => last,
                Received::Block(_) => end(receiver.recv_block()),
            };
            assert_eq!(failure_of(last), (expected, text.to_owned()));
        });
    }
}

#[test]
fn refusals_deadlines_and_limits_have_a_name() {
    let (client, server) = pair(&small());
    let credit = Credit { bytes: 64 << 10, blocks: 4 };
    thread::scope(|scope| {
        scope.spawn(|| {
            server.accept().unwrap().refuse("no table wether; there is weather");
            drop(server.accept().unwrap());
            let waiting = server.accept().unwrap().send(schema()).unwrap();
            thread::sleep(Duration::from_millis(80));
            drop(waiting);
            let mut sender = server.accept().unwrap().send(schema()).unwrap();
            let error = sender.send_block(&block(0, 20_000)).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::LimitExceeded);
            assert!(error.to_string().contains("is past the reader's credit of 65,536 bytes and 4 blocks"), "{error}");
            sender.finish(Stats::new()).unwrap();
        });
        let open = |deadline| client.open_receiver("q", PayloadCodec::Block, credit, deadline, vec![]);
        let error = open(None).unwrap_err();
        assert!(error.to_string().ends_with("mailbox q was refused: Failed no table wether; there is weather"), "{error}");
        assert!(open(None).unwrap_err().to_string().ends_with("nobody took the mailbox"));
        let mut late = open(Some(Duration::from_millis(30))).unwrap();
        assert_eq!(failure_of(end(late.recv_block())).0, End::DeadlineExceeded);
        assert!(matches!(end(open(None).unwrap().recv_block()), Last::Success(_)));
        let huge = Credit { bytes: 1 << 30, blocks: 1 };
        let error = client.open_receiver("q", PayloadCodec::Block, huge, None, vec![]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::LimitExceeded);
    });
}

#[test]
fn a_lost_connection_ends_everything_on_both_sides() {
    let (client, server) = pair(&small());
    thread::scope(|scope| {
        let sending = scope.spawn(move || {
            let mut sender = server.accept().unwrap().send(schema()).unwrap();
            let block = block(0, 1_000);
            let error = loop {
                if let Err(error) = sender.send_block(&block) {
                    break error;
                }
            };
            assert!(server.accept().is_none());
            error
        });
        let mut receiver =
            client.open_receiver("q", PayloadCodec::Block, Credit { bytes: 1 << 20, blocks: 4 }, None, vec![]).unwrap();
        assert!(matches!(receiver.recv_block(), Ok(Received::Block(_))));
        drop(client);
        let last = loop {
            if let Received::End(last) = receiver.recv_block().unwrap() {
                break last;
            }
        };
        assert_eq!(failure_of(last).0, End::ConnectionLost);
        assert_eq!(sending.join().unwrap().kind(), ErrorKind::Closed);
    });
}

/// Frames that no peer of ours sends: each ends the connection with one error, and nothing hangs.
#[test]
fn a_peer_that_breaks_the_rules_is_cut_off() {
    let head = |kind, mailbox| FrameHead { kind, mailbox, block_seq: 0, chunk_index: 0, chunk_count: 1 };
    let cases: [(FrameHead, &[u8], &str); 6] = [
        (head(FrameKind::Data, 3), b"x", "mailbox 3: a mailbox that was never opened"),
        (head(FrameKind::Credit, 1), b"\x01\x01", "mailbox 1: Credit for a mailbox that receives"),
        (head(FrameKind::Open, 1), b"\x02q\0\0\0\0\0\0\0", "mailbox 1: opened twice, or with an id of the other side"),
        (head(FrameKind::Eos, 1), b"\xff\xff", "control frame"),
        (FrameHead { block_seq: 7, ..head(FrameKind::Data, 1) }, b"x", "chunk of block 7, expected block 0"),
        (head(FrameKind::Data, 1), &[0; 2_000], "are more than the credit of 1000 bytes and 4 blocks"),
    ];
    for (head, payload, expected) in cases {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let peer = listener.accept().unwrap().0;
        let client = Connection::connect(client, small()).unwrap();
        thread::scope(|scope| {
            scope.spawn(move || {
                let mut out = FrameWriter::new(peer);
                out.write(FrameHead::control(FrameKind::Accept, 1), [&b"\0\0\0"[..]].into_iter()).unwrap();
                out.write(head, [payload].into_iter()).unwrap();
                thread::sleep(Duration::from_millis(300));
            });
            let mut receiver =
                client.open_receiver("q", PayloadCodec::Block, Credit { bytes: 1_000, blocks: 4 }, None, vec![]).unwrap();
            let (end, text) = failure_of(end(receiver.recv_block()));
            assert_eq!(end, End::ConnectionLost);
            assert!(text.contains(expected), "{text}");
        });
    }
}
