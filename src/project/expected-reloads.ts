import { readFileSync } from 'node:fs'
import path from 'node:path'
import type { ExpectedChange, ExpectedReload } from './draft/folder-draft.ts'
import { isWatchedFile } from './watch-project.ts'

const expectedMs = 10_000

interface ExpectedWrite {
  /** The files with their texts before. */
  readonly files: ReadonlyMap<string, string | undefined>
  readonly missing: Set<string>
  /** Whether all files are written, also if one has its earlier text again. */
  isWritten: boolean
  done(isReloaded: boolean): void
}

/** The files of each that are written. A reload for an earlier save of such a file may not contain them. */
export type Written = ReadonlyMap<ExpectedWrite, ReadonlySet<string>>

/** The reloads of files that the pages of the backend write. */
export interface ExpectedReloads {
  expect(changes: readonly ExpectedChange[]): ExpectedReload
  /** Returns `backend` if its pages have written all files. */
  findOrigin(files: readonly string[]): 'backend' | undefined
  /** Returns the files that are written by now. */
  listWritten(): Written
  /** Notes that files were reloaded. @param written those that were written when the load began; all by default */
  note(files: readonly string[], written?: Written): void
}

export function makeExpectedReloads(folder: string): ExpectedReloads {
  const expected = new Set<ExpectedWrite>()
  return {
    expect(changes) {
      const { promise, resolve } = Promise.withResolvers<boolean>()
      const files = new Map(
        changes.flatMap(({ file, before }) => (isWatchedFile(file) ? [[file, before] as const] : [])),
      )
      const timer = setTimeout(() => one.done(false), expectedMs)
      const one: ExpectedWrite = {
        files,
        missing: new Set(files.keys()),
        isWritten: false,
        done(isReloaded) {
          clearTimeout(timer)
          expected.delete(one)
          resolve(isReloaded)
        },
      }
      expected.add(one)
      if (files.size === 0) one.done(true)
      return { done: promise, written: () => void (one.isWritten = true), cancel: () => one.done(false) }
    },
    findOrigin(files) {
      const written = [...expected].flatMap((one) => [...one.files.keys()])
      // The watcher also reports new folders.
      const isOfBackend = (file: string) => written.some((one) => one === file || one.startsWith(`${file}/`))
      return files.length > 0 && files.every(isOfBackend) ? 'backend' : undefined
    },
    listWritten() {
      const isChanged = (file: string, before: string | undefined) => textNow(path.join(folder, file)) !== before
      const listOf = ({ files, isWritten }: ExpectedWrite) =>
        [...files].flatMap(([file, before]) => (isWritten || isChanged(file, before) ? [file] : []))
      return new Map([...expected].map((one) => [one, new Set(listOf(one))]))
    },
    note(files, written) {
      for (const one of expected) {
        const own = written === undefined ? files : files.filter((file) => written.get(one)?.has(file))
        for (const file of own) one.missing.delete(file)
        if (one.missing.size === 0) one.done(true)
      }
    },
  }
}

function textNow(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
}
