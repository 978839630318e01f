import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'

/**
 * Creates a folder for temporary files of this process, so that leftovers of other tests do not matter.
 * @returns the folder, and a function that removes it and restores the process
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
