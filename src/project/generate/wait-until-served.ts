import { setTimeout as wait } from 'node:timers/promises'
import { probeAgent } from '../../kit/index.ts'
import { findRunningDev } from '../dev-server-file.ts'

/**
 * The limit is counted in responses, about 3 s of them, because a busy `dev` responds as slowly as it notices a save. While
 * it reloads it does not respond.
 */
const maxResponses = 30
const pauseMs = 100
/** Longer than `dev` lets requests wait while it reloads. */
const timeoutMs = 15_000

/**
 * Waits until the running `dev` of a folder serves a route after a reload.
 * @param route `POST /order`
 * @returns the URL of the route; undefined if no `dev` is running or the route is not served
 */
export async function waitUntilServed(folder: string, route: string): Promise<string | undefined> {
  const dev = await findRunningDev(folder)
  if (dev === undefined) return undefined
  const [method = '', path = ''] = route.split(' ')
  const sample = new URL(path.replaceAll(/[:*]\w+/g, '0'), dev.url)
  for (let responses = 0; responses < maxResponses; responses++) {
    const methods = await listMethods(sample)
    if (methods === undefined) return undefined
    if (methods.includes(method)) return dev.url + path
    await wait(pauseMs)
  }
  return undefined
}

/** @returns undefined without a response */
async function listMethods(url: URL): Promise<readonly string[] | undefined> {
  try {
    const { headers } = await fetch(url, {
      method: 'OPTIONS',
      headers: { 'user-agent': probeAgent },
      signal: AbortSignal.timeout(timeoutMs),
    })
    return headers.get('allow')?.split(', ') ?? []
  } catch {
    return undefined
  }
}
