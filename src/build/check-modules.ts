import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { makeBareEnvironment, readEnvironment, urlOfModule, type Diagnostic, type Variables } from '../kit/index.ts'
import { listActions, type BuiltRelease, type Manifest } from '../release/index.ts'
import type { LoadReport, LoadRequest, Problem } from './check-modules-child.ts'
import { makeDiagnostic, makePlace, sortDiagnostics, type Place } from './make-diagnostic.ts'
import { isPackagePath } from './project-path.ts'

export interface CheckOptions {
  /** URL of the module that loads artifacts, `artifactLoader`. */
  readonly loader: string
  /** For all modules together, in milliseconds; 30,000 by default. */
  readonly timeoutMs?: number
}

/**
 * Loads each action of a release once, as a server would, in a child process outside the project's folder. Returns a
 * diagnostic for each that throws, times out, ends the process or is not a class with a method `handle`.
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

/** Returns the file of each action by the hash of its artifact. */
function actionFiles(manifest: Manifest): Map<string, string> {
  return new Map(
    listActions(manifest).flatMap((action) => ('artifact' in action ? [[action.artifact, action.file] as const] : [])),
  )
}

/** Returns the problem of each failed module. A module that hangs or ends the process is the last one checked. */
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
  // Without the project's folder and the options of this process, as on a server. The output of modules is discarded.
  return fork(fileURLToPath(urlOfModule('src/build/check-modules-child')), [], {
    cwd: tmpdir(),
    env: moduleEnvironment(),
    execArgv: [],
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    serialization: 'advanced',
  })
}

/** Modules must not read Waypost's own variables, which may contain credentials of the deployment target. */
function moduleEnvironment(): Variables {
  const kept = Object.entries(readEnvironment()).filter(([name]) => !name.startsWith('WAYPOST_'))
  return { ...makeBareEnvironment(), ...Object.fromEntries(kept) }
}

/** Waits until the child ends or the time limit passes. Returns the reason why it ended. */
async function runChild(child: ChildProcess, request: LoadRequest, timeoutMs: number): Promise<string> {
  let hasTimedOut = false
  const timer = setTimeout(() => {
    hasTimedOut = true
    child.kill('SIGKILL')
  }, timeoutMs)
  try {
    child.send(request, () => undefined)
    const [code, signal] = (await once(child, 'close')) as [number | null, string | null]
    return hasTimedOut
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
  const hint = dependsOnLocation(problem.reason) ? withoutFiles : undefined
  return makeDiagnostic('WP_BUILD_ACTION_LOAD', place, { parameters: { file, reason: problem.reason }, hint })
}

const withoutFiles =
  "Refer to a file of the project directly: new URL('./NAME', import.meta.url). Packages cannot read their own files, because a release does not contain them"

/** Whether code failed because it looked for files at its own path. */
function dependsOnLocation(reason: string): boolean {
  return /__(?:dir|file)name|must be of scheme file|import\.meta\.(?:dir|file)name|Cannot find module|imports "\.{1,2}\/[^"]*" at run time/.test(
    reason,
  )
}

/** Returns the first location of a stack that is in a project file. */
function placeOf(stack: string): Place | undefined {
  for (const [, file, line, column] of stack.matchAll(/^ +at (?:.* \()?([^():]+):(\d+):(\d+)\)?$/gm)) {
    if (path.isAbsolute(file!) || isPackagePath(file!) || !file!.includes('.')) continue
    return makePlace(file!, Number(line), { column: Number(column) })
  }
  return undefined
}
