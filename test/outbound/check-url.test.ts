import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fc, runs, wildText, webUrl } from '../support/property.ts'
import { isWaypostError } from '../../src/kit/index.ts'
import { openOutbound } from '../../src/outbound/index.ts'
import type { Lookup } from '../../src/outbound/resolve-names.ts'

const names: Readonly<Record<string, readonly string[]>> = {
  'public.example': ['93.184.215.14', '2606:2800:21f:cb07::1'],
  'private.example': ['10.0.0.1'],
  'mixed.example': ['93.184.215.14', '127.0.0.1'],
  'six.example': ['::ffff:127.0.0.1'],
  'nothing.example': [],
}

const lookup: Lookup = (host, _options, done) => {
  const found = names[host]
  if (found === undefined) return done(Object.assign(new Error(`ENOTFOUND ${host}`), { code: 'ENOTFOUND' }), [])
  return done(
    null,
    found.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
  )
}

function makeCheck(options: { loopback?: boolean; allow?: readonly string[] } = {}) {
  const { loopback = false, allow = [] } = options
  return openOutbound({ lookup, loopback, allow: () => allow })
}

const cases: readonly (readonly [url: string, code: string | undefined])[] = [
  ['https://public.example/hook?x=1', undefined],
  ['http://public.example:8080', undefined],
  ['HTTPS://PUBLIC.EXAMPLE/', undefined],
  ['https://93.184.215.14/', undefined],
  ['https://[2606:2800:21f:cb07::1]/', undefined],
  ['https://private.example/', 'WP_OUTBOUND_ADDRESS'],
  ['https://mixed.example/', 'WP_OUTBOUND_ADDRESS'],
  ['https://six.example/', 'WP_OUTBOUND_ADDRESS'],
  ['https://unknown.example/', 'WP_OUTBOUND_HOST_UNKNOWN'],
  ['https://nothing.example/', 'WP_OUTBOUND_HOST_UNKNOWN'],
  ['http://127.0.0.1/', 'WP_OUTBOUND_ADDRESS'],
  ['http://127.1/', 'WP_OUTBOUND_ADDRESS'],
  ['http://2130706433/', 'WP_OUTBOUND_ADDRESS'],
  ['http://0x7f000001/', 'WP_OUTBOUND_ADDRESS'],
  ['http://0x7f.0.0.0x1/', 'WP_OUTBOUND_ADDRESS'],
  ['http://017700000001/', 'WP_OUTBOUND_ADDRESS'],
  ['http://0177.0.0.01/', 'WP_OUTBOUND_ADDRESS'],
  ['http://１２７.０.０.１/', 'WP_OUTBOUND_ADDRESS'],
  ['http://127。0。0。1/', 'WP_OUTBOUND_ADDRESS'],
  ['http://0/', 'WP_OUTBOUND_ADDRESS'],
  ['http://[::1]/', 'WP_OUTBOUND_ADDRESS'],
  ['http://[::]/', 'WP_OUTBOUND_ADDRESS'],
  ['http://[::ffff:127.0.0.1]/', 'WP_OUTBOUND_ADDRESS'],
  ['http://[0:0:0:0:0:ffff:a00:1]/', 'WP_OUTBOUND_ADDRESS'],
  ['http://[::127.0.0.1]/', 'WP_OUTBOUND_ADDRESS'],
  ['http://[64:ff9b::7f00:1]/', 'WP_OUTBOUND_ADDRESS'],
  ['http://[2002:7f00:1::]/', 'WP_OUTBOUND_ADDRESS'],
  ['http://[fe80::1%25eth0]/', 'WP_OUTBOUND_URL'],
  ['https://user@public.example/', 'WP_OUTBOUND_URL'],
  ['https://user:password@public.example/', 'WP_OUTBOUND_URL'],
  ['https://:password@public.example/', 'WP_OUTBOUND_URL'],
  ['https://public.example/#part', 'WP_OUTBOUND_URL'],
  ['ftp://public.example/', 'WP_OUTBOUND_URL'],
  ['file:///etc/passwd', 'WP_OUTBOUND_URL'],
  ['javascript:alert(1)', 'WP_OUTBOUND_URL'],
  ['//public.example/', 'WP_OUTBOUND_URL'],
  ['public.example', 'WP_OUTBOUND_URL'],
  ['http://', 'WP_OUTBOUND_URL'],
  [' https://public.example/', 'WP_OUTBOUND_URL'],
  ['https://public.example/\0', 'WP_OUTBOUND_URL'],
  ['https://public.\nexample/', 'WP_OUTBOUND_URL'],
  ['https://public.example/\ud800', 'WP_OUTBOUND_URL'],
  ['https://public.example/ä?ö=ü', undefined],
  ['', 'WP_OUTBOUND_URL'],
  [`https://public.example/${'x'.repeat(2048)}`, 'WP_OUTBOUND_URL'],
]

for (const [url, code] of cases) {
  test(`${code === undefined ? 'takes' : `refuses (${code})`} ${url.slice(0, 60)}`, async () => {
    const outbound = makeCheck()
    const check = outbound.checkUrl(url)
    if (code === undefined) await check
    else await assert.rejects(check, { code, status: 400 })
    await outbound.close()
  })
}

test('accepts loopback on a development System, and ranges of delivery_allow', async () => {
  const outbound = makeCheck({ loopback: true, allow: ['10.0.0.0/24'] })
  for (const url of ['http://127.0.0.1:4000/', 'http://[::1]/', 'https://private.example/', 'https://mixed.example/']) {
    await outbound.checkUrl(url)
  }
  await assert.rejects(outbound.checkUrl('http://10.0.1.1/'), { code: 'WP_OUTBOUND_ADDRESS' })
  await outbound.close()
})

test('accepts localhost only if loopback is open', async () => {
  for (const loopback of [true, false]) {
    const outbound = openOutbound({ loopback, allow: () => [] })
    if (loopback) await outbound.checkUrl('http://localhost:1/')
    else await assert.rejects(outbound.checkUrl('http://localhost:1/'), { code: 'WP_OUTBOUND_ADDRESS' })
    await outbound.close()
  }
})

test('any text is accepted or rejected with an error', async () => {
  const outbound = makeCheck()
  const schemes = fc.constantFrom('http://', 'https://', 'http:', 'HTTP:\\\\', 'ws://', '')
  const hosts = fc.oneof(
    fc.ipV4Extended(),
    fc.ipV6(),
    fc.ipV6().map((text) => `[${text}]`),
    fc.domain(),
    wildText(),
  )
  const urls = fc.tuple(schemes, hosts, wildText()).map((parts) => parts.join(''))
  const texts = fc.oneof(wildText({ maxLength: 3000 }), webUrl(), urls)
  await fc.assert(
    fc.asyncProperty(texts, async (text) => {
      try {
        await outbound.checkUrl(text)
      } catch (error) {
        assert.ok(isWaypostError(error), String(error))
        assert.match(error.code, /^WP_OUTBOUND_(URL|ADDRESS|HOST_UNKNOWN)$/)
      }
    }),
    { numRuns: runs(2000) },
  )
  await outbound.close()
})
