import { execFileSync } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'

export interface SmallDisk extends AsyncDisposable {
  readonly folder: string
}

/** Mounts a small file system of its own; undefined where that is not allowed. */
export async function mountDisk(size: string): Promise<SmallDisk | undefined> {
  const folder = await mkdtemp(path.join(tmpdir(), 'waypost-disk-'))
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', folder], { stdio: 'ignore' })
  } catch {
    await rm(folder, { recursive: true })
    return undefined
  }
  return {
    folder,
    async [Symbol.asyncDispose]() {
      execFileSync('umount', ['--lazy', folder])
      await rm(folder, { recursive: true })
    },
  }
}
