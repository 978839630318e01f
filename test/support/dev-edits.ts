import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { get, type Agent, type IncomingMessage } from 'node:http'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { LoadAnswer } from './steady-load.ts'
import { abortTimeoutMs } from './until.ts'

/** The header in which a probed `dev` returns the latest edit that its watcher had reported before the request. */
export const editHeader = 'x-edit-seen'

/** Something that is edited repeatedly, and whose responses show the edit. */
export interface Editable {
  readonly port: number
  readonly file: string
  /** The path whose response shows it. */
  readonly path: string
  change(text: string, edit: number): string
  read(answer: Readonly<Record<string, unknown>>): unknown
}

/** The action of `GET /todo` in the to-do project. */
export function todoAction(folder: string, port: number): Editable {
  return {
    port,
    file: path.join(folder, 'src/todo/collection.ts'),
    path: '/todo',
    change: (text, edit) => text.replace(/itemsPerPage = \d+/, `itemsPerPage = ${edit}`),
    read: (answer) => answer['itemsPerPage'],
  }
}

/** The YAML of `/todo` in the to-do project. */
export function todoYaml(folder: string, port: number): Editable {
  return {
    port,
    file: path.join(folder, 'resources/routes/todo/collection.yml'),
    path: '/todo',
    change: (text, edit) => text.replace(/minimum: \d+, default: \d+/, `minimum: 0, default: ${edit}`),
    read: (answer) => answer['startIndex'],
  }
}

/**
 * Writes an edit and sends requests until a response shows it.
 * @returns milliseconds from the write to that response
 */
export async function showEdit(editable: Editable, edit: number, agent: Agent): Promise<number> {
  const text = editable.change(await readFile(editable.file, 'utf8'), edit)
  const began = performance.now()
  await writeFile(editable.file, text)
  while (performance.now() - began < abortTimeoutMs) {
    if (editable.read(await fetchJson(editable, agent)) === edit) return performance.now() - began
    await pause(0) // lets the server work between requests
  }
  throw new Error(`Edit ${edit} of ${path.basename(editable.file)} did not show within ${abortTimeoutMs / 1000} s`)
}

async function fetchJson({ port, path }: Editable, agent: Agent): Promise<Record<string, unknown>> {
  const [response] = (await once(get({ port, host: '127.0.0.1', path, agent }), 'response')) as [IncomingMessage]
  const parts: Buffer[] = []
  for await (const part of response) parts.push(part as Buffer)
  return JSON.parse(Buffer.concat(parts).toString('utf8')) as Record<string, unknown>
}

/** Returns what is wrong with a response of the to-do list, whose action and YAML edits share one numbering. */
export function judgeTodoList({ status, headers, text }: LoadAnswer): string | undefined {
  if (status !== 200) return `${status} ${text}`
  const { itemsPerPage, startIndex } = JSON.parse(text) as Readonly<Record<string, number>>
  const shown = Math.max(itemsPerPage ?? 0, startIndex ?? 0)
  const seen = Number(headers[editHeader])
  return shown >= seen ? undefined : `shows edit ${shown} although the watcher had reported ${seen}`
}
