import type { Texts } from '../../definition/index.ts'
import { countLines, type LineCounts } from './count-lines.ts'

/** A file that differs between two states of a definition. */
export interface ChangedFile extends LineCounts {
  readonly file: string
  readonly status: 'added' | 'changed' | 'removed'
  readonly before: string | undefined
  readonly after: string | undefined
}

/** Lists the changed files by name. Git may have stored other line breaks than the folder has; they do not count. */
export function listChanges(before: Texts, after: Texts): readonly ChangedFile[] {
  const files = [...new Set([...before.keys(), ...after.keys()])].toSorted()
  return files.flatMap((file): readonly ChangedFile[] => {
    const [old, now] = [before.get(file), after.get(file)]
    if (plain(old) === plain(now)) return []
    const status = old === undefined ? 'added' : now === undefined ? 'removed' : 'changed'
    return [{ file, status, ...countLines(old, now), before: old, after: now }]
  })
}

function plain(text: string | undefined): string | undefined {
  return text?.replaceAll('\r\n', '\n')
}
