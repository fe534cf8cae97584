package gate

import "sync"

// outbox is what waits to be written to one connection: frames that must arrive, in order, and the latest of those of which
// only the latest matters. There is no standing writer: one starts when something is put in and ends when all is written,
// so an idle connection costs no goroutine for it.
type outbox struct {
	conn *conn

	mu      sync.Mutex
	frames  [][]byte
	update  []byte
	closing *closing // set once: write no more, say goodbye
	writing bool
	idle    sync.Cond // a writer ended
}

func (o *outbox) init(c *conn) {
	o.conn = c
	o.idle.L = &o.mu
}

// Send queues a frame that must arrive. A connection whose queue is full is cut: it would miss something of its own.
func (c *conn) Send(frame []byte) {
	o := &c.out
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closing != nil {
		return
	}
	if len(o.frames) >= c.gate.opts.Queue {
		o.end(closeSlowConsumer)
		return
	}
	o.frames = append(o.frames, frame)
	o.start()
}

// answer is Send for the goroutine that reads: if nothing waits it writes the frame itself, which spares a storm of
// answers from memory a goroutine each. A client that does not read then is not read from either.
func (c *conn) answer(frame []byte) {
	o := &c.out
	o.mu.Lock()
	if o.closing != nil || o.writing {
		o.mu.Unlock()
		c.Send(frame)
		return
	}
	o.writing = true
	o.frames = append(o.frames, frame)
	o.mu.Unlock()
	o.write()
}

// SendLatest queues a frame in place of an earlier one that still waits.
func (c *conn) SendLatest(frame []byte) {
	o := &c.out
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closing != nil {
		return
	}
	o.update = frame
	o.start()
}

// close makes the writer say goodbye, once; what waits is given up.
func (o *outbox) close(why closing) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closing == nil {
		o.end(why)
	}
}

// done waits until the last writer has said goodbye.
func (o *outbox) done() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for o.writing {
		o.idle.Wait()
	}
}

func (o *outbox) end(why closing) {
	o.closing = &why
	o.conn.gate.metrics.recordClosing(why)
	if why != closeGoingAway {
		o.frames, o.update = nil, nil
	}
	o.start()
}

func (o *outbox) start() {
	if !o.writing {
		o.writing = true
		go o.write()
	}
}

// write writes what waits until nothing does.
func (o *outbox) write() {
	var batch [][]byte
	for {
		var bye *closing
		batch, bye = o.take(batch)
		switch {
		case bye != nil:
			o.conn.sendClose(*bye)
			o.stop()
			return
		case batch == nil:
			return
		}
		err := o.conn.socket.writeTexts(batch)
		clear(batch)
		if err != nil {
			o.conn.closeNow() // the reader notices and ends the connection
		}
	}
}

// keptFrames is the room for frames that an idle connection keeps, so that not every answer needs new room.
const keptFrames = 4

// take returns what is to be written next. Nil and nil: nothing, and the writer has ended in the same moment.
func (o *outbox) take(batch [][]byte) ([][]byte, *closing) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closing != nil && len(o.frames) == 0 {
		return nil, o.closing
	}
	batch, o.frames = o.frames, batch[:0]
	if o.update != nil {
		batch = append(batch, o.update)
		o.update = nil
	}
	if len(batch) == 0 {
		if cap(o.frames) > keptFrames {
			o.frames = nil // what a burst has left behind
		}
		o.writing = false
		o.idle.Broadcast()
		return nil, nil
	}
	return batch, nil
}

func (o *outbox) stop() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.writing = false
	o.idle.Broadcast()
}
