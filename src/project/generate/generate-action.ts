import { existsSync } from 'node:fs'
import path from 'node:path'
import type { Definition, Method } from '../../definition/index.ts'
import { nearest, type Diagnostic } from '../../kit/index.ts'
import { errors } from '../errors.ts'
import { findProject, type Project } from '../find-project.ts'
import { assertDefinition, loadProject } from '../load-project.ts'
import { validateProject } from '../validate.ts'
import { findServed } from './find-served.ts'
import { nameRoute } from './name-route.ts'
import { writeAction } from './write-action.ts'
import { writeFiles } from './write-files.ts'

export interface GenerateActionOptions {
  readonly folder: string
  /** Relative to the folder. */
  readonly file: string
  /** `POST /todo`; absent, the route that names the file. */
  readonly route?: string | undefined
  readonly dryRun: boolean
  onDiagnostics?(diagnostics: readonly Diagnostic[]): void
}

export interface GeneratedAction {
  readonly route: string
  readonly action: string
  readonly text: string
  /** Where the route names another action, which goes on to answer it. */
  readonly answeredAt?: string
  /** Where the `dev` that runs in the folder answers its route already. */
  readonly servedAt?: string
}

/**
 * Writes the class of one action: for a route that names its file already, or for the given one.
 * @throws WP_PROJECT_BROKEN, WP_PROJECT_GENERATE, WP_PROJECT_WRITE
 */
export async function generateAction(options: GenerateActionOptions): Promise<GeneratedAction> {
  const project = findProject(options.folder)
  const file = assertFile(project, options.file)
  const definition = await loadDespiteMissing(project, file, options)
  const { route, method, path: routePath } = chooseUse(findUses(definition), { file, route: options.route })
  const text = writeAction({
    className: nameRoute(method.method, routePath).className,
    route,
    inputs: { params: routePath.includes('/:'), query: method.query !== undefined, body: method.request !== undefined },
    isTypeScript: file.endsWith('.ts'),
  })
  if (!options.dryRun) {
    await writeFiles(project.root, [{ file, text, before: undefined }])
    await validateProject(project.root) // writes the types that the new class names
  }
  const { action, at } = method
  const isOther = !('file' in action) || action.file !== file
  if (isOther) return { route, action: file, text, answeredAt: `${at.file}:${at.line}` }
  const servedAt = options.dryRun ? undefined : await findServed(project.root, route)
  return { route, action: file, text, ...(servedAt === undefined ? {} : { servedAt }) }
}

function assertFile({ root }: Project, given: string): string {
  const file = path.relative(root, path.resolve(root, given)).split(path.sep).join('/')
  if (file.startsWith('../') || path.isAbsolute(file) || !/(?<!\.d)\.[tj]s$/.test(file)) {
    const hint = 'Name a file of the project that ends in .ts or .js, for example src/todo/insert.ts.'
    throw errors.WP_PROJECT_GENERATE({ problem: `"${given}" cannot be the file of an action`, hint })
  }
  if (existsSync(path.join(root, file))) {
    throw errors.WP_PROJECT_GENERATE({ problem: `${file} is there already`, hint: 'Edit it, or name another file.' })
  }
  return file
}

/** That files of actions are missing is why this is called: all else has to be right. */
async function loadDespiteMissing(project: Project, file: string, options: GenerateActionOptions): Promise<Definition> {
  const { files } = await loadProject(project)
  const missing = files.filter((one) => /\.[tj]s$/.test(one))
  const loaded = await loadProject(project, { texts: new Map([file, ...missing].map((one) => [one, ''])) })
  return assertDefinition(loaded, (diagnostics) => options.onDiagnostics?.(diagnostics))
}

interface Use {
  readonly route: string
  readonly path: string
  readonly method: Method
}

function findUses({ routes }: Definition): readonly Use[] {
  return routes.flatMap((route) =>
    route.methods.map((method) => ({ route: `${method.method} ${route.path}`, path: route.path, method })),
  )
}

function chooseUse(uses: readonly Use[], { file, route }: { file: string; route: string | undefined }): Use {
  if (route !== undefined) return findRoute(uses, route)
  const naming = uses.filter(({ method: { action } }) => 'file' in action && action.file === file)
  if (naming.length === 1) return naming[0]!
  if (naming.length > 1) {
    const problem = `${naming.map((use) => use.route).join(' and ')} name ${file}`
    throw errors.WP_PROJECT_GENERATE({ problem, hint: `Say whose types it has: --route '${naming[0]!.route}'` })
  }
  const near = nearest(
    file,
    uses.flatMap(({ method: { action } }) => ('file' in action ? [action.file] : [])),
  )
  const guess = near === undefined ? '' : `Did you mean ${near}? `
  throw errors.WP_PROJECT_GENERATE({
    problem: `No route names ${file}`,
    hint: `${guess}Say for which it is: --route 'METHOD /path'`,
  })
}

function findRoute(uses: readonly Use[], route: string): Use {
  const wanted = route.trim().replace(/^\S+\s+/, (method) => `${method.trim().toUpperCase()} `)
  const found = uses.find((use) => use.route === wanted)
  if (found !== undefined) return found
  const near = nearest(
    wanted,
    uses.map((use) => use.route),
  )
  const hint = near === undefined ? 'waypost generate:route METHOD PATH makes one.' : `Did you mean '${near}'?`
  throw errors.WP_PROJECT_GENERATE({ problem: `There is no route '${wanted}'`, hint })
}
