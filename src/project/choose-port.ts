import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { readPort } from '../host/index.ts'
import type { DevOptions, TakenPort } from './dev-options.ts'
import { findRunningDev, type RunningDev } from './dev-server-file.ts'
import { errors } from './errors.ts'
import { findPortOwner, type PortOwner } from './port-owner.ts'

/** The number of ports to try above a taken one. */
const portsToTry = 20
const maxCommandLength = 60

/**
 * Chooses the port before anything listens, because the issuer of tokens contains it.
 * @throws WP_PROJECT_PORT if it is taken and no other was confirmed
 */
export async function choosePort(options: DevOptions, host: string): Promise<number> {
  const wanted = readPort(options.variables, options.port)
  if (wanted === 0) return (await tryPort(host, 0)) ?? 0
  if ((await tryPort(host, wanted)) !== undefined) return wanted
  const taken = await describeTaken(options.folder, host, wanted)
  if ((await options.onPortTaken?.(taken)) === true) return taken.next
  const hint = taken.dev === undefined ? 'Stop it, or use' : `It already reloads on every save: ${taken.dev}. Or use`
  throw errors.WP_PROJECT_PORT({
    port: wanted,
    owner: taken.owner,
    hint: `${hint} another port: npx waypost dev --port ${taken.next}`,
  })
}

async function describeTaken(folder: string, host: string, port: number): Promise<TakenPort> {
  const [own, owner, next] = await Promise.all([findDevOn(folder, port), findPortOwner(port), findNext(host, port)])
  if (own !== undefined) return { port, next, owner: `waypost dev of this project (process ${own.pid})`, dev: own.url }
  return { port, next, owner: await describeOwner(owner, port), dev: undefined }
}

async function describeOwner(owner: PortOwner | undefined, port: number): Promise<string> {
  if (owner === undefined) return 'another process'
  const { pid, command, folder } = owner
  const isDev = folder !== undefined && (await findDevOn(folder, port)) !== undefined
  if (isDev) return `waypost dev of ${folder} (process ${pid})`
  const shown = command.length > maxCommandLength ? `${command.slice(0, maxCommandLength - 1)}…` : command
  return `"${shown}"${folder === undefined ? '' : ` in ${folder}`} (process ${pid})`
}

async function findDevOn(folder: string, port: number): Promise<RunningDev | undefined> {
  const running = await findRunningDev(folder)
  return running !== undefined && URL.parse(running.url)?.port === String(port) ? running : undefined
}

async function findNext(host: string, port: number): Promise<number> {
  for (let next = port + 1; next <= Math.min(port + portsToTry, 65_535); next++) {
    if ((await tryPort(host, next)) !== undefined) return next
  }
  return (await tryPort(host, 0)) ?? 0
}

/** @returns the port if it is free, where 0 is any free port; undefined if it is taken */
async function tryPort(host: string, port: number): Promise<number | undefined> {
  const probe = createServer()
  try {
    await once(probe.listen(port, host), 'listening')
  } catch (error) {
    // Other problems are reported when the server listens.
    return (error as NodeJS.ErrnoException).code === 'EADDRINUSE' ? undefined : port
  }
  const found = (probe.address() as AddressInfo).port
  await once(probe.close(), 'close')
  return found
}
