import { setTimeout as wait } from 'node:timers/promises'
import { probeAgent } from '../../kit/index.ts'
import { findRunningDev } from '../dev-server-file.ts'

const timeoutMs = 3000
const pauseMs = 100

/**
 * Waits until the running `dev` of a folder serves a route after a reload.
 * @param route `POST /order`
 * @returns the URL of the route; undefined if no `dev` is running or the route is not served
 */
export async function waitUntilServed(folder: string, route: string): Promise<string | undefined> {
  const dev = await findRunningDev(folder)
  if (dev === undefined) return undefined
  const [method = '', path = ''] = route.split(' ')
  const sample = new URL(path.replaceAll(/:\w+/g, '0'), dev.url)
  for (const end = performance.now() + timeoutMs; performance.now() < end; await wait(pauseMs)) {
    if ((await listMethods(sample)).includes(method)) return dev.url + path
  }
  return undefined
}

async function listMethods(url: URL): Promise<readonly string[]> {
  try {
    const { headers } = await fetch(url, {
      method: 'OPTIONS',
      headers: { 'user-agent': probeAgent },
      signal: AbortSignal.timeout(timeoutMs),
    })
    return headers.get('allow')?.split(', ') ?? []
  } catch {
    return []
  }
}
