import type { ExpectedReload } from './draft/folder-draft.ts'
import { isWatchedFile } from './watch-project.ts'

const expectedMs = 10_000

/** The reloads of files that the pages of the backend write. */
export interface ExpectedReloads {
  expect(files: readonly string[]): ExpectedReload
  /** Returns `backend` if its pages have written all files. */
  findOrigin(files: readonly string[]): 'backend' | undefined
  /** Notes that files were reloaded. */
  note(files: readonly string[]): void
}

export function makeExpectedReloads(): ExpectedReloads {
  const expected = new Set<{
    readonly files: ReadonlySet<string>
    readonly missing: Set<string>
    done(isReloaded: boolean): void
  }>()
  return {
    expect(files) {
      const { promise, resolve } = Promise.withResolvers<boolean>()
      const watched = files.filter((file) => isWatchedFile(file))
      const timer = setTimeout(() => one.done(false), expectedMs)
      const one = {
        files: new Set(watched),
        missing: new Set(watched),
        done(isReloaded: boolean) {
          clearTimeout(timer)
          expected.delete(one)
          resolve(isReloaded)
        },
      }
      expected.add(one)
      if (watched.length === 0) one.done(true)
      return { done: promise, cancel: () => one.done(false) }
    },
    findOrigin(files) {
      const written = [...expected].flatMap((one) => [...one.files])
      // The watcher also reports new folders.
      const isOfBackend = (file: string) => written.some((one) => one === file || one.startsWith(`${file}/`))
      return files.length > 0 && files.every(isOfBackend) ? 'backend' : undefined
    },
    note(files) {
      for (const one of expected) {
        for (const file of files) one.missing.delete(file)
        if (one.missing.size === 0) one.done(true)
      }
    },
  }
}
