import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, connect, type AddressInfo, type Socket } from 'node:net'
import { after, test } from 'node:test'
import { joinWrites } from '../../src/runtime/joined-writes.ts'

interface Pair {
  /** The side whose writes are joined. */
  readonly socket: Socket
  readonly client: Socket
  /** The texts that were passed to the operating system. */
  readonly written: string[]
  hasMore: boolean
}

const server = createServer()
server.listen(0, '127.0.0.1')
await once(server, 'listening')
after(() => server.close())

async function openPair(): Promise<Pair> {
  const accepted = once(server, 'connection') as Promise<[Socket]>
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1')
  const [socket] = await accepted
  const written: string[] = []
  const write = socket._write.bind(socket)
  socket._write = (chunk: string | Buffer, encoding, done) => {
    written.push(String(chunk))
    write(chunk, encoding, done)
  }
  const pair = { socket, client: client.setEncoding('utf8'), written, hasMore: true }
  joinWrites(socket, () => pair.hasMore)
  return pair
}

async function receive(client: Socket): Promise<string> {
  let text = ''
  for await (const part of client) text += String(part)
  return text
}

test('small writes are joined until nothing more is expected', async () => {
  const pair = await openPair()
  const received = receive(pair.client)
  pair.socket.write('a')
  pair.socket.write('ü')
  assert.deepEqual(pair.written, [])
  pair.hasMore = false
  pair.socket.write('c')
  assert.deepEqual(pair.written, ['aüc'])
  pair.socket.end()
  assert.equal(await received, 'aüc')
})

test('what was joined is sent at the end of the turn, also if more is expected', async () => {
  const pair = await openPair()
  pair.socket.write('a')
  assert.equal(String((await once(pair.client, 'data'))[0]), 'a')
  pair.client.destroy()
  pair.socket.destroy()
})

test('what was joined is sent before bytes, long texts and the end, in order', async () => {
  const pair = await openPair()
  const received = receive(pair.client)
  const long = 'x'.repeat(10_000)
  pair.socket.write('a')
  pair.socket.write(Buffer.from('b'))
  pair.socket.write('c')
  pair.socket.write(long)
  pair.socket.write('d')
  pair.socket.cork()
  pair.socket.write('e')
  pair.socket.write('f')
  pair.socket.uncork()
  pair.socket.write('g')
  pair.socket.end()
  assert.equal(await received, `abc${long}defg`)
})

test('what was joined is sent before the connection is closed', async () => {
  const pair = await openPair()
  const received = receive(pair.client)
  pair.socket.write('a')
  pair.socket.destroy()
  assert.equal(await received, 'a')
})

test('a client that does not read gets nothing that is joined, so that it cannot fill memory', async () => {
  const pair = await openPair()
  pair.client.pause()
  const text = 'x'.repeat(4000)
  let done = 0
  let sent = 0
  // A turn for each write, so that all are sent.
  while (sent - done < 10 && sent < 20_000) {
    pair.socket.write(text, () => (done += 1))
    sent += 1
    await new Promise((resolve) => setImmediate(resolve))
  }
  assert.equal(sent - done, 10)
  assert.ok(pair.socket.writableLength > 8 * text.length, String(pair.socket.writableLength))
  pair.client.destroy()
  pair.socket.destroy()
})
