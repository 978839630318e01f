import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { dev, type DevConsole, type DevServer } from '../../src/project/index.ts'
import { assertDescribed } from '../backend/admin.ts'
import { checkout } from './cli.ts'
import { send, type Answer, type Sent } from './send.ts'

export interface DevReport {
  readonly what: string
  // oxlint-disable-next-line typescript/no-explicit-any -- each test knows the type of its report
  readonly about: any
}

/** A `dev` in this process on a folder, and the draft API that edits it. */
export interface DraftWorld extends AsyncDisposable {
  readonly root: string
  readonly dev: DevServer
  readonly port: number
  /** What `dev` printed. */
  readonly reports: readonly DevReport[]
  /** Calls the admin API with all scopes: `GET /draft`. Checks answers against the schemas of their routes. */
  call(line: string, json?: unknown, headers?: Sent['headers']): Promise<Answer>
  read(file: string): Promise<string>
  write(file: string, text: string): Promise<void>
  git(...args: readonly string[]): string
}

export async function openDraft(
  files: Readonly<Record<string, string>>,
  options: { readonly host?: string } = {},
): Promise<DraftWorld> {
  const root = await mkdtemp(path.join(tmpdir(), 'waypost-draft-'))
  const write = async (file: string, text: string) => {
    mkdirSync(path.dirname(path.join(root, file)), { recursive: true })
    await writeFile(path.join(root, file), text)
  }
  for (const [file, text] of Object.entries(files)) await write(file, text)
  await mkdir(path.join(root, 'node_modules'), { recursive: true })
  await symlink(checkout, path.join(root, 'node_modules/waypost'))
  const reports: DevReport[] = []
  const console = new Proxy({} as DevConsole, {
    get: (_, what: string) => (about: Record<string, unknown>) =>
      void (what !== 'answered' && reports.push({ what, about })),
  })
  const server = await dev({
    folder: root,
    variables: { ...process.env },
    port: 0,
    deliver: false,
    console,
    ...options,
  })
  await server.reload() // after the check for saves during the start
  const port = Number(new URL(server.started.url).port)
  const { token } = await server.issueToken()
  return {
    root,
    dev: server,
    port,
    reports,
    async call(line, json, headers) {
      const [method = '', target = ''] = line.split(' ')
      const answer = await send(port, {
        method,
        path: `/backend${target}`,
        headers: { authorization: `Bearer ${token}`, ...headers },
        ...(json === undefined ? {} : { body: json }),
      })
      if (answer.status < 300) assertDescribed(method, target, answer)
      return answer
    },
    read: (file) => readFile(path.join(root, file), 'utf8'),
    write,
    git: (...args) => {
      const identity = ['-c', 'user.name=test', '-c', 'user.email=test@example.org']
      return execFileSync('git', [...identity, ...args], {
        cwd: root,
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'ignore'],
      })
    },
    async [Symbol.asyncDispose]() {
      await server.close()
      await rm(root, { recursive: true })
    },
  }
}

/** Returns the answer's body after checking its status. */
export function bodyOf(answer: Answer, status = 200): Answer['body'] {
  assert.equal(answer.status, status, answer.text)
  return answer.body
}
