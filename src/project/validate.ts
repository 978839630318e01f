import { openBuilder } from '../build/index.ts'
import { hasErrors, version, type Diagnostic, type Variables } from '../kit/index.ts'
import { findProject } from './find-project.ts'
import { buildProject } from './load-project.ts'

export interface ValidationReport {
  readonly ok: boolean
  readonly diagnostics: readonly Diagnostic[]
  /** How much was checked; absent when the definition could not be read. */
  readonly counts?: ProjectCounts
}

export interface ProjectCounts {
  readonly routes: number
  readonly methods: number
  readonly schemas: number
  readonly events: number
}

/**
 * Checks everything of a project that needs no server, and writes its types. No code of the project runs.
 * @param variables given, variables that are not set are errors
 */
export async function validateProject(folder: string, variables?: Variables): Promise<ValidationReport> {
  const project = findProject(folder)
  const builder = openBuilder({ ...project, version })
  try {
    const { definition, diagnostics } = await buildProject(project, builder, variables)
    const ok = !hasErrors(diagnostics)
    return definition === undefined ? { ok, diagnostics } : { ok, diagnostics, counts: countDefinition(definition) }
  } finally {
    await builder.close()
  }
}

function countDefinition(definition: {
  routes: readonly { methods: readonly unknown[] }[]
  schemas: object
  events: object
}): ProjectCounts {
  return {
    routes: definition.routes.length,
    methods: definition.routes.reduce((sum, route) => sum + route.methods.length, 0),
    schemas: Object.keys(definition.schemas).length,
    events: Object.keys(definition.events).length,
  }
}
