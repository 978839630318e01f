import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { readEnvironment, type Diagnostic, type Variables, urlOfModule } from '../kit/index.ts'
import type { BuiltRelease, Manifest, ManifestAction } from '../release/index.ts'
import type { LoadReport, LoadRequest, Problem } from './check-modules-child.ts'
import { makeDiagnostic, makePlace, sortDiagnostics, type Place } from './make-diagnostic.ts'
import { isPackagePath } from './project-path.ts'

export interface CheckOptions {
  /** URL of the module that loads artifacts: `artifactLoader` of runtime, which this room may not import. */
  readonly loader: string
  /** For all modules together; 30 s by default. */
  readonly timeoutMs?: number
}

/**
 * Loads every action of a release once, in a child process outside of the project's folder, as a server would, and gives a
 * diagnostic for each that throws, waits too long, ends the process or is no class with a method `handle`.
 */
export async function checkModules(
  release: BuiltRelease,
  { loader, timeoutMs = 30_000 }: CheckOptions,
): Promise<Diagnostic[]> {
  const files = actionFiles(release.manifest)
  if (files.size === 0) return []
  const modules = [...files.keys()]
  const request: LoadRequest = { loader, artifacts: release.artifacts, modules }
  const problems = await loadInChild(request, timeoutMs)
  return sortDiagnostics([...problems].map(([hash, problem]) => describe(files.get(hash)!, problem)))
}

/** Each action's file by the hash of its artifact. */
function actionFiles({ routes, cronjobs }: Manifest): Map<string, string> {
  const actions: ManifestAction[] = [
    ...routes.flatMap(({ methods }) => methods.map(({ action }) => action)),
    ...Object.values(cronjobs).map(({ action }) => action),
  ]
  return new Map(actions.flatMap((action) => ('artifact' in action ? [[action.artifact, action.file] as const] : [])))
}

/** What is wrong with which module. A module that hangs or ends the process is the last one that is looked at. */
async function loadInChild(request: LoadRequest, timeoutMs: number): Promise<Map<string, Problem>> {
  const problems = new Map<string, Problem>()
  const pending = new Set(request.modules)
  let current: string | undefined
  let failure: string | undefined
  const child = openChild()
  child.on('message', (report: LoadReport) => {
    if ('failed' in report) failure = report.failed
    else if ('loading' in report) current = report.loading
    else {
      pending.delete(report.loaded)
      if (report.problem !== undefined) problems.set(report.loaded, report.problem)
    }
  })
  const end = await runChild(child, request, timeoutMs)
  if (pending.size === 0) return problems
  if (failure !== undefined || current === undefined)
    throw new Error(`The modules could not be checked: ${failure ?? end}`)
  return problems.set(current, { reason: end, stack: '' })
}

function openChild(): ChildProcess {
  // No project folder and no options of this process: neither is there on a server. What modules print is not our result.
  return fork(fileURLToPath(urlOfModule('src/build/check-modules-child')), [], {
    cwd: tmpdir(),
    env: environmentOfModules(),
    execArgv: [],
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    serialization: 'advanced',
  })
}

/** Who builds a release may hold the keys of its target: Waypost's own variables are none of its modules' business. */
function environmentOfModules(): Variables {
  return Object.fromEntries(Object.entries(readEnvironment()).filter(([name]) => !name.startsWith('WAYPOST_')))
}

/** Waits for the end of the child, at most `timeoutMs`, and says how it ended. */
async function runChild(child: ChildProcess, request: LoadRequest, timeoutMs: number): Promise<string> {
  let isLate = false
  const timer = setTimeout(() => {
    isLate = true
    child.kill('SIGKILL')
  }, timeoutMs)
  try {
    child.send(request, () => undefined)
    const [code, signal] = (await once(child, 'close')) as [number | null, string | null]
    return isLate
      ? `it took longer than ${timeoutMs / 1000} s`
      : `it ended the process (${signal ?? `exit code ${code}`})`
  } finally {
    clearTimeout(timer)
  }
}

function describe(file: string, problem: Problem): Diagnostic {
  if (problem === 'no-class')
    return makeDiagnostic('WP_BUILD_ACTION_NO_CLASS', makePlace(file, 1), { parameters: { file } })
  const place = placeOf(problem.stack) ?? makePlace(file, 1)
  const hint = looksForFiles(problem.reason) ? withoutFiles : undefined
  return makeDiagnostic('WP_BUILD_ACTION_LOAD', place, { parameters: { file, reason: problem.reason }, hint })
}

const withoutFiles =
  "Name a file of the project in place: new URL('./NAME', import.meta.url). A package cannot read files of its own: a release does not contain them"

/** Code that asks where it lies, to read what lies there. */
function looksForFiles(reason: string): boolean {
  return /__(?:dir|file)name|must be of scheme file|import\.meta\.(?:dir|file)name|Cannot find module/.test(reason)
}

/** The first place of a stack that is a file of the project. */
function placeOf(stack: string): Place | undefined {
  for (const [, file, line, column] of stack.matchAll(/^ +at (?:.* \()?([^():]+):(\d+):(\d+)\)?$/gm)) {
    if (path.isAbsolute(file!) || isPackagePath(file!) || !file!.includes('.')) continue
    return makePlace(file!, Number(line), { column: Number(column) })
  }
  return undefined
}
