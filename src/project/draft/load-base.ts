import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { DraftBase } from '../../backend/index.ts'
import type { Texts } from '../../definition/index.ts'
import { findPathProblem } from '../../release/index.ts'
import { gitEnvironment, isInRepository, runGit } from '../deploy/read-commit.ts'

const maxBytes = 64 * 1024 * 1024

/** Loads the definition files of the last commit of a folder; of the start of `dev` without one. */
export function openBase(root: string, start: Texts): () => Promise<DraftBase> {
  const first: DraftBase = { kind: 'start', name: '', texts: start }
  let known = first
  return async () => {
    if (!isInRepository(root)) return first
    const commit = (await runGit(root, ['rev-parse', '--verify', '--quiet', 'HEAD'])).trim()
    if (commit === '') return first
    if (known.name !== commit) known = { kind: 'git', name: commit, texts: await loadCommit(root, commit) }
    return known
  }
}

async function loadCommit(root: string, commit: string): Promise<Texts> {
  const listed = await runGit(root, [
    'ls-tree',
    '-r',
    '-z',
    '--format=%(objecttype) %(objectmode) %(objectname) %(path)',
    commit,
    '.',
  ])
  const files = listed.split('\0').flatMap((line) => {
    const [, hash, file] = /^blob 100\d+ ([0-9a-f]+) (.*)$/s.exec(line) ?? []
    const isDefinition = file !== undefined && findPathProblem(file) === undefined
    return isDefinition ? [{ file, hash: hash! }] : []
  })
  const contents = await readBlobs(
    root,
    files.map(({ hash }) => hash),
  )
  return new Map(files.flatMap(({ file }, index) => (contents[index] === undefined ? [] : [[file, contents[index]]])))
}

/** The content of each object, without filters: these would run other programs. */
async function readBlobs(root: string, hashes: readonly string[]): Promise<readonly (string | undefined)[]> {
  if (hashes.length === 0) return []
  const git = spawn('git', ['--no-optional-locks', 'cat-file', '--batch'], {
    cwd: root,
    env: gitEnvironment(),
    windowsHide: true,
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  const ended = once(git, 'close').catch(() => undefined)
  git.stdin.on('error', () => undefined)
  git.stdin.end(hashes.map((hash) => `${hash}\n`).join(''))
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of git.stdout as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > maxBytes) git.kill()
    else chunks.push(chunk)
  }
  await ended
  return parseBatch(Buffer.concat(chunks), hashes.length)
}

/** Parses `HASH blob SIZE`, a line break, the content and a line break, for each object. */
function parseBatch(output: Buffer, count: number): readonly (string | undefined)[] {
  let at = 0
  return Array.from({ length: count }, () => {
    const end = output.indexOf(10, at)
    const [, size] = /^\S+ blob (\d+)$/.exec(output.toString('latin1', at, Math.max(at, end))) ?? []
    at = end + 1
    if (end === -1 || size === undefined) return undefined
    const content = output.toString('utf8', at, at + Number(size))
    at += Number(size) + 1
    return content
  })
}
