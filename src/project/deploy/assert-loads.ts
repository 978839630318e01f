import { checkModules } from '../../build/index.ts'
import { hasErrors, type Diagnostic } from '../../kit/index.ts'
import { artifactLoader } from '../../release/index.ts'
import { errors } from '../errors.ts'
import type { Deployable } from './target.ts'

/** Loads each module once, in a process of its own. @throws WP_PROJECT_BROKEN after the diagnostics were reported */
export async function assertLoads(
  { release }: Deployable,
  report: (diagnostics: readonly Diagnostic[]) => void,
): Promise<void> {
  const broken = await checkModules(release, { loader: artifactLoader })
  if (!hasErrors(broken)) return
  report(broken)
  throw errors.WP_PROJECT_BROKEN({ count: broken.length === 1 ? '1 error' : `${broken.length} errors` })
}
