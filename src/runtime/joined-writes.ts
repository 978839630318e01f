import type { Socket } from 'node:net'

/** Maximum number of characters that are joined: what a client that does not read adds to the memory of its connection. */
const maxJoined = 8 * 1024

/**
 * Joins the small responses that are ready in the same turn of the event loop into one system call, which costs more than
 * many actions. Nothing waits for longer than this turn, nor after the last request that has arrived.
 * @param hasMore whether other requests of the connection wait for a response
 */
export function joinWrites(socket: Socket, hasMore: () => boolean): void {
  const write = socket._write.bind(socket)
  const writev = socket._writev!.bind(socket)
  const final = socket._final.bind(socket)
  const destroy = socket._destroy.bind(socket)
  let joined = ''
  let isScheduled = false
  let isSending = false
  const send = () => {
    if (joined === '') return
    const text = joined
    joined = ''
    isSending = true
    write(text, 'utf8', (error) => {
      isSending = false
      if (error) socket.destroy(error)
    })
  }
  const sendAfterTurn = () => {
    isScheduled = false
    send()
  }
  socket._write = (chunk: string | Buffer, encoding, done) => {
    if (typeof chunk !== 'string' || encoding !== 'utf8') {
      send()
      return write(chunk, encoding, done)
    }
    // While a client does not read, its responses wait as others do.
    if (isSending || !hasMore() || joined.length + chunk.length > maxJoined) {
      const text = joined + chunk
      joined = ''
      return write(text, encoding, done)
    }
    joined += chunk
    if (!isScheduled) {
      isScheduled = true
      setImmediate(sendAfterTurn)
    }
    return done()
  }
  socket._writev = (chunks, done) => {
    send()
    writev(chunks, done)
  }
  socket._final = (done) => {
    send()
    final(done)
  }
  // After a request that cannot be parsed, for example. The client gets the responses to the requests before it.
  socket._destroy = (error, done) => {
    send()
    destroy(error, done)
  }
}
