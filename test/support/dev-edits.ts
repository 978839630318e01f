import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { get, type Agent, type IncomingMessage } from 'node:http'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { LoadAnswer } from './steady-load.ts'
import { abortTimeoutMs } from './until.ts'

/** The header by which a probed `dev` tells the newest edit that its watcher had reported before the request. */
export const editHeader = 'x-edit-seen'

/** Something that is edited again and again, and where an answer shows which edit it is of. */
export interface Editable {
  readonly port: number
  readonly file: string
  /** The path whose answer shows it. */
  readonly path: string
  change(text: string, edit: number): string
  read(answer: Readonly<Record<string, unknown>>): unknown
}

/** Of the to-do project: the action behind `GET /todo`. */
export function todoAction(folder: string, port: number): Editable {
  return {
    port,
    file: path.join(folder, 'src/todo/collection.ts'),
    path: '/todo',
    change: (text, edit) => text.replace(/itemsPerPage = \d+/, `itemsPerPage = ${edit}`),
    read: (answer) => answer['itemsPerPage'],
  }
}

/** Of the to-do project: the YAML of `/todo`. */
export function todoYaml(folder: string, port: number): Editable {
  return {
    port,
    file: path.join(folder, 'resources/routes/todo/collection.yml'),
    path: '/todo',
    change: (text, edit) => text.replace(/minimum: \d+, default: \d+/, `minimum: 0, default: ${edit}`),
    read: (answer) => answer['startIndex'],
  }
}

/** Writes an edit and asks until an answer shows it. @returns milliseconds from the write to that answer */
export async function showEdit(editable: Editable, edit: number, agent: Agent): Promise<number> {
  const text = editable.change(await readFile(editable.file, 'utf8'), edit)
  const began = performance.now()
  await writeFile(editable.file, text)
  while (performance.now() - began < abortTimeoutMs) {
    if (editable.read(await fetchJson(editable, agent)) === edit) return performance.now() - began
    await pause(0) // so that asking does not keep the server from working
  }
  throw new Error(`Edit ${edit} of ${path.basename(editable.file)} did not show within ${abortTimeoutMs / 1000} s`)
}

async function fetchJson({ port, path }: Editable, agent: Agent): Promise<Record<string, unknown>> {
  const [response] = (await once(get({ port, host: '127.0.0.1', path, agent }), 'response')) as [IncomingMessage]
  const parts: Buffer[] = []
  for await (const part of response) parts.push(part as Buffer)
  return JSON.parse(Buffer.concat(parts).toString('utf8')) as Record<string, unknown>
}

/** What is wrong with an answer of the to-do list, edits of whose action and YAML were numbered in one row. */
export function judgeTodoList({ status, headers, text }: LoadAnswer): string | undefined {
  if (status !== 200) return `${status} ${text}`
  const { itemsPerPage, startIndex } = JSON.parse(text) as Readonly<Record<string, number>>
  const shown = Math.max(itemsPerPage ?? 0, startIndex ?? 0)
  const seen = Number(headers[editHeader])
  return shown >= seen ? undefined : `shows edit ${shown} although the watcher had reported ${seen}`
}
