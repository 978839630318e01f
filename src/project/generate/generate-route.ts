import type { Definition } from '../../definition/index.ts'
import type { Diagnostic } from '../../kit/index.ts'
import { errors } from '../errors.ts'
import { findProject, type Project } from '../find-project.ts'
import { assertDefinition, loadProject, type LoadedProject } from '../load-project.ts'
import { validateProject } from '../validate.ts'
import { waitUntilServed } from './wait-until-served.ts'
import { planRoute, type RoutePlan } from './plan-route.ts'
import type { MethodBodies } from './shape-method.ts'
import { findChanges, locateAdded, readTexts, writeFiles } from './write-files.ts'

export interface GenerateRouteOptions extends MethodBodies {
  readonly folder: string
  /** With colon-prefixed parameters, for example `/order/:order_id`. */
  readonly path: string
  /** The scopes of the method; by default those of the existing route. */
  readonly scopes?: readonly string[] | undefined
  readonly public: boolean
  /** Plan and check everything, but write nothing. */
  readonly dryRun: boolean
  onDiagnostics?(diagnostics: readonly Diagnostic[]): void
}

type PreparedOptions = Omit<GenerateRouteOptions, 'dryRun'>

export interface GeneratedRoute {
  /** `POST /order` */
  readonly route: string
  /** The file of its class, to be edited next. */
  readonly action: string
  /** New files, relative to the folder. */
  readonly created: readonly { readonly file: string; readonly text: string }[]
  /** New entries in definition files. */
  readonly added: readonly { readonly name: string; readonly file: string; readonly line: number }[]
  /** The URL of the route if a running `dev` of the folder already serves it. */
  readonly servedAt?: string
}

/**
 * Writes a method of a route atomically: its YAML, its schemas, a class without code, and the entry in waypost.yml.
 * Existing comments, order and formatting are kept.
 * @throws WP_PROJECT_BROKEN, WP_PROJECT_GENERATE, WP_PROJECT_GENERATE_ACCESS, WP_PROJECT_WRITE, WP_DEFINITION_EDIT_REFUSED
 */
export async function generateRoute(options: GenerateRouteOptions): Promise<GeneratedRoute> {
  const { generated, changes } = await prepareRoute(options)
  if (options.dryRun) return generated
  await writeFiles(options.folder, changes)
  await validateProject(options.folder) // writes the types that the new class uses
  const servedAt = await waitUntilServed(options.folder, generated.route)
  return servedAt === undefined ? generated : { ...generated, servedAt }
}

/**
 * Plans and checks a method of a route. Writes nothing.
 * @throws see `generateRoute`
 */
export async function prepareRoute(
  options: PreparedOptions,
): Promise<{ readonly generated: GeneratedRoute; readonly changes: ReturnType<typeof findChanges> }> {
  const project = findProject(options.folder)
  const loaded = await loadProject(project)
  const report = (diagnostics: readonly Diagnostic[]) => options.onDiagnostics?.(diagnostics)
  const definition = findEmpty(loaded) ?? assertDefinition(loaded, report)
  assertBody(options)
  assertNew(definition, options)
  const before = await readTexts(project, loaded.files)
  const plan = planRoute(project.root, { definition, texts: before }, options)
  const found = await assertFits(project, plan, options)
  report(found.filter((one) => !loaded.diagnostics.some((known) => isSame(one, known))))
  const changes = findChanges(project, before, plan.texts)
  return { generated: describe(project, plan, { options, changes }), changes }
}

/** Returns the definition of an empty waypost.yml, an error that the first route fixes. */
function findEmpty({ partial, diagnostics }: LoadedProject): Definition | undefined {
  return diagnostics.every(({ code }) => code === 'WP_DEFINITION_EMPTY') ? partial : undefined
}

function assertBody({ method, request }: PreparedOptions): void {
  if (request === undefined || ['POST', 'PUT', 'PATCH'].includes(method)) return
  const hint = 'Only POST, PUT and PATCH have one.'
  throw errors.WP_PROJECT_GENERATE({ problem: `${method} has no request body`, hint })
}

function assertNew({ routes }: Definition, { method, path: wanted }: PreparedOptions): void {
  const known = routes.find(({ path }) => path === wanted)?.methods.find((one) => one.method === method)
  if (known === undefined) return
  const { file, line } = known.at
  const hint =
    'file' in known.action ? `Its action is ${known.action.file}.` : `Its action is the class ${known.action.class}.`
  throw errors.WP_PROJECT_GENERATE({ problem: `${method} ${wanted} already exists at ${file}:${line}`, hint })
}

/** Compares without line numbers, which change when text is inserted above. */
function isSame(one: Diagnostic, other: Diagnostic): boolean {
  return one.code === other.code && one.message === other.message && one.file === other.file
}

/**
 * Loads the project with the planned changes, so that errors are found before anything is written.
 * @returns its warnings
 */
async function assertFits(project: Project, plan: RoutePlan, options: PreparedOptions): Promise<readonly Diagnostic[]> {
  const { method, path: wanted } = options
  const after = await loadProject(project, { texts: plan.texts })
  if (after.definition === undefined) throw validationError(after.diagnostics, `${method} ${wanted}`)
  return after.diagnostics
}

function validationError(diagnostics: readonly Diagnostic[], route: string): Error {
  const found = diagnostics.filter((one) => one.severity === 'error')
  if (found.some(({ code }) => code === 'WP_DEFINITION_SCOPE_MISSING'))
    return errors.WP_PROJECT_GENERATE_ACCESS({ route })
  const { message, hint } =
    found.find(({ code }) => /_(PATH_(INVALID|RESERVED)|ROUTE_DUPLICATE)$/.test(code)) ?? found[0]!
  return errors.WP_PROJECT_GENERATE({ problem: message, hint: hint ?? 'Nothing was written.' })
}

interface GeneratedParts {
  readonly options: PreparedOptions
  readonly changes: ReturnType<typeof findChanges>
}

function describe(
  { root }: Project,
  { texts, action, added }: RoutePlan,
  { options, changes }: GeneratedParts,
): GeneratedRoute {
  return {
    route: `${options.method} ${options.path}`,
    action,
    created: changes.flatMap(({ file, text, before }) => (before === undefined ? [{ file, text }] : [])).toReversed(),
    added: locateAdded(root, { texts, added }),
  }
}
