// The tutorial is what a newcomer does first: every block of it is run, written, or found in the template.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { chmod, mkdir, mkdtempDisposable, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { checkout, cleanEnvironment, startCli, type RunningCli } from '../support/cli.ts'
import { isLong } from '../support/forms.ts'
import { startPostgres } from '../support/postgres.ts'
import { linkDependencies } from '../support/project.ts'
import { send } from '../support/send.ts'
import { lacksShell } from '../support/shell.ts'

interface Block {
  readonly language: string
  readonly code: string
  /** The text between the previous block and this one. */
  readonly before: string
}

function readBlocks(): readonly Block[] {
  const parts = readFileSync(path.join(checkout, 'docs/tutorial.md'), 'utf8').split(/^```(\w*)\n([^]*?)^```$/m)
  return Array.from({ length: (parts.length - 1) / 3 }, (_, index) => {
    const [before = '', language = '', code = ''] = parts.slice(index * 3, index * 3 + 3)
    return { before, language, code }
  })
}

const folderOf = (home: string) => path.join(home, 'helpdesk')

/** The state of the shell that the reader types into. */
interface Shell {
  readonly home: string
  readonly env: Record<string, string>
  readonly replacements: Map<string, string>
  printed: string
}

/** Runs commands as a shell does that keeps its folder and its variables. */
async function type(shell: Shell, code: string): Promise<void> {
  const kept = path.join(shell.home, 'shell')
  const names = ['TOKEN', 'WAYPOST_SYSTEM_URL', 'WAYPOST_BASE_URL', 'WAYPOST_SECRET'].join(' ')
  const text = [...shell.replacements].reduce((one, [from, to]) => one.replaceAll(from, to), code)
  const script = `set -euo pipefail
touch ${kept}; . ${kept}
${text}
for name in ${names}; do if [ -n "\${!name:-}" ]; then declare -p $name; fi; done >${kept}; echo "cd '$PWD'" >>${kept}`
  const { stdout, stderr } = await promisify(execFile)('bash', ['-c', script], { cwd: shell.home, env: shell.env })
  shell.printed = stdout + stderr
}

/** `npx` and `npm` of a machine that has installed Waypost from a registry. */
async function writePrograms(home: string): Promise<Record<string, string>> {
  const programs = path.join(home, 'programs')
  await mkdir(programs)
  const run = `exec '${process.execPath}' '${path.join(checkout, 'bin/run.js')}' "$@"`
  const files = {
    npx: `shift; [ "$1" != init ] || set -- "$@" --yes --no-install; ${run}`,
    npm: `[ "$1" = test ] && exec '${process.execPath}' --test`,
  }
  for (const [name, text] of Object.entries(files)) {
    await writeFile(path.join(programs, name), `#!/bin/bash\n${text}\n`)
    await chmod(path.join(programs, name), 0o755)
  }
  const env = cleanEnvironment()
  return { ...env, PATH: `${programs}${path.delimiter}${env['PATH']}` }
}

/** Returns the file that the text before a block tells the reader to create. */
function fileToCreate({ before }: Block): string | undefined {
  return /Create `([^`]+)`:\s*$/.exec(before)?.[1]
}

test('the tutorial leads from an empty folder to a deployed API', { skip: lacksShell }, async () => {
  await using home = await mkdtempDisposable(path.join(tmpdir(), 'waypost-tutorial-'))
  await using closers = new AsyncDisposableStack()
  const postgres = await startPostgres()
  closers.defer(() => postgres.stop())
  const address = await postgres.createDatabase()
  const shell: Shell = {
    home: home.path,
    // In CI, the tests of the project run on SQLite only; its release is migrated and served on PostgreSQL below.
    env: { ...(await writePrograms(home.path)), ...(isLong ? { WAYPOST_TEST_DATABASES: address } : {}) },
    replacements: new Map([['postgresql://helpdesk:secret@localhost/helpdesk', address]]),
    printed: '',
  }
  const folder = folderOf(home.path)
  const start = async (words: string, env: Record<string, string> = {}): Promise<[RunningCli, number]> => {
    const running = startCli(`${words} --port 0`.split(' '), { cwd: folder, env })
    closers.defer(async () => void (await running.stop()))
    return [running, Number((await running.waitFor(/http:\/\/localhost:(\d+)/))[1])]
  }
  for (const block of readBlocks()) {
    const { language, code, before } = block
    const created = fileToCreate(block)
    if (created !== undefined) {
      await writeFile(path.join(folder, created), code)
    } else if (/add this line below `routes:`/.test(before)) {
      const file = path.join(folder, 'waypost.yml')
      const text = await readFile(file, 'utf8')
      await writeFile(
        file,
        text.replace(/^ {4}routes:\n/m, (found) => found + code),
      )
    } else if (code === 'npm run dev\n') {
      await linkDependencies(folder)
      const [running, port] = await start('dev')
      await running.waitFor(/Ready in/)
      shell.replacements.set('localhost:3000', `localhost:${port}`)
    } else if (language === 'sh') {
      const [commands, served] = code.split(/^npx waypost serve --cron\n/m) as [string, string | undefined]
      await type(shell, commands)
      if (served !== undefined) await checkServer(shell, start)
    } else if (language === 'json') {
      assert.ok(shell.printed.includes(code.replace(/ …\n$/, '')), `${code}\n${shell.printed}`)
    } else {
      const files = globSync('**/*.{ts,yml}', { cwd: folder, exclude: ['node_modules/**'] })
      const texts = await Promise.all(files.map((file) => readFile(path.join(folder, file), 'utf8')))
      assert.ok(
        texts.some((text) => text.includes(code)),
        `No file of the template contains\n${code}`,
      )
    }
  }
})

async function checkServer(
  { home }: Shell,
  start: (words: string, env: Record<string, string>) => Promise<[RunningCli, number]>,
): Promise<void> {
  const lines = await readFile(path.join(home, 'shell'), 'utf8')
  const variables = [...lines.matchAll(/^declare -x (WAYPOST_\w+)="([^"]*)"$/gm)].map(([, name, value]) => [
    name,
    value,
  ])
  assert.equal(variables.length, 3, lines)
  const [running, port] = await start('serve --cron', Object.fromEntries(variables) as Record<string, string>)
  await running.waitFor(/Serving/)
  assert.equal((await send(port, { path: '/v1/summary' })).status, 401)
}
