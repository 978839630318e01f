import {
  chmodSync,
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import path from 'node:path'

/** What a build replaces, and what locates it. Everything else that the command line reads of a checkout is linked. */
const copied = new Set(['bin', 'dist', 'oclif.manifest.json', 'package.json'])

/**
 * Copies the built command line, so that a build beside running tests does not replace what they start. The copy is in
 * the checkout, where packages are found, and has the same name in each run, so that its compiled code stays cached; of
 * runs at the same time, each has its own. It is removed when this process ends.
 */
export function makeSnapshot(root: string): string {
  const folder = claimFolder(root)
  process.once('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
  for (const name of readdirSync(root)) {
    const [from, to] = [path.join(root, name), path.join(folder, name)]
    if (copied.has(name)) cpSync(from, to, { recursive: true })
    else if (name !== '.git' && !name.startsWith('dist.')) symlinkSync(from, to)
  }
  return folder
}

/** The owner is in the folder before it gets its name: a folder without one is a leftover. */
function claimFolder(root: string): string {
  const own = mkdtempSync(path.join(root, 'dist.tests-'))
  chmodSync(own, 0o755) // some tests run commands as another user
  writeFileSync(path.join(own, '.owner'), String(process.pid))
  for (let number = 1; ; number++) {
    const folder = path.join(root, `dist.tests-${number}`)
    if (isOwned(folder)) continue
    rmSync(folder, { recursive: true, force: true })
    try {
      renameSync(own, folder)
      return folder
    } catch (error) {
      if (!['ENOTEMPTY', 'EEXIST'].includes(String((error as NodeJS.ErrnoException).code))) throw error
    }
  }
}

function isOwned(folder: string): boolean {
  try {
    process.kill(Number(readFileSync(path.join(folder, '.owner'), 'utf8')), 0)
    return true
  } catch {
    return false
  }
}
