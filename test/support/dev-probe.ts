// Loaded into a measured `dev` before everything else: node --expose-gc --import THIS …
// Reports what the process holds, and marks each response with the latest edit that the watcher had reported when the
// request arrived. Production code does not know about it.
import { channel } from 'node:diagnostics_channel'
import { EventEmitter } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { setImmediate } from 'node:timers/promises'
import { editHeader } from './dev-edits.ts'
import type { Held } from './held.ts'

/** The number of an edit in an action or in the YAML of a route. */
const editMark = /(?:itemsPerPage =|default:) (\d+)/

let seen = 0

process.on('message', () => void tell())
process.channel?.unref()
channel('http.server.request.start').subscribe((message) => {
  const { response } = message as { readonly response: ServerResponse }
  response.setHeader(editHeader, seen)
})

// Uses chokidar's own event, the earliest time at which an edit can be noticed. The built `dev` contains its own copy
// of chokidar, whose watcher is recognized by its name.
const { emit } = EventEmitter.prototype
EventEmitter.prototype.emit = function (this: EventEmitter, ...all: Parameters<typeof emit>) {
  const [event, , file] = all as readonly unknown[]
  if (event === 'all' && typeof file === 'string' && this.constructor.name === 'FSWatcher')
    seen = Math.max(seen, readEdit(file))
  return emit.apply(this, all)
}

function readEdit(file: string): number {
  try {
    return Number(editMark.exec(readFileSync(file, 'utf8'))?.[1] ?? 0)
  } catch {
    return 0 // removed, or a folder
  }
}

async function tell(): Promise<void> {
  for (let round = 0; round < 4; round++) {
    await setImmediate()
    globalThis.gc?.()
  }
  const resources: Record<string, number> = {}
  for (const name of process.getActiveResourcesInfo()) resources[name] = (resources[name] ?? 0) + 1
  const { heapUsed: heapBytes, rss: rssBytes } = process.memoryUsage()
  const held: Held = { heapBytes, rssBytes, resources, descriptors: countDescriptors() }
  process.send?.(held)
}

function countDescriptors(): number {
  try {
    return readdirSync('/proc/self/fd').length
  } catch {
    return 0
  }
}
