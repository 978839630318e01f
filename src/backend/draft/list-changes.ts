import { diffArrays } from 'diff'
import type { Texts } from '../../definition/index.ts'

/** A file that differs between two states of a definition, with its lines as `git diff --stat` counts them. */
export interface ChangedFile {
  readonly file: string
  readonly status: 'added' | 'changed' | 'removed'
  readonly additions: number
  readonly deletions: number
  readonly before: string | undefined
  readonly after: string | undefined
}

/** Limits the work for files that have little in common; beyond it all lines count as changed. */
const maxEditLength = 1000

/** Lists the changed files by name. Git may have stored other line breaks than the folder has; they do not count. */
export function listChanges(before: Texts, after: Texts): readonly ChangedFile[] {
  const files = [...new Set([...before.keys(), ...after.keys()])].toSorted()
  return files.flatMap((file): readonly ChangedFile[] => {
    const [old, now] = [before.get(file), after.get(file)]
    if (plain(old) === plain(now)) return []
    const status = old === undefined ? 'added' : now === undefined ? 'removed' : 'changed'
    const [oldLines, nowLines] = [splitLines(old), splitLines(now)]
    const parts = diffArrays(oldLines, nowLines, { maxEditLength })
    const count = (kind: 'added' | 'removed') =>
      parts!.reduce((sum, part) => sum + (part[kind] ? part.value.length : 0), 0)
    const [additions, deletions] =
      parts === undefined ? [nowLines.length, oldLines.length] : [count('added'), count('removed')]
    return [{ file, status, additions, deletions, before: old, after: now }]
  })
}

function plain(text: string | undefined): string | undefined {
  return text?.replaceAll('\r\n', '\n')
}

function splitLines(text = ''): string[] {
  return text === '' ? [] : text.replace(/\r?\n$/, '').split(/\r?\n/)
}
