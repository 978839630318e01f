import { openBuilder, type WrittenTypes } from '../build/index.ts'
import { warnOfSharedOrigin } from '../host/index.ts'
import { hasErrors, version, type Diagnostic, type Variables } from '../kit/index.ts'
import { collectDefinitionFiles } from './definition-files.ts'
import { findProject } from './find-project.ts'
import { buildProject, type LoadedProject } from './load-project.ts'

export interface ValidationReport {
  readonly ok: boolean
  readonly diagnostics: readonly Diagnostic[]
  /** What was checked, also if there are errors. */
  readonly counts: ProjectCounts
  /** The variables that the project uses or declares. */
  readonly variables: readonly string[]
  /** What happened to `.waypost/types.d.ts`; undefined after errors. */
  readonly types?: WrittenTypes
}

export type ProjectCounts = LoadedProject['counts']

/**
 * Checks everything in a project that needs no server, and writes its types if its folder can be written. Runs no
 * project code.
 * @param variables if given, unset variables are errors
 */
export async function validateProject(folder: string, variables?: Variables): Promise<ValidationReport> {
  const project = findProject(folder)
  const builder = openBuilder({ ...project, version })
  try {
    const built = await buildProject(project, builder, variables && { variables })
    const shared = variables && built.definition ? warnOfSharedOrigin(built.definition, variables) : []
    const diagnostics = [...built.diagnostics, ...collectDefinitionFiles(folder, built).diagnostics, ...shared]
    const { counts, types } = built
    return {
      ok: !hasErrors(diagnostics),
      diagnostics,
      counts,
      variables: Object.keys(built.definition?.variables ?? {}),
      ...(types && { types }),
    }
  } finally {
    await builder.close()
  }
}
