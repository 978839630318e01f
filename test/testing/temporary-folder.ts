import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'

/**
 * Makes a folder that this process uses for its temporary files, so that what is left behind is not that of other
 * tests.
 * @returns the folder, and what removes it and restores the process
 */
export async function useTemporaryFolder(): Promise<{ folder: string; remove(): Promise<void> }> {
  const { TMPDIR: before } = process.env
  const folder = await mkdtemp(path.join(tmpdir(), 'waypost-testing-'))
  process.env['TMPDIR'] = folder
  return {
    folder,
    remove() {
      if (before === undefined) delete process.env['TMPDIR']
      else process.env['TMPDIR'] = before
      return rm(folder, { recursive: true })
    },
  }
}
