import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, request, type IncomingMessage, type Server } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { connect, type AddressInfo } from 'node:net'
import { after, before, beforeEach, test } from 'node:test'
import type { Lookup } from '../../src/outbound/resolve-names.ts'
import { readProxies } from '../../src/outbound/read-proxies.ts'
import { loadFetch, openOutbound, type Outbound } from '../../src/outbound/index.ts'
import { openRemoteTarget } from '../../src/project/deploy/remote/open-remote-target.ts'
import { makeGreeting } from '../backend/deployers.ts'
import { selfSigned } from './self-signed.ts'

const names: Readonly<Record<string, string>> = {
  'public.example': '198.41.0.4',
  'private.example': '10.1.2.3',
  'direct.example': '127.0.0.1',
  localhost: '127.0.0.1',
}
/** Names for which the name server does not answer. */
const unclear = new Set<string>()
const lookup: Lookup = (host, _options, done) => {
  const address = names[host]
  if (unclear.has(host)) done(Object.assign(new Error('no answer'), { code: 'EAI_AGAIN' }), [])
  else if (address === undefined) done(Object.assign(new Error('unknown'), { code: 'ENOTFOUND' }), [])
  else done(null, [{ address, family: 4 }])
}

/** What the proxy was asked for: the URL of a request, or the address of a tunnel. */
const asked: { readonly target: string; readonly credentials: string | undefined }[] = []
let proxy: Server
let target: Server
let secure: Server
let variables: Readonly<Record<string, string>>
let outbound: Outbound
const portOf = (server: Server) => (server.address() as AddressInfo).port

before(async () => {
  const answer = (incoming: IncomingMessage) =>
    JSON.stringify({ path: incoming.url, host: incoming.headers.host, proxied: 'x-proxied' in incoming.headers })
  target = createServer((incoming, response) => {
    incoming.resume()
    if (incoming.url === '/continue') response.writeContinue()
    response.end(answer(incoming))
  }).listen(0, '127.0.0.1')
  secure = createTlsServer(selfSigned, (incoming, response) => response.end(answer(incoming))).listen(0, '127.0.0.1')
  // It knows every name: all of them are the target.
  proxy = createServer((incoming, response) => {
    asked.push({ target: incoming.url!, credentials: incoming.headers['proxy-authorization'] })
    const { pathname } = new URL(incoming.url!)
    const { 'proxy-authorization': _, ...headers } = incoming.headers
    const options = { port: portOf(target), host: '127.0.0.1', path: pathname, method: incoming.method }
    const forwarded = request({ ...options, headers: { ...headers, 'x-proxied': '1' } }, (answered) => {
      response.writeHead(answered.statusCode!, answered.headers)
      answered.pipe(response)
    })
    forwarded.on('continue', () => response.writeContinue())
    incoming.pipe(forwarded)
  }).listen(0, '127.0.0.1')
  proxy.on('connect', (incoming, socket) => {
    asked.push({ target: incoming.url!, credentials: incoming.headers['proxy-authorization'] })
    const tunnel = connect(portOf(incoming.url!.endsWith(':443') ? secure : target), '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n')
      tunnel.pipe(socket).pipe(tunnel)
    })
    for (const one of [tunnel, socket]) one.on('error', () => [tunnel, socket].map((each) => each.destroy()))
  })
  await Promise.all([target, secure, proxy].map((server) => once(server, 'listening')))
  const url = `http://ann:p%40ss@127.0.0.1:${portOf(proxy)}`
  variables = { HTTP_PROXY: url, https_proxy: url, NO_PROXY: 'direct.example 10.9.0.0/16' }
  outbound = openOutbound({
    allow: () => ['10.8.0.0/16', '10.9.0.0/16', '127.0.0.0/8'],
    loopback: false,
    lookup,
    variables,
  })
})
beforeEach(() => void asked.splice(0))
after(async () => {
  await outbound.close()
  for (const server of [target, secure, proxy]) {
    server.closeAllConnections()
    server.close()
  }
})

const credentials = `Basic ${Buffer.from('ann:p@ss').toString('base64')}`
const post = (url: string) =>
  outbound.post({ url, headers: { 'content-type': 'application/json' }, body: '{}', timeoutMs: 20_000 })
const codeOf = (error: unknown): unknown => {
  const { code, cause } = error as { code?: string; cause?: unknown }
  return code ?? (cause === undefined ? undefined : codeOf(cause))
}

test('deliveries and requests go through the proxy that HTTP_PROXY names, with its password', async () => {
  const { status, answer, failure } = await post('http://public.example/hook?a=1')
  assert.deepEqual(
    [status, failure, JSON.parse(answer!)],
    [200, undefined, { path: '/hook', host: 'public.example', proxied: true }],
  )
  const fetched = await outbound.fetch('http://public.example/x')
  assert.equal(((await fetched.json()) as { proxied: boolean }).proxied, true)
  assert.deepEqual(asked, [
    { target: 'http://public.example/hook?a=1', credentials },
    { target: 'http://public.example/x', credentials },
  ])
})

test('https goes through a tunnel, and the certificate must be that of the target', async () => {
  const { status, failure } = await post('https://public.example/hook')
  assert.deepEqual([status, failure], [undefined, 'DEPTH_ZERO_SELF_SIGNED_CERT'])
  assert.deepEqual(asked, [{ target: 'public.example:443', credentials }])
})

test('a target that this machine knows to be private is refused before the proxy is asked', async () => {
  for (const host of ['private.example', '10.1.2.3', '[::ffff:10.1.2.3]', '169.254.169.254']) {
    assert.equal((await post(`http://${host}/`)).failure, 'WP_OUTBOUND_ADDRESS', host)
    await assert.rejects(outbound.fetch(`http://${host}/`), (error) => codeOf(error) === 'WP_OUTBOUND_ADDRESS')
    await assert.rejects(outbound.checkUrl(`http://${host}/`), { code: 'WP_OUTBOUND_ADDRESS' })
  }
  assert.equal(asked.length, 0)
  await outbound.fetch('http://private.example/', { network: 'private' })
  assert.equal((await post('http://10.8.0.1/')).hidden, true)
  assert.deepEqual(
    asked.map((one) => one.target),
    ['http://private.example/', 'http://10.8.0.1/'],
  )
})

test('a name that this machine does not know is left to the proxy, also when a client subscribes', async () => {
  await outbound.checkUrl('http://elsewhere.example/hook')
  assert.equal((await post('http://elsewhere.example/hook')).status, 200)
  assert.equal(asked.length, 1)
})

test('a host is refused while the name server does not answer, and only so long', async () => {
  unclear.add('late.example')
  await assert.rejects(outbound.checkUrl('http://late.example/hook'), { code: 'WP_OUTBOUND_HOST_UNKNOWN' })
  assert.equal((await post('http://late.example/hook')).failure, 'EAI_AGAIN')
  assert.equal(asked.length, 0)
  unclear.clear()
  await outbound.checkUrl('http://late.example/hook')
  assert.equal((await post('http://late.example/hook')).status, 200)
})

test('what NO_PROXY names without being a range is ignored', () => {
  const ranges = '10.0.0.0/255.0.0.0 192.168.1.1/999 10.0.0.0/ 10.0.0.0/-1 10.0.0.0/8/9 ::/129 172.16.0.0/12'
  const { isDirect } = readProxies({ HTTP_PROXY: 'a:1', NO_PROXY: ranges })!
  assert.deepEqual(['10.0.0.0', '192.168.1.1', '198.41.0.4', '::2', '172.16.0.1'].filter(isDirect), ['172.16.0.1'])
})

test('what NO_PROXY names, and this machine itself, is connected to directly', async () => {
  for (const host of ['direct.example', 'localhost', '127.0.0.1', '127.0.0.2']) {
    const { answer, failure } = await post(`http://${host}:${portOf(target)}/`)
    assert.equal(failure, host === '127.0.0.2' ? 'ECONNREFUSED' : undefined, host)
    if (answer !== undefined) assert.equal(JSON.parse(answer).proxied, false)
  }
  assert.deepEqual(asked, [])
})

test('a proxy may pass on 100 Continue', async () => {
  assert.equal((await post('http://public.example/continue')).status, 200)
  assert.equal(asked.length, 1)
})

test('a POST through a proxy that does not answer ends in time', async () => {
  const silent = createServer(() => undefined).listen(0, '127.0.0.1')
  silent.on('connect', () => undefined)
  await once(silent, 'listening')
  const late = openOutbound({
    allow: () => [],
    loopback: false,
    lookup,
    variables: { http_proxy: `127.0.0.1:${portOf(silent)}` },
  })
  for (const url of ['http://public.example/', 'https://public.example/'])
    assert.equal((await late.post({ url, headers: {}, body: '', timeoutMs: 200 })).failure, 'timeout 0.2 s', url)
  await late.close()
  silent.closeAllConnections()
  silent.close()
})

test('with a variable that is not the URL of a proxy, only requests that need it fail, without its value', async () => {
  const isRight = (error: unknown): boolean => {
    const { code, message, cause } = error as Error & { code?: string }
    if (code !== 'WP_OUTBOUND_PROXY') return isRight(cause)
    return /HTTPS_PROXY/.test(message) && !/secret/.test(message)
  }
  for (const value of ['socks5://ann:secret@a:1', 'http://ann:secret@:1', 'http://']) {
    const wrong = { ...variables, https_proxy: value }
    await assert.rejects(loadFetch(wrong), isRight)
    const partly = openOutbound({ allow: () => [], loopback: true, lookup, variables: wrong })
    const send = (url: string) => partly.post({ url, headers: {}, body: '', timeoutMs: 20_000 })
    assert.equal((await send('https://public.example/')).failure, 'WP_OUTBOUND_PROXY')
    await assert.rejects(partly.fetch('https://public.example/'), isRight)
    assert.equal((await send('http://public.example/')).status, 200)
    assert.equal((await send(`https://direct.example:${portOf(secure)}/`)).failure, 'DEPTH_ZERO_SELF_SIGNED_CERT')
    await partly.close()
    const without = openOutbound({ allow: () => [], loopback: true, lookup, variables: { HTTP_PROXY: value } })
    for (const url of ['http://public.example/', 'https://public.example/'])
      assert.equal((await without.post({ url, headers: {}, body: '', timeoutMs: 20_000 })).failure, 'WP_OUTBOUND_PROXY')
    await without.close()
  }
  assert.equal(asked.length, 3)
})

test('a deployment to a URL uses the proxy, except to this machine', async () => {
  const deployable = { release: makeGreeting('hello'), files: [] }
  const url = 'https://public.example'
  const remote = await openRemoteTarget({ url, variables: { ...variables, WAYPOST_TOKEN: 'a-token' } })
  await assert.rejects(remote.survey(deployable), {
    code: 'WP_PROJECT_REMOTE_UNREACHABLE',
    message: /certificate/,
  })
  assert.deepEqual(asked, [{ target: 'public.example:443', credentials }])
  asked.splice(0)
  const fetch = await loadFetch(variables)
  assert.equal((await fetch(`http://127.0.0.1:${portOf(target)}/`)).status, 200)
  assert.deepEqual(asked, [])
  assert.equal(await loadFetch({}), globalThis.fetch)
})
