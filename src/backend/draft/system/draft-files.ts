import { hasTooManyParts, type Texts } from '../../../definition/index.ts'
import { isStorable } from '../../../kit/index.ts'
import { findFilesProblem, findPathProblem, mayAddFile } from '../../../release/index.ts'
import { errors } from '../../errors.ts'
import type { FileChange } from '../file-change.ts'

/** @throws WP_BACKEND_DRAFT_REFUSED */
export function assertWritable(changes: readonly FileChange[], before: Texts, after: Texts): void {
  for (const { file, text } of changes) {
    if (text === undefined) continue
    const reason =
      findPathProblem(file) ??
      (before.has(file) || mayAddFile(file, before.keys()) ? undefined : 'it is not a file of the definition') ??
      (isStorable(text) ? undefined : 'it contains a NUL character')
    if (reason !== undefined) throw errors.WP_BACKEND_DRAFT_REFUSED({ file, reason })
  }
  const problem = findFilesProblem([...after].map(([file, text]) => ({ path: file, bytes: Buffer.byteLength(text) })))
  if (problem !== undefined) throw errors.WP_BACKEND_DRAFT_REFUSED({ file: problem.path, reason: problem.problem })
  const isMigration = (file: string) => file.startsWith('migrations/') && !file.endsWith('/tables.json')
  const [migrations, others] = [true, false].map((is) =>
    [...after].filter(([file]) => isMigration(file) === is && !file.endsWith('/tables.json')).map(([, text]) => text),
  )
  if (hasTooManyParts(migrations!) || hasTooManyParts(others!)) {
    const reason = 'the definition would have more than 200,000 lines and items'
    throw errors.WP_BACKEND_DRAFT_REFUSED({ file: changes[0]!.file, reason })
  }
}

/** Returns files with all migrations of the active release, which have run, and the newer `tables.json`. */
export function keepMigrations(active: Texts, wanted: Texts): Texts {
  const kept = new Map(wanted)
  for (const [file, text] of active) {
    const [, connection] = /^migrations\/([^/]+)\/[^/]+$/.exec(file) ?? []
    if (connection === undefined) continue
    const own = [...active.keys()].filter((one) => one.startsWith(`migrations/${connection}/`))
    if (!file.endsWith('/tables.json') || !own.every((one) => wanted.has(one))) kept.set(file, text)
  }
  return kept
}
