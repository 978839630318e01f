import { openBuilder } from '../../build/index.ts'
import { version, type Diagnostic } from '../../kit/index.ts'
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
