// Faults in the code that the model must find. Each replaces one text of one file.
import { readFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Fault } from './lanes.ts'

interface Mutant {
  readonly file: string
  readonly text: string
  readonly replacement: string
  /** What has to happen, so that it is found soon. */
  readonly faults: readonly Fault[]
  /** Only in the long form. */
  readonly isLong?: true
  /** The first seed that finds it, so that a test need not run those before; 1 by default. */
  readonly seed?: number
}

const execute = 'src/events/worker/execute.ts'
const memory = 'src/events/worker/memory.ts'
const queues = 'src/events/worker/queues.ts'
const record = 'src/events/worker/record.ts'
const member = 'src/events/lanes/member.ts'

export const mutants: Readonly<Record<string, Mutant>> = {
  'the fence is only read': {
    file: record,
    text: 'if (fence.length === 0) return undefined',
    replacement: 'if (fence.length === 0) fence.push({ now: Date.now() })',
    faults: ['suspend', 'stop'],
    seed: 7,
    isLong: true,
  },
  'the turn is ignored': {
    file: record,
    text: 'waypost_delivery.id = entry.delivery_id and waypost_delivery.turn = entry.turn`\n  const posted',
    replacement: 'waypost_delivery.id = entry.delivery_id`\n  const posted',
    faults: ['loss'],
  },
  'nothing is aborted when the lease ends': {
    file: execute,
    text: '      this.#memory.forgetQueued()\n      this.#abortPosts()',
    replacement: '',
    faults: ['outage'],
    seed: 3,
    isLong: true,
  },
  'what leaves memory during a reading is forgotten': {
    file: memory,
    text: 'this.#left?.add(row.id)',
    replacement: '',
    faults: ['slow'],
    isLong: true,
  },
  'a delivery begins before it is in a note': {
    file: queues,
    text: 'row?.isNoted !== true || !',
    replacement: 'row === undefined || !',
    faults: ['slow'],
    isLong: true,
  },
  'only the monotonic clock counts': {
    file: member,
    text: 'Math.max(this.#clock.monotonic() - monotonic, this.#clock.now() - wall)',
    replacement: 'this.#clock.monotonic() - monotonic + 0 * wall',
    faults: ['suspend'],
    isLong: true,
  },
  'a worker that lives is ended': {
    file: member,
    text: ' and beat = ${beat} returning note',
    replacement: ' returning note',
    faults: ['database-forward', 'slow', 'stop'],
    isLong: true,
  },
  'lanes of a worker that could not be ended are taken': {
    file: member,
    text: 'if (rows.length === 0) return false',
    replacement: 'if (rows.length === 0) return true',
    faults: ['database-forward', 'slow', 'stop'],
    isLong: true,
  },
  'the end of a worker ends no turns': {
    file: member,
    text: 'lost = lost + 1, turn = turn + 1',
    replacement: 'lost = lost + 1',
    faults: ['kill'],
    isLong: true,
  },
  'a lane is always read from its mark': {
    file: 'src/events/worker/low-water.ts',
    text: 'monotonic < mark.until',
    replacement: 'mark.until > 0',
    faults: ['slow'],
    isLong: true,
  },
  'lanes are taken without a look at who has them': {
    file: member,
    text: 'where (${seen})`',
    replacement: 'where (true or ${seen})`',
    faults: ['slow'],
    isLong: true,
  },
}

const root = path.join(import.meta.dirname, '../../..')

/** Loads a file of `src` with a replaced text, if it is loaded after this. */
export function mutate(name: string): void {
  const { file, text, replacement } = mutants[name]!
  const source = path.join(root, file)
  if (readFileSync(source, 'utf8').split(text).length !== 2) throw new Error(`${file} does not contain once: ${text}`)
  registerHooks({
    load(url, context, next) {
      const loaded = next(url, context)
      if (url !== pathToFileURL(source).href) return loaded
      return { ...loaded, source: readFileSync(source, 'utf8').replace(text, () => replacement) }
    },
  })
}
