import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { parentPort, workerData } from 'node:worker_threads'

/** Connects and sends requests while the thread of the server stands still. Posts the answers, or the codes of errors. */
const { port, count, connected } = workerData as {
  readonly port: number
  readonly count: number
  readonly connected: Int32Array
}
const answers = Array.from({ length: count }, () => {
  const socket = connect(port, '127.0.0.1', () => {
    socket.write('GET /post HTTP/1.1\r\nHost: a\r\n\r\n', () => {
      Atomics.add(connected, 0, 1)
      Atomics.notify(connected, 0)
    })
  })
  return text(socket).catch((error: NodeJS.ErrnoException) => error.code)
})
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, no window
parentPort!.postMessage(await Promise.all(answers))
