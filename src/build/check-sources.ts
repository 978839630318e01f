import { realpath } from 'node:fs/promises'
import type { Definition } from '../definition/index.ts'
import type { Diagnostic } from '../kit/index.ts'
import { checkBundle } from './check-bundle.ts'
import { checkErrors, checkWarnings } from './check-messages.ts'
import { filesToBundle, findEntries } from './find-entries.ts'
import { sortDiagnostics } from './make-diagnostic.ts'
import { nameEntries, openBundler } from './open-bundler.ts'

/**
 * Checks the sources of a project whose definition has errors, so that all problems are reported in one pass. Does not
 * create a release.
 * @param partial the valid parts of the definition
 */
export async function checkSources(folder: string, partial: Definition): Promise<readonly Diagnostic[]> {
  const root = await realpath(folder)
  const entries = await findEntries(root, partial)
  // The connection may be missing because of a definition error.
  const diagnostics = entries.diagnostics.filter(({ code }) => code !== 'WP_BUILD_MIGRATION_CONNECTION')
  const files = filesToBundle(entries)
  if (files.length === 0) return sortDiagnostics(diagnostics)
  const bundler = await openBundler(root, nameEntries(files))
  try {
    const { bundle, errors, warnings } = await bundler.bundle()
    const found = bundle === undefined ? [] : await checkBundle(root, bundle, entries)
    return sortDiagnostics([
      ...diagnostics,
      ...(await checkErrors(root, errors)),
      ...checkWarnings(root, warnings),
      ...found,
    ])
  } finally {
    await bundler.close()
  }
}
