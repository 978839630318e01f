// `npm run demo`: serves the to-do project in a new folder and prints each step of the demo as a command to paste. `npm
// run demo -- --check` runs the steps and exits with 0 or 1.
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { openReceiver, type Receiver } from './demo/receiver.ts'
import { checkStory, printStory, type Story } from './demo/story.ts'
import { findFreePort, runWaypost, startWaypost } from './demo/waypost.ts'

const isCheck = readFlags()
const stop = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort())

process.exitCode = await main()

/** Whether to check the steps instead of printing them. */
function readFlags(): boolean {
  try {
    return parseArgs({ options: { check: { type: 'boolean', default: false } } }).values.check
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\nnpm run demo, or npm run demo -- --check\n`)
    return process.exit(2)
  }
}

async function main(): Promise<number> {
  const home = await mkdtemp(path.join(tmpdir(), 'waypost-demo-'))
  const folder = path.join(home, 'todo')
  const opened = new AsyncDisposableStack()
  try {
    const port = isCheck ? await findFreePort() : 3000
    const story = await setUp(folder, port)
    const server = await startWaypost(folder, ['dev', '--no-deliver', '--port', String(port)])
    opened.defer(server.stop)
    const receiver = await openReceiver(
      isCheck ? 0 : 4000,
      (text) => isCheck || writeLine(`\n  The callback received ${text}`),
    )
    opened.defer(receiver.close)
    return await runDemo({ ...story, folder }, receiver, server.ended)
  } catch (error) {
    process.stderr.write(`\n  ✗ ${error instanceof Error ? error.message : String(error)}\n`)
    return 1
  } finally {
    await opened.disposeAsync()
    if (isCheck) await rm(home, { recursive: true, force: true })
    else writeLine(`\n  The project stays in ${folder}`)
  }
}

/** Creates, validates and migrates the project, and adds a user and a client. */
async function setUp(folder: string, port: number): Promise<Omit<Story, 'folder'>> {
  writeLine(`\n  A new project in ${folder}`)
  await runWaypost(path.dirname(folder), ['init', 'todo', '--template', 'todo', '--yes'])
  writeLine('  ✓ scaffolded and installed')
  await runWaypost(folder, ['validate'])
  writeLine('  ✓ validated')
  await runWaypost(folder, ['migrate', '--connection', 'System'])
  writeLine('  ✓ System migrated')
  const password = 'quiet-otter-4417'
  await runWaypost(folder, ['user:add', 'ann', '--scopes', 'todo', '--password-stdin'], password)
  const client = JSON.parse(
    await runWaypost(
      folder,
      'client:add shop --user ann --scopes todo --grants client_credentials,refresh_token --json'.split(' '),
    ),
  ) as { client_id: string; client_secret: string }
  writeLine('  ✓ user ann and client shop added')
  return {
    url: `http://localhost:${port}`,
    username: 'ann',
    password,
    clientId: client.client_id,
    clientSecret: client.client_secret,
  }
}

async function runDemo(story: Story, receiver: Receiver, serverEnded: Promise<unknown>): Promise<number> {
  if (isCheck) {
    await checkStory(story, receiver)
    writeLine('\n  The whole story works.\n')
    return 0
  }
  await printStory(story, receiver)
  const interrupted = stop.signal.aborted ? Promise.resolve() : once(stop.signal, 'abort')
  await Promise.race([interrupted, serverEnded])
  return 0
}

function writeLine(text: string): void {
  process.stdout.write(`${text}\n`)
}
