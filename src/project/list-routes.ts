import type { ActionUse, Definition } from '../definition/index.ts'
import type { Diagnostic } from '../kit/index.ts'
import { findProject } from './find-project.ts'
import { assertDefinition, loadProject } from './load-project.ts'

/** A method of a route. */
export interface ListedRoute {
  readonly method: string
  readonly path: string
  readonly public: boolean
  /** A token needs one of these scopes; an empty list accepts any valid token. */
  readonly scopes: readonly string[]
  /** A project file, or the name of a plugin class. */
  readonly action: string
  /** `file:line` */
  readonly source: string
  readonly description?: string
  /** The date of deprecation; true if no date is given. */
  readonly deprecated?: string | true
}

export interface ListOptions {
  readonly folder: string
  onDiagnostics(diagnostics: readonly Diagnostic[]): void
}

/**
 * Lists the routes of a project by path and method.
 * @throws WP_PROJECT_BROKEN after reporting the diagnostics
 */
export async function listRoutes({ folder, onDiagnostics }: ListOptions): Promise<readonly ListedRoute[]> {
  const definition = assertDefinition(await loadProject(findProject(folder)), onDiagnostics)
  return listMethods(definition).toSorted((a, b) => compare(a.path, b.path) || rank(a) - rank(b))
}

function listMethods({ routes }: Definition): ListedRoute[] {
  return routes.flatMap(({ path, deprecated, methods }) =>
    methods.map(({ method, public: isPublic, scopes, action, description, at }) => ({
      method,
      path,
      public: isPublic,
      scopes: isPublic ? [] : scopes,
      action: nameAction(action),
      source: `${at.file}:${at.line}`,
      ...(description === undefined ? {} : { description }),
      ...(deprecated === undefined ? {} : { deprecated }),
    })),
  )
}

function nameAction(action: ActionUse): string {
  return 'file' in action ? action.file : action.class
}

const methodOrder = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']

function rank({ method }: ListedRoute): number {
  return methodOrder.indexOf(method)
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b)
}
