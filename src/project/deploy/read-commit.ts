import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import path from 'node:path'
import { readEnvironment, variable, type Variables } from '../../kit/index.ts'
import { errors } from '../errors.ts'

const timeoutMs = 5000
const fullCommit = /^[0-9a-f]{40}(?:[0-9a-f]{24})?(?:-dirty)?$/

/** The commit of a project, or why it is unknown, unless the project is in no repository. */
export interface FoundCommit {
  readonly commit: string | undefined
  readonly problem?: string
}

export interface CommitOptions {
  readonly variables?: Variables
  /** The commit that the caller names. */
  readonly given?: string | undefined
  /** The definition files, relative to the folder. */
  readonly files?: readonly string[]
}

/** What pipelines set: GitHub, GitLab, Bitbucket, Azure, CircleCI, Jenkins. */
const pipelineVariables = [
  'GITHUB_SHA',
  'CI_COMMIT_SHA',
  'BITBUCKET_COMMIT',
  'BUILD_SOURCEVERSION',
  'CIRCLE_SHA1',
  'GIT_COMMIT',
] as const

/**
 * Finds the Git commit of a project: the given one, that of the pipeline, or what Git says, with `-dirty` if a file that
 * may be part of the release was changed since.
 * @throws WP_PROJECT_COMMIT if `given` is not a full commit hash
 */
export async function readCommit(folder: string, options: CommitOptions = {}): Promise<FoundCommit> {
  const { variables = {}, given, files = [] } = options
  if (given) {
    if (!fullCommit.test(given)) throw errors.WP_PROJECT_COMMIT({ commit: given })
    return { commit: given }
  }
  const named = pipelineVariables.map((name) => variable(variables, name)).find((one) => fullCommit.test(one ?? ''))
  const found = await askGit(path.resolve(folder), new Set(files))
  if (named === undefined) return found
  // Git also knows what was changed since the checkout.
  return { commit: found.commit?.endsWith('-dirty') ? `${named}-dirty` : named }
}

async function askGit(folder: string, definitionFiles: ReadonlySet<string>): Promise<FoundCommit> {
  if (!isInRepository(folder)) return { commit: undefined }
  const args = [
    'status',
    '--porcelain=v2',
    '--branch',
    '-z',
    '--untracked-files=all',
    '--',
    '.',
    ':(exclude,glob)**/.*/**',
  ]
  const [status, prefix] = await Promise.all([callGit(folder, args), callGit(folder, ['rev-parse', '--show-prefix'])])
  if (status.problem !== undefined) return { commit: undefined, problem: status.problem }
  const entries = status.output.split('\0')
  const commit = entries.map((line) => /^# branch\.oid ([0-9a-f]{40,64})$/.exec(line)?.[1]).find(Boolean)
  if (commit === undefined) return { commit: undefined }
  const root = prefix.output.trim()
  const isDirty = parseStatus(entries).some(({ file, isTracked }) => {
    if (!file.startsWith(root)) return false
    const own = file.slice(root.length)
    return definitionFiles.has(own) || mayBeInRelease(own, isTracked)
  })
  return { commit: isDirty ? `${commit}-dirty` : commit }
}

/** Parses `git status --porcelain=v2 -z`. Paths are relative to the repository. A renamed file has both of its names. */
function parseStatus(entries: readonly string[]): readonly { readonly file: string; readonly isTracked: boolean }[] {
  const fields: Readonly<Record<string, number>> = { 1: 8, 2: 9, u: 10, '?': 1 }
  return entries.flatMap((entry, index) => {
    if (entries[index - 1]?.startsWith('2 ') === true) return [{ file: entry, isTracked: true }]
    const before = fields[entry[0] ?? '']
    if (before === undefined || entry[1] !== ' ') return []
    return [{ file: entry.split(' ').slice(before).join(' '), isTracked: entry[0] !== '?' }]
  })
}

/** A cache, a plan or a README does not change a release. Only files beside the sources may be used by them unseen. */
function mayBeInRelease(file: string, isTracked: boolean): boolean {
  if (/^(src|migrations|resources)\//.test(file)) return true
  return isTracked ? !/\.md$/i.test(file) && !/(^|\/)\./.test(file) : /\.[cm]?[jt]sx?$/.test(file)
}

/** Whether a folder is in a Git repository. */
export function isInRepository(folder: string): boolean {
  if (existsSync(path.join(folder, '.git'))) return true
  const parent = path.dirname(folder)
  return parent !== folder && isInRepository(parent)
}

/** Runs Git in a folder. Returns what Git prints, or nothing if it fails. */
export async function runGit(folder: string, args: readonly string[]): Promise<string> {
  return (await callGit(folder, args)).output
}

/**
 * The environment for Git. In a hook, Git sets variables that name the repository of the hook, and in a work tree also
 * another root.
 */
export function gitEnvironment(): Variables {
  const names = ['GIT_DIR', 'GIT_INDEX_FILE', 'GIT_WORK_TREE', 'GIT_PREFIX', 'GIT_COMMON_DIR']
  return { ...readEnvironment(), ...Object.fromEntries(names.map((name) => [name, undefined])), LC_ALL: 'C' }
}

interface GitAnswer {
  readonly output: string
  readonly problem?: string
}

/** The settings prevent Git from running other programs and waiting. */
function callGit(folder: string, args: readonly string[]): Promise<GitAnswer> {
  const settings = ['--no-optional-locks', '-c', 'core.fsmonitor=false', '-c', 'core.quotePath=true']
  const options = {
    cwd: folder,
    timeout: timeoutMs,
    maxBuffer: 16 * 1024 * 1024,
    windowsHide: true,
    env: gitEnvironment(),
  }
  return new Promise((resolve) => {
    execFile('git', [...settings, ...args], options, (error, output, stderr) =>
      resolve(error === null ? { output } : { output: '', problem: describeProblem(error, stderr) }),
    )
  })
}

function describeProblem(error: { readonly code?: unknown; readonly killed?: boolean }, stderr: string): string {
  if (error.code === 'ENOENT') return 'Git is not installed'
  if (/dubious ownership|safe\.directory/.test(stderr))
    return 'the folder belongs to another user (see safe.directory in git help config)'
  if (error.killed === true) return 'Git did not respond in time'
  return stderr.trim().split('\n', 1)[0] || 'Git failed'
}
