import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import { text as readText } from 'node:stream/consumers'
import { after, before, describe, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { LeanResponse } from '../../src/runtime/lean-messages.ts'
import { send } from '../support/send.ts'
import { until } from '../support/until.ts'

describe('texts that are written as one chunk each', () => {
  const long = 'é'.repeat(5000)
  const turns = [['a'], ['b', 'ä', 'c'], ['', '😀'], [long, 'd', long], ['e']]
  const left: boolean[] = []
  let server: Server<typeof IncomingMessage, typeof LeanResponse>
  const portOf = () => (server.address() as AddressInfo).port
  before(async () => {
    server = createServer({ ServerResponse: LeanResponse }, (request, response) => void write(request.url!, response))
    await once(server.listen(0, '127.0.0.1'), 'listening')
  })
  after(() => server.close())

  async function write(url: string, response: LeanResponse): Promise<void> {
    response.flushHeaders()
    if (url === '/endless') {
      response.once('close', () => left.push(response.writeText('late')))
      while (response.writeText('x'.repeat(4000))) await nextTurn()
      left.push(response.writableNeedDrain)
      return
    }
    for (const texts of turns) {
      await nextTurn()
      for (const text of texts) response.writeText(text)
    }
    response.end()
  }

  test('arrive in their order, short and long ones, whatever was written in the same turn', async () => {
    const { text, headers } = await send(portOf(), { path: '/' })
    assert.equal(text, turns.flat().join(''))
    assert.equal(headers['transfer-encoding'], 'chunked')
  })

  test('have no chunks for a client of HTTP/1.0, and none after the headers of HEAD', async () => {
    const socket = connect(portOf(), '127.0.0.1', () => socket.write('GET / HTTP/1.0\r\n\r\n'))
    assert.equal((await readText(socket)).split('\r\n\r\n').slice(1).join(), turns.flat().join(''))
    const head = connect(portOf(), '127.0.0.1', () =>
      head.write('HEAD / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'),
    )
    assert.match(await readText(head), /^HTTP\/1\.1 200 [^]*\r\n\r\n$/)
  })

  test('wait for a client that does not read, and are dropped when it has left', async () => {
    const socket = connect(portOf(), '127.0.0.1', () => socket.write('GET /endless HTTP/1.1\r\nHost: a\r\n\r\n'))
    await until('no more may be written', () => left.length === 1)
    assert.deepEqual(left, [true])
    socket.destroy()
    await until('the client has left', () => left.length === 2)
    assert.deepEqual(left, [true, false])
  })
})
