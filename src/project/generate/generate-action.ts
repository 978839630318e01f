import { existsSync } from 'node:fs'
import path from 'node:path'
import type { ActionUse, Definition, Location, Method } from '../../definition/index.ts'
import { nearest, type Diagnostic } from '../../kit/index.ts'
import { errors } from '../errors.ts'
import { findProject, type Project } from '../find-project.ts'
import { assertDefinition, loadDespiteMissing } from '../load-project.ts'
import { validateProject } from '../validate.ts'
import { waitUntilServed } from './wait-until-served.ts'
import { nameCronjob, nameRoute } from './name-route.ts'
import { writeAction, type ActionText } from './write-action.ts'
import { writeFiles } from './write-files.ts'

export interface GenerateActionOptions {
  readonly folder: string
  /** Relative to the folder. */
  readonly file: string
  /** `POST /todo`; by default the route that names the file. */
  readonly route?: string | undefined
  readonly dryRun: boolean
  onDiagnostics?(diagnostics: readonly Diagnostic[]): void
}

export interface GeneratedAction {
  /** `POST /todo`, or `cronjob tidy`. */
  readonly use: string
  /** `POST /todo`; undefined for a cronjob. */
  readonly route?: string
  /** The name of the cronjob. */
  readonly cronjob?: string
  readonly action: string
  readonly text: string
  /** The other action that the route uses and continues to use. */
  readonly answeredAt?: string
  /** The URL of the route if a running `dev` of the folder already serves it. */
  readonly servedAt?: string
}

/**
 * Writes the class of an action or a step, for the route, step, listener or cronjob that names its file or for the given route.
 * @throws WP_PROJECT_BROKEN, WP_PROJECT_GENERATE, WP_PROJECT_WRITE
 */
export async function generateAction(options: GenerateActionOptions): Promise<GeneratedAction> {
  const { use, file, text } = await prepareAction(options)
  if (!options.dryRun) {
    await writeFiles(options.folder, [{ file, text, before: undefined }])
    await validateProject(options.folder) // writes the types that the new class uses
  }
  const { name, route, cronjob, at } = use
  const made = {
    use: name,
    ...(route === undefined ? {} : { route }),
    ...(cronjob === undefined ? {} : { cronjob }),
    action: file,
    text,
  }
  if (use.file !== file) return { ...made, answeredAt: `${at?.file}:${at?.line}` }
  const servedAt = options.dryRun || route === undefined ? undefined : await waitUntilServed(options.folder, route)
  return servedAt === undefined ? made : { ...made, servedAt }
}

/**
 * Plans the class of an action. Writes nothing.
 * @throws see `generateAction`
 */
export async function prepareAction(
  options: Omit<GenerateActionOptions, 'dryRun'>,
): Promise<{ readonly use: Use; readonly file: string; readonly text: string }> {
  const project = findProject(options.folder)
  const file = assertFile(project, options.file)
  const definition = await loadUses(project, options)
  const use = chooseUse(findUses(definition), { file, route: options.route })
  return { use, file, text: writeAction({ ...use, isTypeScript: file.endsWith('.ts') }) }
}

/** Missing action files are expected here. All other errors are reported. */
async function loadUses(project: Project, options: Pick<GenerateActionOptions, 'onDiagnostics'>): Promise<Definition> {
  const loaded = await loadDespiteMissing(project)
  return assertDefinition(loaded, (diagnostics) => options.onDiagnostics?.(diagnostics))
}

/**
 * Lists the action files that routes and cronjobs name and that do not exist. If several routes name a file, the first
 * one is returned with it.
 * @throws WP_PROJECT_BROKEN
 */
export async function listMissingActions(
  options: Pick<GenerateActionOptions, 'folder' | 'onDiagnostics'>,
): Promise<readonly { readonly file: string; readonly route?: string | undefined }[]> {
  const project = findProject(options.folder)
  const uses = findUses(await loadUses(project, options)).filter(({ file }) => file !== undefined)
  const byFile = [...Map.groupBy(uses, ({ file }) => file!)].toSorted(([a], [b]) => (a < b ? -1 : 1))
  return byFile.flatMap(([file, naming]) => {
    if (existsSync(path.join(project.root, file))) return []
    const route = naming.length === 1 ? undefined : naming.find((use) => use.route !== undefined)?.route
    return [{ file, route }]
  })
}

function assertFile({ root }: Project, given: string): string {
  const file = path.relative(root, path.resolve(root, given)).split(path.sep).join('/')
  if (file.startsWith('../') || path.isAbsolute(file) || !/(?<!\.d)\.[tj]s$/.test(file)) {
    const hint = 'Use a .ts or .js file in the project, for example src/todo/insert.ts.'
    throw errors.WP_PROJECT_GENERATE({ problem: `"${given}" is not a valid action file`, hint })
  }
  if (existsSync(path.join(root, file))) {
    throw errors.WP_PROJECT_GENERATE({ problem: `${file} already exists`, hint: 'Edit it, or choose another file.' })
  }
  return file
}

/** The use of an action: a method of a route, a listener, a cronjob, or a step. */
interface Use extends Omit<ActionText, 'isTypeScript'> {
  readonly name: string
  readonly route?: string
  readonly cronjob?: string
  /** The file of the current action; undefined for a plugin class. */
  readonly file: string | undefined
  readonly at?: Location
}

export function findUses({ routes, listeners, cronjobs }: Definition): readonly Use[] {
  const methods = routes.flatMap((route) => route.methods.map((method) => describeMethod(route.path, method)))
  const jobs = Object.entries(cronjobs).map(([cronjob, { action }]): Use => {
    const name = `cronjob ${cronjob}`
    return { name, cronjob, key: 'cronjob', className: nameCronjob(cronjob), inputs: {}, file: fileOf(action) }
  })
  const others = Object.entries(listeners).map(([listener, { action }]): Use => {
    const name = `listener ${listener}`
    return {
      name,
      key: `listener:${listener}`,
      className: nameCronjob(listener),
      inputs: { body: true },
      file: fileOf(action),
    }
  })
  return [...methods, ...findSteps(routes), ...others, ...jobs]
}

/** Returns the first use of each file of a step: all methods of a group usually have it. */
function findSteps(routes: Definition['routes']): readonly Use[] {
  const found = new Map<string, Use>()
  for (const { path: route, methods } of routes)
    for (const { method, steps = [] } of methods)
      for (const { name, action } of steps) {
        const file = fileOf(action)
        if (file === undefined || found.has(file)) continue
        const inputs = { params: route.includes('/:') }
        const className = nameCronjob(name)
        found.set(file, { name: `step ${name}`, key: `${method} ${route}`, isStep: true, className, inputs, file })
      }
  return [...found.values()]
}

function describeMethod(path: string, { method, query, request, requestTypes, action, at }: Method): Use {
  const route = `${method} ${path}`
  const { className } = nameRoute(method, path)
  const body = request !== undefined || requestTypes !== undefined
  const inputs = { params: path.includes('/:'), query: query !== undefined, body }
  return { name: route, route, key: route, className, inputs, file: fileOf(action), at }
}

function fileOf(action: ActionUse): string | undefined {
  return 'file' in action ? action.file : undefined
}

function chooseUse(uses: readonly Use[], { file, route }: { file: string; route: string | undefined }): Use {
  if (route !== undefined) return findRoute(uses, route)
  const naming = uses.filter((use) => use.file === file)
  // All cronjobs have the same types. The name is only used in the error that the class throws.
  const [first] = naming
  if (first !== undefined && (naming.length === 1 || naming.every((use) => use.cronjob !== undefined))) return first
  if (first !== undefined) {
    const problem = `${naming.map((use) => use.name).join(' and ')} use ${file}`
    throw errors.WP_PROJECT_GENERATE({ problem, hint: `Choose the route for the types: --route '${first.name}'` })
  }
  const suggestion = nearest(
    file,
    uses.flatMap((use) => use.file ?? []),
  )
  const guess = suggestion === undefined ? '' : `Did you mean ${suggestion}? `
  throw errors.WP_PROJECT_GENERATE({
    problem: `No route, step, listener or cronjob uses ${file}`,
    hint: `${guess}Add it to waypost.yml first, or specify its route: --route 'METHOD /path'`,
  })
}

function findRoute(uses: readonly Use[], route: string): Use {
  const wanted = route.trim().replace(/^\S+\s+/, (method) => `${method.trim().toUpperCase()} `)
  const found = uses.find((use) => use.route === wanted)
  if (found !== undefined) return found
  const suggestion = nearest(
    wanted,
    uses.flatMap((use) => use.route ?? []),
  )
  const hint =
    suggestion === undefined ? 'Create one: waypost generate:route METHOD PATH' : `Did you mean '${suggestion}'?`
  throw errors.WP_PROJECT_GENERATE({ problem: `Unknown route '${wanted}'`, hint })
}
