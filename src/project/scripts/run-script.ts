import { existsSync, globSync, statSync } from 'node:fs'
import path from 'node:path'
import type { Action, Script } from '../../contract/index.ts'
import { loadReleasePlugins, openHost, refreshVariables } from '../../host/index.ts'
import { isWaypostError, markActionLogger, nearest, type Diagnostic, type Variables } from '../../kit/index.ts'
import type { DevConsole } from '../dev-console.ts'
import { makeDevLogger } from '../dev-logger.ts'
import { errors } from '../errors.ts'
import { findProject } from '../find-project.ts'
import { buildScripts } from './build-scripts.ts'
import { describeScriptError } from './describe-script-error.ts'
import { openScripts, type ScriptRun } from './open-scripts.ts'

export interface RunScriptOptions {
  readonly folder: string
  readonly variables: Variables
  /** Relative to the folder, or absolute. */
  readonly file: string
  readonly args: readonly string[]
  readonly signal?: AbortSignal | undefined
  readonly console: Pick<DevConsole, 'logged'>
  onDiagnostics?(diagnostics: readonly Diagnostic[]): void
}

/**
 * Runs a script of a project: the function that its default export is, or `handle` of the class.
 * @throws WP_PROJECT_SCRIPT_MISSING, WP_PROJECT_SCRIPT_FORM, WP_PROJECT_SCRIPT_FAILED, WP_PROJECT_BROKEN
 */
export async function runScript(options: RunScriptOptions): Promise<void> {
  const { folder, variables, args, signal } = options
  findProject(folder)
  const file = findScript(folder, options.file)
  const host = await openHost({ folder, variables })
  try {
    await refreshVariables(host)
    const built = await buildScripts({ ...options, variables: host.variables, files: [file] })
    const plugins = await loadReleasePlugins(host, built.release)
    const log = markActionLogger(makeDevLogger(host, options.console))
    const scripts = await openScripts({ ...built, host, plugins, log, signal, sendsEvents: true })
    try {
      const work = makeWork(file, args, await scripts.load(file))
      await scripts.run(file, work, args)
    } catch (error) {
      if (signal?.aborted || (isWaypostError(error) && error.code.startsWith('WP_PROJECT_'))) throw error
      throw errors.WP_PROJECT_SCRIPT_FAILED({ file, reason: describeScriptError(error) }, { cause: error })
    } finally {
      await scripts.close()
    }
  } finally {
    await host.close()
  }
}

/** @throws WP_PROJECT_SCRIPT_FORM */
function makeWork(file: string, args: readonly string[], script: unknown): ScriptRun {
  if (typeof script !== 'function')
    throw errors.WP_PROJECT_SCRIPT_FORM({ file, what: 'a function (context, args) => …, or a class with handle' })
  if (!isClass(script)) return (context) => (script as Script)(context, args)
  const action = new (script as new () => Partial<Action<'cronjob'>>)()
  if (typeof action.handle !== 'function')
    throw errors.WP_PROJECT_SCRIPT_FORM({ file, what: 'a class with handle(request, context)' })
  return (context, request) => action.handle!(request as never, context)
}

function isClass(value: unknown): boolean {
  return /^class\b/.test(Function.prototype.toString.call(value))
}

/**
 * Returns the file relative to the folder, with forward slashes.
 * @throws WP_PROJECT_SCRIPT_MISSING
 */
function findScript(folder: string, given: string): string {
  const absolute = path.resolve(folder, given)
  const file = path.relative(folder, absolute).split(path.sep).join('/')
  if (file.startsWith('../'))
    throw errors.WP_PROJECT_SCRIPT_MISSING({ file: given, hint: 'Name a file of the project.' })
  if (statSync(absolute, { throwIfNoEntry: false })?.isFile() === true && /\.[jt]s$/.test(file)) return file
  throw errors.WP_PROJECT_SCRIPT_MISSING({ file: given, hint: suggest(folder, file) })
}

function suggest(folder: string, file: string): string {
  const withExtension = ['.ts', '.js'].map((end) => file + end).find((one) => existsSync(path.join(folder, one)))
  const guess = withExtension ?? nearest(file, listSources(path.join(folder, path.dirname(file)), path.dirname(file)))
  return guess === undefined ? 'Name a .ts or .js file of the project.' : `Did you mean ${guess}?`
}

function listSources(folder: string, name: string): readonly string[] {
  return globSync('*.{ts,js}', { cwd: folder }).map((base) => path.posix.join(name, base))
}
