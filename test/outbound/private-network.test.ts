import assert from 'node:assert/strict'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import { openOutbound, type Outbound } from '../../src/outbound/index.ts'
import type { Lookup } from '../../src/outbound/resolve-names.ts'

const names: Readonly<Record<string, readonly string[]>> = {
  'sidecar.example': ['127.0.0.1'],
  'metadata.example': ['169.254.169.254'],
  'mixed.example': ['127.0.0.1', '100.100.100.200'],
  'mapped.example': ['::ffff:169.254.169.254'],
}
let resolutions = 0
const lookup: Lookup = (host, _options, done) => {
  resolutions += 1
  // The first answer is harmless; a later one is not.
  const found =
    host === 'rebinding.example' ? [resolutions === 1 ? '127.0.0.1' : '169.254.169.254'] : (names[host] ?? [])
  done(
    null,
    found.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
  )
}

let server: Server
let port: number
let outbound: Outbound
before(async () => {
  server = createServer((_request, response) => response.setHeader('connection', 'close').end('here')).listen(
    0,
    '127.0.0.1',
  )
  await new Promise((resolve) => server.once('listening', resolve))
  port = (server.address() as AddressInfo).port
  outbound = openOutbound({ allow: () => ['169.254.0.0/16'], loopback: false, lookup })
})
after(async () => {
  await outbound.close()
  server.close()
})

const codeOf = (error: unknown): unknown => {
  const { code, cause } = error as { code?: string; cause?: unknown }
  return code ?? (cause === undefined ? undefined : codeOf(cause))
}

test('the network private opens private addresses, which public requests cannot use even while they are connected', async () => {
  const url = `http://sidecar.example:${port}/`
  assert.equal(await (await outbound.fetch(url, { network: 'private' })).text(), 'here')
  for (const init of [{}, { network: 'public' as const }, undefined])
    await assert.rejects(outbound.fetch(url, init), (error) => codeOf(error) === 'WP_OUTBOUND_ADDRESS')
})

for (const host of [
  'metadata.example',
  'mixed.example',
  'mapped.example',
  '169.254.169.254',
  '169.254.170.2',
  '168.63.129.16',
  '100.100.100.200',
  '192.0.0.192',
  '[fd00:ec2::254]',
  '[fd20:ce::254]',
  '[fe80::a9fe:a9fe]',
  '[::ffff:169.254.169.254]',
  '[64:ff9b::a9fe:a9fe]',
  '2852039166',
  '0.0.0.0',
])
  test(`the network private does not open ${host}`, async () => {
    await assert.rejects(outbound.fetch(`http://${host}:${port}/`, { network: 'private' }), (error) => {
      assert.equal(codeOf(error), 'WP_OUTBOUND_ADDRESS')
      return true
    })
  })

test('a name that resolves to another address later is checked again', async () => {
  resolutions = 0
  const url = `http://rebinding.example:${port}/`
  assert.equal(await (await outbound.fetch(url, { network: 'private' })).text(), 'here')
  await assert.rejects(outbound.fetch(url, { network: 'private' }), (error) => codeOf(error) === 'WP_OUTBOUND_ADDRESS')
})
