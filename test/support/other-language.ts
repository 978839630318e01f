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
  // Small messages are not collected, which would delay each answer.
  const server = createServer({ noDelay: true }, (near) => {
    const far = connect({ port: Number(port), host: hostname, noDelay: true })
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
  /** The bytes of a message without texts that are not sent yet. */
  let passing = 0
  let isFirst = true
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      const isAnswerAboutTls = isFirst && chunk.length === 1
      isFirst = isAnswerAboutTls
      if (isAnswerAboutTls) return done(null, chunk)
      const passed = Math.min(passing, chunk.length)
      passing -= passed
      this.push(chunk.subarray(0, passed))
      pending = Buffer.concat([pending, chunk.subarray(passed)])
      while (pending.length >= 5) {
        const length = 1 + pending.readInt32BE(1)
        const hasTexts = 'EN'.includes(String.fromCharCode(pending[0]!))
        if (hasTexts && pending.length < length) break
        if (hasTexts) translate(pending.subarray(5, length))
        this.push(pending.subarray(0, length))
        passing = Math.max(0, length - pending.length)
        pending = pending.subarray(length)
      }
      done()
    },
  })
}

/**
 * Fields of an error have a code, a text and a zero. M, D and H are message, detail and hint. As in a translation, names
 * and values in quotes and parentheses stay, and the quotes are other ones.
 */
function translate(fields: Buffer): void {
  for (let at = 0; fields[at] !== 0;) {
    const end = fields.indexOf(0, at)
    if ('MDH'.includes(String.fromCharCode(fields[at]!))) {
      const text = fields.subarray(at + 1, end)
      const parts = text.toString('latin1').split(/("[^"]*"|\([^)]*\))/)
      const translated = parts.map((part, index) => (index % 2 === 0 ? part.replaceAll(/[a-z]/gi, 'z') : part))
      text.write(translated.join('').replaceAll('"', '`'), 'latin1')
    }
    at = end + 1
  }
}
