import { createHook } from 'node:async_hooks'
import { findSourceMap } from 'node:module'
import { getCallSites, type CallSiteObject } from 'node:util'
import { messageOf, setCloseRegister, withDeadline } from '../kit/index.ts'
import { isArtifactUrl, resolveStack } from './artifact-urls.ts'
import { errors } from './errors.ts'

/** Something that code of a release has opened and not closed. */
export interface LeftOpen {
  /** For example `timer` or `server`. */
  readonly kind: string
  /** The place of the project that opened it, such as `src/todo/insert.ts:8`. */
  readonly place: string
  /** Whether Waypost has ended it: only timers that no module in use has helped to start. */
  readonly isEnded: boolean
}

/** How the modules of a release were closed. */
export interface ClosedModules {
  readonly left: readonly LeftOpen[]
  /** Of functions that were given to `onClose`. */
  readonly errors: readonly Error[]
}

interface Frame {
  readonly url: string
  readonly line: number
  readonly column: number
}

interface Resource {
  readonly kind: string
  readonly of: WeakRef<object>
  /** The frames of the release, innermost first. */
  readonly frames: readonly Frame[]
  /** The URLs of these frames whose modules are still in use. */
  readonly users: Set<string>
}

interface Closer {
  readonly owner: string
  readonly close: () => unknown
}

const kinds: Readonly<Record<string, string>> = {
  Timeout: 'timer',
  TCPSERVERWRAP: 'server',
  PIPESERVERWRAP: 'server',
  TCPWRAP: 'socket',
  PIPEWRAP: 'socket',
  UDPWRAP: 'socket',
  FSEVENTWRAP: 'file watcher',
  STATWATCHER: 'file watcher',
  PROCESSWRAP: 'child process',
  WORKER: 'thread',
}
const closeMs = 5000

// Node has one module registry for each process, so these are global too.
const resources = new Map<number, Resource>()
let closers: Closer[] = []

const hook = createHook({
  init(id, type, _trigger, resource) {
    const kind = kinds[type]
    if (kind === undefined) return
    const frames = findFrames(kind)
    if (frames.length === 0) return
    resources.set(id, { kind, of: new WeakRef(resource), frames, users: new Set(frames.map(({ url }) => url)) })
  },
  destroy: (id) => void resources.delete(id),
  trackPromises: false,
})
let watchers = 0

/** Notes from now on what code of releases opens, until the returned function is called. */
export function watchResources(): () => void {
  setCloseRegister((close) => {
    // The module that calls it. Those that call the module may end while others use what it has opened.
    const [frame] = findFrames()
    if (frame !== undefined) closers.push({ owner: frame.url, close })
  })
  watchers += 1
  hook.enable()
  let isWatching = true
  return () => {
    if (isWatching) watchers -= 1
    isWatching = false
    if (watchers === 0) hook.disable()
  }
}

/** Whether modules have opened something without others, or have given functions to `onClose`. */
export function haveResources(urls: ReadonlySet<string>): boolean {
  return (
    closers.some(({ owner }) => urls.has(owner)) ||
    [...resources.values()].some((one) => [...one.users].every((url) => urls.has(url)) && isOpen(one))
  )
}

/** Calls what modules have given to `onClose`, the last one first, then ends timers that only they have started. */
export async function closeModules(urls: ReadonlySet<string>): Promise<ClosedModules> {
  const own = closers.filter(({ owner }) => urls.has(owner)).toReversed()
  closers = closers.filter(({ owner }) => !urls.has(owner))
  const failed: Error[] = []
  const end = performance.now() + closeMs // together, because a stopping server waits for them
  for (const { close, owner } of own) {
    const late = () => {
      throw errors.WP_RELEASE_CLOSE_WAITS({ file: describeModule(owner), seconds: closeMs / 1000 })
    }
    await withDeadline((async () => close())(), Math.max(0, end - performance.now()), late).catch((cause: unknown) => {
      const isLate = (cause as { code?: unknown }).code === 'WP_RELEASE_CLOSE_WAITS'
      const failure = () =>
        errors.WP_RELEASE_CLOSE({ file: describeModule(owner), reason: messageOf(cause) }, { cause })
      failed.push(isLate ? (cause as Error) : failure())
    })
  }
  return { left: endTimers(urls), errors: failed }
}

function endTimers(urls: ReadonlySet<string>): LeftOpen[] {
  const left: LeftOpen[] = []
  for (const [id, one] of resources) {
    const unused = [...one.users].filter((url) => urls.has(url))
    if (unused.length === 0) continue
    for (const url of unused) one.users.delete(url)
    const isInUse = one.users.size > 0
    if (!isInUse || !isOpen(one)) resources.delete(id)
    // A module in use that closes what it has opened will close this too.
    if (!isOpen(one) || closers.some(({ owner }) => one.users.has(owner))) continue
    const isEnded = one.kind === 'timer' && !isInUse
    if (isEnded) clearTimeout(one.of.deref() as NodeJS.Timeout)
    left.push({ kind: one.kind, place: describePlace(one.frames), isEnded })
  }
  return left
}

interface Handle {
  /** Of a timer: whether it has been cleared or has fired, which no hook reports while it is disabled. */
  readonly _destroyed?: boolean
  /** Of a socket or server: negative if it is closed. */
  readonly fd?: number
  hasRef?(): boolean
}

function isOpen({ kind, of }: Resource): boolean {
  const handle: Handle | undefined = of.deref()
  if (handle === undefined) return false
  if (kind === 'timer') return handle._destroyed !== true
  // Idle connections of agents do not keep the process alive, and close by themselves.
  return (handle.fd ?? 0) >= 0 && handle.hasRef?.() === true
}

/**
 * Returns the frames of releases if code of one opens a resource itself. Timers and sockets of Waypost, such as those of a
 * connection, and of `fetch`, which all code shares, must not be ended with a release.
 */
function findFrames(kind?: string): readonly Frame[] {
  // A request starts several timers, of which the innermost frames nearly always tell that they are not of a release.
  if (kind !== undefined && isForeign(readSites(12), kind)) return []
  const sites = readSites(200)
  if (kind !== undefined && isForeign(sites, kind)) return []
  const own = sites.filter(({ scriptName }) => isArtifactUrl(scriptName))
  return own.map(({ scriptName, lineNumber, columnNumber }) => ({
    url: scriptName,
    line: lineNumber,
    column: columnNumber,
  }))
}

function readSites(count: number): readonly CallSiteObject[] {
  return getCallSites(count, { sourceMap: false })
}

/** Whether something other than a release opens the resource. */
function isForeign(sites: readonly CallSiteObject[], kind: string): boolean {
  const opener = sites.find(({ scriptName }) => isArtifactUrl(scriptName) || !mayOpen(scriptName, kind))
  return opener !== undefined && !isArtifactUrl(opener.scriptName)
}

const ownFile = import.meta.url

function mayOpen(script: string, kind: string): boolean {
  if (script === ownFile || script.startsWith('node:internal/async_hooks')) return true
  return kind === 'timer'
    ? /^node:(?:internal\/)?timers(?:\/promises)?$/.test(script)
    : script.startsWith('node:') && !script.includes('undici')
}

function describePlace(frames: readonly Frame[]): string {
  const places = frames.map(locate)
  const own = places.find((place) => !place.includes('node_modules/')) ?? places[0]!
  return own
}

function locate({ url, line, column }: Frame): string {
  const origin = findSourceMap(url)?.findOrigin(line, column)
  if (origin === undefined || !('fileName' in origin)) return `${url}:${line}`
  return `${resolveStack(origin.fileName)}:${origin.lineNumber}`
}

function describeModule(url: string): string {
  return locate({ url, line: 1, column: 1 }).replace(/:\d+$/, '')
}
