import { openBuilder, type WrittenTypes } from '../build/index.ts'
import type { Definition } from '../definition/index.ts'
import { readBackendSettings } from '../host/index.ts'
import { hasErrors, version, type Diagnostic, type Variables } from '../kit/index.ts'
import { collectDefinitionFiles } from './definition-files.ts'
import { errors } from './errors.ts'
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

/** Pages with scripts should not share the origin of the backend, whose users have many rights. */
function warnOfSharedOrigin({ routes }: Definition, variables: Variables): readonly Diagnostic[] {
  const { mode, url } = readBackendSettings(variables)
  if (mode === 'off' || url !== undefined) return []
  for (const { path, methods } of routes) {
    const method = methods.find(({ html }) => html === 'trusted')
    if (method === undefined) continue
    const { file, line, column } = method.at
    const { code, message, hint = '' } = errors.WP_PROJECT_SHARED_ORIGIN({ name: `${method.method} ${path}` })
    const range = { start: { line, column }, end: { line, column: column + method.method.length } }
    return [{ code, severity: 'warning', message, hint, file, range }]
  }
  return []
}
