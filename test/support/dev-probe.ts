// Loaded into a `dev` that is measured, before anything else of it: node --expose-gc --import THIS …
// It tells what the process holds, and marks each answer with the newest edit that the watcher had reported when the
// request came in. Production code knows nothing of it.
import { channel } from 'node:diagnostics_channel'
import { readdirSync, readFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { setImmediate } from 'node:timers/promises'
import { FSWatcher } from 'chokidar'
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

// chokidar's own event is the moment: what the watcher has not reported nobody can have noticed.
const emit = FSWatcher.prototype.emit
FSWatcher.prototype.emit = function (this: FSWatcher, ...all: Parameters<typeof emit>) {
  const [event, , file] = all as unknown as readonly string[]
  if (event === 'all' && file !== undefined) seen = Math.max(seen, readEdit(file))
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
  const held: Held = { heapBytes: process.memoryUsage().heapUsed, resources, descriptors: countDescriptors() }
  process.send?.(held)
}

function countDescriptors(): number {
  try {
    return readdirSync('/proc/self/fd').length
  } catch {
    return 0
  }
}
