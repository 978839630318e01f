import assert from 'node:assert/strict'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { announceDev, findRunningDev } from '../../src/project/dev-server-file.ts'
import { listeningUrls } from '../../src/project/listening-urls.ts'
import { findPortOwner, listeningInodes, parseLsof } from '../../src/project/port-owner.ts'

test('listening sockets of a port are found in a table of sockets', () => {
  const table = [
    '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode',
    '   0: 0100007F:0BB8 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4711 1 0 100 0 0 10 0',
    '   1: 0100007F:0BB8 0100007F:9C40 01 00000000:00000000 00:00000000 00000000     0        0 4712 1 0 20 4 30 10 -1',
    '   2: 00000000:0BB9 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4713 1 0 100 0 0 10 0',
  ].join('\n')
  assert.deepEqual(listeningInodes(table, 3000), ['4711'])
  assert.deepEqual(listeningInodes(table, 80), [])
})

test('the output of lsof is parsed', () => {
  assert.deepEqual(parseLsof('p4711\ncnode\nf21\n'), { pid: 4711, command: 'node', folder: undefined })
  assert.equal(parseLsof(''), undefined)
})

test('the process that listens on a port is found', { skip: process.platform === 'win32' }, async () => {
  const server = createServer()
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  assert.equal((await findPortOwner(port))?.pid, process.pid)
  server.close()
  await once(server, 'close')
  assert.equal(await findPortOwner(port), undefined)
})

test('addresses are written so that they can be opened', () => {
  assert.deepEqual(listeningUrls('127.0.0.1', 3000), { url: 'http://localhost:3000', network: [] })
  assert.deepEqual(listeningUrls('192.0.2.7', 80), { url: 'http://192.0.2.7:80', network: [] })
  assert.deepEqual(listeningUrls('fe80::1', 80), { url: 'http://[fe80::1]:80', network: [] })
  const every = { url: 'http://localhost:3000', network: ['http://192.0.2.7:3000'] }
  assert.deepEqual(listeningUrls('0.0.0.0', 3000, ['192.0.2.7']), every)
})

test('a running dev is found in its folder; the marker of an ended one is ignored', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'waypost-dev-file-'))
  const file = path.join(folder, '.waypost/server.json')
  const server = createServer((_, response) => response.end('{}'))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  try {
    assert.equal(await findRunningDev(folder), undefined)
    const takeBack = await announceDev(folder, url)
    assert.deepEqual(await findRunningDev(folder), { url, pid: process.pid })

    await writeFile(file, JSON.stringify({ url, pid: 2 ** 30 }))
    assert.equal(await findRunningDev(folder), undefined, 'a process that is gone')
    takeBack()
    assert.ok(existsSync(file), 'what another one wrote is left')
    for (const text of ['', 'null', '{"pid":1}', '[]']) {
      await writeFile(file, text)
      assert.equal(await findRunningDev(folder), undefined, text)
    }

    const again = await announceDev(folder, url)
    server.close()
    server.closeAllConnections()
    assert.equal(await findRunningDev(folder), undefined, 'nothing answers')
    again()
    assert.ok(!existsSync(file))
  } finally {
    await rm(folder, { recursive: true })
  }
})
