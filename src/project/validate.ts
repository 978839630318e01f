import { openBuilder } from '../build/index.ts'
import { hasErrors, version, type Diagnostic, type Variables } from '../kit/index.ts'
import { findProject } from './find-project.ts'
import { buildProject, type LoadedProject } from './load-project.ts'

export interface ValidationReport {
  readonly ok: boolean
  readonly diagnostics: readonly Diagnostic[]
  /** How much was checked, also where it has errors. */
  readonly counts: ProjectCounts
}

export type ProjectCounts = LoadedProject['counts']

/**
 * Checks everything of a project that needs no server, and writes its types. No code of the project runs.
 * @param variables given, variables that are not set are errors
 */
export async function validateProject(folder: string, variables?: Variables): Promise<ValidationReport> {
  const project = findProject(folder)
  const builder = openBuilder({ ...project, version })
  try {
    const { diagnostics, counts } = await buildProject(project, builder, variables)
    return { ok: !hasErrors(diagnostics), diagnostics, counts }
  } finally {
    await builder.close()
  }
}
