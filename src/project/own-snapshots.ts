import { readFile } from 'node:fs/promises'
import path from 'node:path'

/** The snapshots of tables that reloads write themselves. */
export interface OwnSnapshots {
  note(written: readonly string[]): Promise<void>
  /** Leaves out files that still have the text that a reload has written. */
  leaveOut(files: readonly string[]): Promise<readonly string[]>
}

export function makeOwnSnapshots(folder: string): OwnSnapshots {
  /** Texts by file. */
  const snapshots = new Map<string, string>()
  const textOf = (file: string) => readFile(path.join(folder, file), 'utf8').catch(() => '')
  return {
    async note(written) {
      for (const file of written.filter((one) => one.endsWith('.json')))
        snapshots.set(file.split(path.sep).join('/'), await textOf(file))
    },
    async leaveOut(files) {
      const isForeign = async (file: string) => !snapshots.has(file) || snapshots.get(file) !== (await textOf(file))
      const foreign = await Promise.all(files.map(isForeign))
      return files.filter((_, index) => foreign[index])
    },
  }
}
