import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { Transform } from 'node:stream'

/**
 * Opens a proxy to a PostgreSQL server whose messages are in a language that no code knows, as with another
 * `lc_messages`: each letter of a message is replaced. Most servers of tests have only English messages.
 */
export async function openInOtherLanguage(target: string): Promise<{ readonly url: string; close(): Promise<void> }> {
  const { hostname, port } = new URL(target)
  const sockets = new Set<Socket>()
  const server = createServer((near) => {
    const far = connect(Number(port), hostname)
    for (const socket of [near, far]) sockets.add(socket.on('error', () => near.destroy()))
    near.on('close', () => far.destroy()).pipe(far)
    far.on('close', () => near.destroy())
    far.pipe(makeTranslator()).pipe(near)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: Object.assign(new URL(target), { host: `127.0.0.1:${(server.address() as AddressInfo).port}` }).href,
    async close() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

/** Messages of the protocol have a type, a length and a content: https://www.postgresql.org/docs/current/protocol.html */
function makeTranslator(): Transform {
  let pending = Buffer.alloc(0)
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      pending = Buffer.concat([pending, chunk])
      let start = 0
      while (pending.length >= start + 5) {
        const end = start + 1 + pending.readInt32BE(start + 1)
        if (pending.length < end) break
        if ('EN'.includes(String.fromCharCode(pending[start]!))) translate(pending.subarray(start + 5, end))
        start = end
      }
      this.push(pending.subarray(0, start))
      pending = pending.subarray(start)
      done()
    },
  })
}

/** Fields of an error have a code, a text and a zero. M, D and H are message, detail and hint. */
function translate(fields: Buffer): void {
  for (let at = 0; fields[at] !== 0;) {
    const end = fields.indexOf(0, at)
    if ('MDH'.includes(String.fromCharCode(fields[at]!)))
      for (let index = at + 1; index < end; index++)
        if (/[a-z]/i.test(String.fromCharCode(fields[index]!))) fields[index] = 0x7a
    at = end + 1
  }
}
