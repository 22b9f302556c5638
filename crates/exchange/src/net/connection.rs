//! One socket, its mailboxes, and the thread that reads it.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::io::{self, BufReader};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex, MutexGuard};
use tsloom_block::BlockColumn;
use tsloom_model::{Error, ErrorKind, Result};

use super::incoming::Incoming;
use super::options::NetOptions;
use super::receiver::{RemoteReceiver, Side as ReceivingSide};
use super::sender::{RemoteSender, Side as SendingSide};
use super::stream::{Stream, Ticking};
use crate::control::{Control, Credit, Failure, Open, PayloadCodec, Role, Stats};
use crate::frame::{Frame, FrameHead, FrameKind, FrameReader, FrameWriter};
use crate::pool::BufferPool;
use crate::state::End;

const STUCK: &str = "the peer does not read its control frames";
/// Control frames that may wait, beside four for each mailbox.
const CONTROL_MAX: usize = 64;
const TICK: Duration = Duration::from_millis(250);
/// Small, so that hardly any payload passes through it; large reads go around it.
const READ_AHEAD: usize = 1 << 10;

/// A connection and the mailboxes on it. Dropping it ends them all.
pub struct Connection {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

pub(super) struct Shared {
    pub(super) peer: String,
    pub(super) options: NetOptions,
    pub(super) pool: BufferPool,
    out: Mutex<Out>,
    /// Control frames that wait for the socket; a thread of their own writes those that no chunk takes along.
    control: Mutex<VecDeque<(u64, Control)>>,
    control_waits: Condvar,
    mailboxes: Mutex<Mailboxes>,
    /// Something came to accept, or the connection is gone.
    news: Condvar,
    gone: AtomicBool,
    /// The peer takes no control frames; the reading thread ends the connection, for whoever noticed may hold a mailbox.
    stuck: AtomicBool,
}

/// The socket, for whoever writes next, and the buffer for payloads of control frames.
struct Out {
    frames: FrameWriter<Stream>,
    payload: Vec<u8>,
}

struct Mailboxes {
    open: HashMap<u64, Mailbox>,
    incoming: VecDeque<(u64, Open, Instant)>,
    /// Ids of ours are odd on the connecting side and even on the other.
    next_id: u64,
    /// The highest id of the peer so far.
    peer_id_max: u64,
    /// Credit that was promised, in bytes.
    promised_bytes: u64,
    why_gone: Option<String>,
}

enum Mailbox {
    Send(Arc<SendingSide>),
    Receive(Arc<ReceivingSide>),
}

impl Connection {
    /// The connecting side of a socket.
    ///
    /// # Errors
    /// `Io` when the socket's options cannot be set or no thread can be started.
    pub fn connect(stream: impl Into<Stream>, options: NetOptions) -> Result<Self> {
        Self::start(stream.into(), options, 1)
    }

    /// The accepting side of a socket.
    ///
    /// # Errors
    /// `Io` when the socket's options cannot be set or no thread can be started.
    pub fn accepted(stream: impl Into<Stream>, options: NetOptions) -> Result<Self> {
        Self::start(stream.into(), options, 2)
    }

    fn start(stream: Stream, options: NetOptions, first_id: u64) -> Result<Self> {
        stream.prepare(TICK, options.write_timeout)?;
        let input = stream.try_clone()?;
        let shared = Arc::new(Shared {
            peer: stream.peer(),
            pool: BufferPool::new(options.pool_bytes_max),
            options,
            out: Mutex::new(Out { frames: FrameWriter::new(stream), payload: Vec::new() }),
            control: Mutex::default(),
            control_waits: Condvar::new(),
            mailboxes: Mutex::new(Mailboxes {
                open: HashMap::new(),
                incoming: VecDeque::new(),
                next_id: first_id,
                peer_id_max: 0,
                promised_bytes: 0,
                why_gone: None,
            }),
            news: Condvar::new(),
            gone: AtomicBool::new(false),
            stuck: AtomicBool::new(false),
        });
        let mut connection = Self { shared: Arc::clone(&shared), threads: Vec::new() };
        let (reading, writing) = (Arc::clone(&shared), shared);
        let named = |name: &str| thread::Builder::new().name(name.into());
        connection.threads.push(named("exchange reader").spawn(move || reading.read_all(input))?);
        connection.threads.push(named("exchange control").spawn(move || writing.write_all_control())?);
        Ok(connection)
    }

    /// Who is on the other side.
    pub fn peer(&self) -> &str {
        &self.shared.peer
    }

    /// Buffers of received blocks.
    pub fn pool(&self) -> &BufferPool {
        &self.shared.pool
    }

    /// Opens a mailbox to send into. The first block waits until the other side has accepted it.
    ///
    /// # Errors
    /// `Closed` when the connection is gone, `LimitExceeded` for too many mailboxes.
    pub fn open_sender(
        &self,
        id: &str,
        codec: PayloadCodec,
        schema: Vec<BlockColumn>,
        deadline: Option<Duration>,
        request: Vec<u8>,
    ) -> Result<RemoteSender> {
        let side = Arc::new(SendingSide::new(id, deadline, None));
        let number = self.shared.register(|number| Mailbox::Send(side.numbered(number)))?;
        let deadline_ms = deadline.map(|left| left.as_millis() as u64);
        let open = Open { id: id.into(), role: Role::Sender, codec, deadline_ms, credit: Credit::default(), schema, request };
        self.shared.send_control(number, Control::Open(open))?;
        Ok(RemoteSender::new(Arc::clone(&self.shared), side))
    }

    /// Opens a mailbox to receive from: the other side answers the request. Waits until it has accepted it.
    ///
    /// # Errors
    /// `Closed` when the connection is gone or the other side refuses, `LimitExceeded` for too many mailboxes or no room for the credit.
    pub fn open_receiver(
        &self,
        id: &str,
        codec: PayloadCodec,
        credit: Credit,
        deadline: Option<Duration>,
        request: Vec<u8>,
    ) -> Result<RemoteReceiver> {
        let side = Arc::new(ReceivingSide::new(id, credit, deadline, &self.shared.options));
        self.shared.promise(credit)?;
        let number = self
            .shared
            .register(|number| Mailbox::Receive(side.numbered(number)))
            .inspect_err(|_| self.shared.mailboxes.lock().take_back(credit))?;
        let deadline_ms = deadline.map(|left| left.as_millis() as u64);
        let open = Open { id: id.into(), role: Role::Receiver, codec, deadline_ms, credit, schema: Vec::new(), request };
        self.shared.send_control(number, Control::Open(open))?;
        let receiver = RemoteReceiver::new(Arc::clone(&self.shared), side);
        receiver.wait_accepted()?;
        Ok(receiver)
    }

    /// The next mailbox that the other side opened; waits for it. `None` when the connection has ended.
    pub fn accept(&self) -> Option<Incoming> {
        let mut mailboxes = self.shared.mailboxes.lock();
        loop {
            if let Some((number, open, _)) = mailboxes.incoming.pop_front() {
                return Some(Incoming::new(Arc::clone(&self.shared), number, open));
            }
            if mailboxes.why_gone.is_some() {
                return None;
            }
            self.shared.news.wait(&mut mailboxes);
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.shared.lost("the connection was closed here");
        for thread in self.threads.drain(..) {
            let _ = thread.join(); // what they have to say, they say to the mailboxes
        }
    }
}

impl Shared {
    fn register(&self, make: impl FnOnce(u64) -> Mailbox) -> Result<u64> {
        let mut mailboxes = self.mailboxes.lock();
        mailboxes.check(self)?;
        let number = mailboxes.next_id;
        mailboxes.next_id += 2;
        mailboxes.open.insert(number, make(number));
        Ok(number)
    }

    /// Registers the answering end of a mailbox of the peer.
    pub(super) fn answer_sender(&self, side: &Arc<SendingSide>, number: u64) -> Result<()> {
        let mut mailboxes = self.mailboxes.lock();
        mailboxes.check(self)?;
        mailboxes.open.insert(number, Mailbox::Send(side.numbered(number)));
        Ok(())
    }

    /// Registers the answering end of a mailbox of the peer, and promises its credit.
    pub(super) fn answer_receiver(&self, side: &Arc<ReceivingSide>, number: u64, credit: Credit) -> Result<()> {
        self.promise(credit)?;
        let mut mailboxes = self.mailboxes.lock();
        if let Err(error) = mailboxes.check(self) {
            mailboxes.take_back(credit);
            return Err(error);
        }
        mailboxes.open.insert(number, Mailbox::Receive(side.numbered(number)));
        Ok(())
    }

    /// All promised credit must fit into the pool, as buffers of up to twice the size.
    fn promise(&self, credit: Credit) -> Result<()> {
        let mut mailboxes = self.mailboxes.lock();
        let promised = mailboxes.promised_bytes.saturating_add(credit.bytes);
        if promised.saturating_mul(2) > self.options.pool_bytes_max as u64 {
            let message = format!(
                "credit of {} bytes beside {} promised ones is past the limit pool_bytes_max = {} (of which one half can be promised)",
                credit.bytes, mailboxes.promised_bytes, self.options.pool_bytes_max
            );
            return Err(Error::new(ErrorKind::LimitExceeded, message).in_file(&self.peer));
        }
        mailboxes.promised_bytes = promised;
        Ok(())
    }

    /// Forgets a mailbox that has ended on both sides.
    pub(super) fn forget(&self, number: u64) {
        let mut mailboxes = self.mailboxes.lock();
        if let Some(Mailbox::Receive(side)) = mailboxes.open.remove(&number) {
            mailboxes.take_back(side.credit());
        }
    }

    /// Hands a control frame to whoever has the socket next. Never waits, so the reading thread may call it: two peers that both wait
    /// for the other to read would never end.
    pub(super) fn send_control(&self, number: u64, control: Control) -> Result<()> {
        if self.gone.load(Ordering::Acquire) {
            return Err(self.gone_error());
        }
        let mut waiting = self.control.lock();
        if waiting.len() > CONTROL_MAX + 4 * self.options.mailboxes_max {
            self.stuck.store(true, Ordering::Release);
            return Err(Error::new(ErrorKind::Closed, STUCK).in_file(&self.peer));
        }
        waiting.push_back((number, control));
        self.control_waits.notify_one();
        Ok(())
    }

    fn write_all_control(&self) {
        loop {
            let mut waiting = self.control.lock();
            while waiting.is_empty() && !self.gone.load(Ordering::Acquire) {
                self.control_waits.wait(&mut waiting);
            }
            drop(waiting);
            let mut out = self.out.lock();
            if self.write_control(&mut out).is_err() || self.gone.load(Ordering::Acquire) {
                out.frames.get_ref().shut_down();
                return;
            }
        }
    }

    fn write_control(&self, out: &mut Out) -> Result<()> {
        let Out { frames, payload } = out;
        loop {
            let Some((number, control)) = self.control.lock().pop_front() else { return Ok(()) };
            payload.clear();
            control.write_to(payload);
            let head = FrameHead::control(control.kind(), number);
            frames.write(head, std::iter::once(payload.as_slice())).map_err(|error| self.write_failed(&error))?;
        }
    }

    /// Writes one chunk when `wanted` still says so once the socket is ours; control frames that wait go first.
    pub(super) fn send_chunk<'a>(
        &self,
        head: FrameHead,
        payload: impl Iterator<Item = &'a [u8]> + Clone,
        wanted: impl FnOnce() -> bool,
    ) -> Result<bool> {
        let mut out = self.out.lock();
        if self.gone.load(Ordering::Acquire) {
            return Err(self.gone_error());
        }
        self.write_control(&mut out)?;
        let wanted = wanted();
        if wanted {
            out.frames.write(head, payload).map_err(|error| self.write_failed(&error))?;
        }
        MutexGuard::unlock_fair(out);
        Ok(wanted)
    }

    fn write_failed(&self, error: &Error) -> Error {
        self.lost(&format!("writing failed: {error}"));
        self.gone_error()
    }

    pub(super) fn gone_error(&self) -> Error {
        let why = self.mailboxes.lock().why_gone.clone().unwrap_or_default();
        Error::new(ErrorKind::Closed, format!("the connection is gone: {why}")).in_file(&self.peer)
    }

    /// Ends all mailboxes; the first reason stays.
    fn lost(&self, why: &str) {
        let mut mailboxes = self.mailboxes.lock();
        if self.gone.swap(true, Ordering::AcqRel) {
            return;
        }
        mailboxes.why_gone = Some(why.to_owned());
        mailboxes.incoming.clear();
        let open: Vec<Mailbox> = mailboxes.open.drain().map(|(_, mailbox)| mailbox).collect();
        mailboxes.promised_bytes = 0;
        drop(mailboxes);
        self.control.lock().clear();
        let failure = Failure { end: End::ConnectionLost, origin: self.peer.clone(), text: why.to_owned(), stats: Stats::new() };
        for mailbox in open {
            match mailbox {
                Mailbox::Send(side) => side.connection_lost(),
                Mailbox::Receive(side) => side.connection_lost(failure.clone()),
            }
        }
        self.news.notify_all();
        // The threads shut the socket down: the control thread now, or the reader when a writer holds the lock and waits for the socket.
        let _queue = self.control.lock();
        self.control_waits.notify_all();
    }

    fn read_all(&self, stream: Stream) {
        let closing = stream.try_clone();
        let mut heard = Instant::now();
        let heard_at = std::cell::Cell::new(heard);
        let mut pinged = false;
        let tick = || {
            if heard_at.get() != heard {
                (heard, pinged) = (heard_at.get(), false);
            }
            self.tick(heard, &mut pinged)
        };
        let input = BufReader::with_capacity(READ_AHEAD, Ticking { stream, tick });
        let mut frames = FrameReader::new(input, self.options.frame_bytes_max);
        let why = loop {
            match frames.read(&self.pool) {
                Ok(None) => break "the peer closed it".to_owned(),
                Ok(Some(frame)) => {
                    heard_at.set(Instant::now());
                    if let Err(error) = self.dispatch(frame) {
                        break error.to_string();
                    }
                    if self.stuck.load(Ordering::Acquire) {
                        break STUCK.to_owned();
                    }
                }
                Err(error) => break error.to_string(),
            }
        };
        self.lost(&why);
        if let Ok(stream) = closing {
            stream.shut_down();
        }
    }

    /// Looks after what only time ends.
    fn tick(&self, heard: Instant, pinged: &mut bool) -> io::Result<()> {
        if self.gone.load(Ordering::Acquire) {
            return Err(io::Error::other("the connection was closed here"));
        }
        if self.stuck.load(Ordering::Acquire) {
            return Err(io::Error::other(STUCK));
        }
        let mut expired = Vec::new();
        let mut mailboxes = self.mailboxes.lock();
        while mailboxes.incoming.front().is_some_and(|(_, _, since)| since.elapsed() > self.options.expire_after) {
            expired.extend(mailboxes.incoming.pop_front());
        }
        let any_open = !mailboxes.open.is_empty();
        drop(mailboxes);
        for (number, open, _) in expired {
            let text = format!("nobody took the mailbox {} within {} s", open.id, self.options.expire_after.as_secs());
            let failure = Failure { end: End::Expired, origin: String::new(), text, stats: Stats::new() };
            self.send_control(number, Control::Error(failure)).map_err(io::Error::other)?;
        }
        if any_open && heard.elapsed() > self.options.silence_max {
            return Err(io::Error::new(
                io::ErrorKind::TimedOut,
                format!("nothing was heard for {} s", self.options.silence_max.as_secs()),
            ));
        }
        if any_open && !*pinged && heard.elapsed() > self.options.silence_max / 2 {
            *pinged = true;
            self.send_control(0, Control::Ping(*b"tsloom?\0")).map_err(io::Error::other)?;
        }
        Ok(())
    }

    fn dispatch(&self, frame: Frame) -> Result<()> {
        let number = frame.head.mailbox;
        if frame.head.kind == FrameKind::Data {
            return match self.find(number)? {
                Some(Mailbox::Receive(side)) => side.chunk(self, frame),
                Some(Mailbox::Send(_)) => Err(violation(number, "data for a mailbox that sends")),
                None => Ok(()), // it has ended here; what was on its way is dropped
            };
        }
        let control = Control::parse(frame.head.kind, frame.payload.as_ref()).map_err(|error| error.in_file(&self.peer))?;
        match control {
            Control::Open(open) => return self.opened(number, open),
            Control::Ping(bytes) if bytes == *b"tsloom?\0" => return self.send_control(0, Control::Ping(*b"tsloom!\0")),
            Control::Ping(_) => return Ok(()),
            _ => {}
        }
        match self.find(number)? {
            Some(Mailbox::Send(side)) => side.control(self, control),
            Some(Mailbox::Receive(side)) => side.control(self, control),
            None => Ok(()),
        }
    }

    /// The mailbox, or `None` when it has ended; one that never was is an error.
    fn find(&self, number: u64) -> Result<Option<Mailbox>> {
        let mailboxes = self.mailboxes.lock();
        let ours = number % 2 == mailboxes.next_id % 2;
        match mailboxes.open.get(&number) {
            Some(Mailbox::Send(side)) => Ok(Some(Mailbox::Send(Arc::clone(side)))),
            Some(Mailbox::Receive(side)) => Ok(Some(Mailbox::Receive(Arc::clone(side)))),
            None if ours && number < mailboxes.next_id || !ours && number <= mailboxes.peer_id_max => Ok(None),
            None => Err(violation(number, "a mailbox that was never opened")),
        }
    }

    fn opened(&self, number: u64, open: Open) -> Result<()> {
        let mut mailboxes = self.mailboxes.lock();
        if number % 2 == mailboxes.next_id % 2 || number <= mailboxes.peer_id_max {
            return Err(violation(number, "opened twice, or with an id of the other side"));
        }
        mailboxes.peer_id_max = number;
        if mailboxes.open.len() + mailboxes.incoming.len() >= self.options.mailboxes_max {
            drop(mailboxes);
            let text = format!("more mailboxes than the limit mailboxes_max = {}", self.options.mailboxes_max);
            let failure = Failure { end: End::Failed, origin: String::new(), text, stats: Stats::new() };
            return self.send_control(number, Control::Error(failure));
        }
        mailboxes.incoming.push_back((number, open, Instant::now()));
        self.news.notify_one();
        Ok(())
    }
}

impl Mailboxes {
    /// A lost connection has forgotten its promises already.
    fn take_back(&mut self, credit: Credit) {
        self.promised_bytes = self.promised_bytes.saturating_sub(credit.bytes);
    }

    fn check(&self, shared: &Shared) -> Result<()> {
        if let Some(why) = &self.why_gone {
            return Err(Error::new(ErrorKind::Closed, format!("the connection is gone: {why}")).in_file(&shared.peer));
        }
        if self.open.len() >= shared.options.mailboxes_max {
            let message = format!("more mailboxes than the limit mailboxes_max = {}", shared.options.mailboxes_max);
            return Err(Error::new(ErrorKind::LimitExceeded, message).in_file(&shared.peer));
        }
        Ok(())
    }
}

pub(super) fn violation(number: u64, what: &str) -> Error {
    Error::new(ErrorKind::Corrupt, format!("mailbox {number}: {what}"))
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Connection({}, {} mailboxes)", self.shared.peer, self.shared.mailboxes.lock().open.len())
    }
}
