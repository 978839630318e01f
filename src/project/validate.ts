import { openBuilder } from '../build/index.ts'
import { hasErrors, version, type Diagnostic, type Variables } from '../kit/index.ts'
import { collectDefinitionFiles } from './definition-files.ts'
import { findProject } from './find-project.ts'
import { buildProject, type LoadedProject } from './load-project.ts'

export interface ValidationReport {
  readonly ok: boolean
  readonly diagnostics: readonly Diagnostic[]
  /** What was checked, also if there are errors. */
  readonly counts: ProjectCounts
}

export type ProjectCounts = LoadedProject['counts']

/**
 * Checks everything in a project that needs no server, and writes its types. Runs no project code.
 * @param variables if given, unset variables are errors
 */
export async function validateProject(folder: string, variables?: Variables): Promise<ValidationReport> {
  const project = findProject(folder)
  const builder = openBuilder({ ...project, version })
  try {
    const built = await buildProject(project, builder, variables && { variables })
    const diagnostics = [...built.diagnostics, ...collectDefinitionFiles(folder, built).diagnostics]
    const { counts } = built
    return { ok: !hasErrors(diagnostics), diagnostics, counts }
  } finally {
    await builder.close()
  }
}
