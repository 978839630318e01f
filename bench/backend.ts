import Fastify from 'fastify'
import type { AddressInfo } from 'node:net'
import type { Browser, BrowserContextOptions } from 'playwright-core'
import { openBackendWorld, openSignedIn, origin } from '../test/browser/backend-world.ts'
import { openPage } from '../test/support/browser.ts'
import { atMost, beside, type Figure } from './goal.ts'
import { scaled } from './scale.ts'
import { median } from './statistics.ts'

const rounds = scaled(7)

/**
 * Measures the first page of the backend for a signed-in user with an empty cache: the JavaScript before it, and the
 * time until its content is shown, compared with a page of one line.
 */
export async function measureBackend(): Promise<Figure[]> {
  await using world = await openBackendWorld()
  const state = await signIn(world)
  const plain = Fastify()
  plain.get('/', (_, reply) => reply.type('text/html').send('<!doctype html><div id="content"><h1>Plain</h1></div>'))
  await plain.listen({ host: '127.0.0.1', port: 0 })
  const plainOrigin = `http://127.0.0.1:${(plain.server.address() as AddressInfo).port}`
  const times: number[] = []
  const plainTimes: number[] = []
  let scripts: readonly string[] = []
  for (let round = -1; round < rounds; round++) {
    const first = await load(world.browser, { origin, path: '/backend/ui', options: { storageState: state } })
    const other = await load(world.browser, { origin: plainOrigin, path: '/', options: {} })
    if (round < 0) continue // warms up compiled code
    scripts = first.scripts
    times.push(first.ms)
    plainTimes.push(other.ms)
  }
  await plain.close()
  const sizes = await Promise.all(scripts.map((url) => sizeOf(url, world.server.port)))
  const kilobytes = sizes.reduce((sum, size) => sum + size, 0) / 1024
  const seconds = median(times) / 1000
  return [
    atMost('JavaScript before the first page of the backend, gzipped', { value: kilobytes, unit: 'KB' }, 230),
    atMost('first page of the backend until its content, empty cache', { value: seconds, unit: 's' }, 1),
    beside(
      '  a page of one line',
      { value: median(plainTimes) / 1000, unit: 's' },
      seconds / (median(plainTimes) / 1000),
    ),
  ]
}

type World = Awaited<ReturnType<typeof openBackendWorld>>

async function signIn(world: World): Promise<NonNullable<BrowserContextOptions['storageState']>> {
  await using watched = await world.open()
  await openSignedIn(watched.page)
  return await watched.page.context().storageState()
}

interface Loading {
  readonly origin: string
  readonly path: string
  readonly options: BrowserContextOptions
}

/** Opens a page with an empty cache. */
async function load(
  browser: Browser,
  { origin: of, path, options }: Loading,
): Promise<{ readonly ms: number; readonly scripts: readonly string[] }> {
  await using watched = await openPage(browser, of, options)
  const { page } = watched
  const scripts = new Set<string>() // the redirects of signing in request some again, from the cache
  page.on('request', (request) => {
    if (request.resourceType() === 'script') scripts.add(request.url())
  })
  const start = performance.now()
  await page.goto(`${of}${path}`, { waitUntil: 'commit' })
  await page.locator('#content h1').waitFor()
  return { ms: performance.now() - start, scripts: [...scripts] }
}

/** Returns the bytes of a gzipped file. */
async function sizeOf(url: string, port: number): Promise<number> {
  const answer = await fetch(url.replace(origin, `http://127.0.0.1:${port}`), {
    headers: { host: new URL(origin).host, 'accept-encoding': 'gzip' },
  })
  await answer.arrayBuffer()
  if (answer.headers.get('content-encoding') !== 'gzip') throw new Error(`${url} is not gzipped`)
  return Number(answer.headers.get('content-length'))
}
