import type { ClassCatalog } from '../../definition/index.ts'
import { sha256, version } from '../../kit/index.ts'
import { assertServable, type Manifest, type releaseErrors } from '../../release/index.ts'
import { errors } from '../errors.ts'
import { checkApart } from './check-apart.ts'
import { checkManifest, type ManifestProblem } from './check-manifest.ts'

/** Takes a document for the manifest of a release once it was found to be one. */
export type ManifestGate = (document: unknown) => Promise<Manifest>

/** Manifests that were found to be sound, by their hashes: the same one comes for a plan and then to be activated. */
const soundLimit = 16

/** Characters that are checked at once; more may take long, and are checked in a thread. */
const smallLength = 64 * 1024

/** The gate of a server with these classes; it throws WP_BACKEND_MANIFEST and WP_BACKEND_OLDER. */
export function makeManifestGate(classes: ClassCatalog): ManifestGate {
  const sound = new Set<string>()
  const plainClasses = JSON.parse(JSON.stringify(classes)) as ClassCatalog
  let threads: Promise<unknown> = Promise.resolve()

  async function findProblems(document: unknown, text: string): Promise<readonly ManifestProblem[]> {
    if (text.length <= smallLength) {
      const checked = await checkManifest(document, classes)
      return 'problems' in checked ? checked.problems : []
    }
    const found = threads.then(() => checkApart({ text, classes: plainClasses })) // one after another
    threads = found.catch(() => undefined)
    return found
  }

  return async (document) => {
    const text = writeText(document)
    const hash = sha256(text)
    if (!sound.has(hash)) {
      const problems = await findProblems(document, text)
      if (problems.length > 0) throw refuseManifest(problems)
      if (sound.size >= soundLimit) sound.clear()
      sound.add(hash)
    }
    const manifest = document as Manifest
    assertNotNewer(manifest)
    return manifest
  }
}

export function refuseManifest(problems: readonly ManifestProblem[]): Error {
  const [first, ...others] = problems
  const problem = `${first?.path === '' ? 'it' : first?.path} ${first?.message}`.slice(0, 500)
  return errors.WP_BACKEND_MANIFEST({ problem, more: others.length === 0 ? '' : ` (and ${others.length} more)` })
}

/** @throws WP_BACKEND_MANIFEST for what is too deep to be written */
function writeText(document: unknown): string {
  try {
    return JSON.stringify(document)
  } catch {
    throw refuseManifest([{ path: '', message: 'is nested too deeply' }])
  }
}

function assertNotNewer(manifest: Manifest): void {
  try {
    assertServable(manifest)
  } catch (cause) {
    if (!(cause instanceof Error) || !('code' in cause) || cause.code !== newerCode) throw cause
    throw errors.WP_BACKEND_OLDER({ built: manifest.waypost, own: version }, { cause })
  }
}

const newerCode: keyof typeof releaseErrors.table = 'WP_RELEASE_NEWER'
