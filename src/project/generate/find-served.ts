import { setTimeout as wait } from 'node:timers/promises'
import { probeAgent } from '../../kit/index.ts'
import { findRunningDev } from '../dev-server-file.ts'

const longestMs = 3000
const pauseMs = 100

/**
 * Waits until the `dev` that runs in a folder answers a route, which takes as long as a reload.
 * @param route `POST /order`
 * @returns the address of the route; undefined where no `dev` runs, or where it does not take it over
 */
export async function findServed(folder: string, route: string): Promise<string | undefined> {
  const dev = await findRunningDev(folder)
  if (dev === undefined) return undefined
  const [method = '', path = ''] = route.split(' ')
  const sample = new URL(path.replaceAll(/:\w+/g, '0'), dev.url)
  for (const end = performance.now() + longestMs; performance.now() < end; await wait(pauseMs)) {
    if ((await listMethods(sample)).includes(method)) return dev.url + path
  }
  return undefined
}

async function listMethods(url: URL): Promise<readonly string[]> {
  try {
    const { headers } = await fetch(url, {
      method: 'OPTIONS',
      headers: { 'user-agent': probeAgent },
      signal: AbortSignal.timeout(longestMs),
    })
    return headers.get('allow')?.split(', ') ?? []
  } catch {
    return []
  }
}
