import { checkModules, openBuilder } from '../../build/index.ts'
import { hasErrors, version, type Diagnostic } from '../../kit/index.ts'
import { artifactLoader } from '../../runtime/index.ts'
import { errors } from '../errors.ts'
import type { Project } from '../find-project.ts'
import { assertBuilt, buildProject } from '../load-project.ts'
import type { Deployable } from './target.ts'

type Report = (diagnostics: readonly Diagnostic[]) => void

/** Builds a project. @throws WP_PROJECT_BROKEN after the diagnostics were reported */
export async function buildDeployable(project: Project, report: Report): Promise<Deployable> {
  const builder = openBuilder({ ...project, version })
  try {
    const built = await buildProject(project, builder)
    return { release: assertBuilt(built, report), plugins: built.plugins }
  } finally {
    await builder.close()
  }
}

/** Loads each module once, in a process of its own. @throws WP_PROJECT_BROKEN after the diagnostics were reported */
export async function assertLoads({ release }: Deployable, report: Report): Promise<void> {
  const broken = await checkModules(release, { loader: artifactLoader })
  if (!hasErrors(broken)) return
  report(broken)
  throw errors.WP_PROJECT_BROKEN({ count: broken.length === 1 ? '1 error' : `${broken.length} errors` })
}
