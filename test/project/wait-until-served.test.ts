// Whether `generate` can say that a running `dev` already serves what it wrote.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { announceDev } from '../../src/project/dev-server-file.ts'
import { waitUntilServed } from '../../src/project/generate/wait-until-served.ts'

/** @param answer answers the nth question for the methods of the route */
async function ask(answer: (count: number, ...call: Parameters<RequestListener>) => void) {
  const folder = await mkdtemp(path.join(tmpdir(), 'waypost-served-'))
  let count = 0
  const server = createServer((request, response) => {
    if (request.method === 'OPTIONS') answer((count += 1), request, response)
    else response.end('{}')
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  try {
    await announceDev(folder, url)
    const served = await waitUntilServed(folder, 'POST /order/:id')
    return { served: served?.replace(url, ''), count }
  } finally {
    server.close()
    server.closeAllConnections()
    await rm(folder, { recursive: true })
  }
}

test('a route is served once its method is listed', async () => {
  const answered = await ask((count, request, response) => {
    assert.equal(request.url, '/order/0')
    response.setHeader('allow', count < 3 ? 'GET' : 'GET, POST').end()
  })
  assert.deepEqual(answered, { served: '/order/:id', count: 3 })
})

test('a dev that answers without the route gets 30 questions', async () => {
  const answered = await ask((_count, _request, response) => response.writeHead(404).end())
  assert.deepEqual(answered, { served: undefined, count: 30 })
})

test('a dev that ends gets no further questions', async () => {
  const answered = await ask((count, request, response) => {
    if (count === 2) request.socket.destroy()
    else response.end()
  })
  assert.deepEqual(answered, { served: undefined, count: 2 })
})
