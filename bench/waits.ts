import { setTimeout as pause } from 'node:timers/promises'
import { recordStatistics } from '../src/operate/index.ts'
import { latencyBoundsMs } from '../src/kit/index.ts'
import type { System } from '../src/store/index.ts'
import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { secret } from '../test/e2e/serving.ts'
import { startCli } from '../test/support/cli.ts'
import { send } from '../test/support/send.ts'
import { bigRoutes, makeBigProject } from './projects.ts'
import { openAdministeredServer, type AdministeredServer } from './administered-server.ts'
import type { Figure } from './goal.ts'
import { isTiny, scaled } from './scale.ts'
import { openMeter, turnVariables, type WaitMeter } from './wait-meter.ts'
import { measureDevWaits } from './waits-dev.ts'

const rows = scaled(10_000, 500)
const scopes = ['backend.read', 'backend.write', 'backend.deploy', 'backend.operate']
const editMs = 300

/** Measures how long other requests wait while administrators work on a definition with many routes. */
export async function measureWaits(): Promise<Figure[]> {
  const sizes = (process.env['WAYPOST_BENCH_ROUTES'] ?? (isTiny ? '20' : '250,1000')).split(',').map(Number)
  const figures: Figure[] = []
  for (const routes of sizes) figures.push(...(await measure(routes)))
  figures.push(...(await measureImport()), ...(await measureDevWaits()))
  return figures
}

async function measure(routes: number): Promise<Figure[]> {
  await using stack = new AsyncDisposableStack()
  const variables = turnVariables()
  const server = stack.use(await openAdministeredServer('sqlite:system.db', scopes, variables))
  const { host, call } = server
  const get = async (path: string) => {
    const { status } = await send(server.port, { path })
    if (status !== 200) throw new Error(`${path}: ${status}`)
  }
  const meter = stack.use(openMeter(server.port, variables))
  const figures: Figure[] = []
  const during: WaitMeter['during'] = async (what, ...rest) => {
    const found = await meter.during(`${routes} routes: ${what}`, ...rest)
    figures.push(...found)
    return found
  }

  const text = writeDefinition(routes)
  const migration = 'create_table: { app_note: { columns: { id: id, text: text(200) } } }\n'
  await call('PATCH /draft', {
    files: [
      { file: 'waypost.yml', text, if: null },
      { file: 'migrations/System/20261101-note.yml', text: migration, if: null },
    ],
  })
  const publish = async () => {
    const { active } = await call('POST /draft/plan', {})
    const { id } = await call('POST /draft/publish', { against: active, migrate: true, accept_access: true })
    for (;;) {
      const found = await call(`GET /publish/${id}`)
      if (found.state === 'failed') throw new Error(JSON.stringify(found))
      if (found.state === 'activated' && found.servers.every((one: { state: string }) => one.state === 'serving'))
        return
      await pause(60)
    }
  }
  await publish()
  for (let row = 0; row < rows; row += 500)
    await host.system.db
      .insertInto('app_note' as never)
      .values(Array.from({ length: 500 }, (_, index) => ({ text: `note ${row + index}` })) as never)
      .execute()
  await addStatistics(host.system, routes)

  await during('nothing', () => pause(200))
  const letters = 'abcdefghijkl'
  await during(
    'PUT /draft/file, a letter',
    (round) => {
      const changed = text.replace('Lists notes 7.', `Lists notes 7${letters[round + 1]}.`)
      return call('PUT /draft/file?path=waypost.yml', { text: changed })
    },
    editMs,
  )
  await during(
    'PUT /draft/value',
    (round) => call('PUT /draft/value?at=/routes/~1note~13/methods/GET/description', { value: `Value ${round}` }),
    editMs,
  )
  await during('GET /draft', () => call('GET /draft'))
  await during('GET /draft/value of all', () => call('GET /draft/value?at='))
  await during('GET /draft/table', () => call('GET /draft/table?connection=System&table=app_note'))
  await during('GET /definition of the draft', () => call('GET /release/draft/definition'))
  await during('POST /draft/plan', () => call('POST /draft/plan', {}))
  await during('publish', async (round) => {
    await call('PUT /draft/value?at=/routes/~1note~15/methods/GET/description', { value: `Publish ${round}` })
    await publish()
  })
  await during('rollback', async () => {
    const { entry } = await call('GET /release')
    const active = entry.find((one: { is_active: boolean }) => one.is_active)
    const other = entry.find((one: { is_active: boolean; id: string }) => !one.is_active)
    await call(`POST /release/${other.id}/rollback`, { against: active.id })
    await pause(500)
  })
  await during('GET /openapi.json', () => get('/openapi.json'))
  await during('GET /docs', () => get('/docs'))
  await during('statistics', () => call('GET /statistics?by=hour'))
  return figures
}

/** Measures deployments over HTTP, each with a changed action. */
async function measureImport(): Promise<Figure[]> {
  await using project = await makeBigProject()
  const variables = turnVariables()
  await using server = await openAdministeredServer('sqlite:system.db', scopes, variables)
  await using meter = openMeter(server.port, variables)
  return await meter.during(`${bigRoutes} routes, deployed over HTTP`, (round) => deploy(project.folder, server, round))
}

async function deploy(cwd: string, { port, token }: AdministeredServer, round: number): Promise<void> {
  const file = path.join(cwd, 'src/many/action-0.ts')
  await writeFile(file, (await readFile(file, 'utf8')).replace(/many \d+.*'/, `many 0, ${round}'`))
  const env = { WAYPOST_TOKEN: token, WAYPOST_SECRET: secret }
  const words = ['deploy', '--yes', '--migrate', '--url', `http://127.0.0.1:${port}`]
  const { code, stderr } = await startCli(words, { cwd, env }).ended
  if (code !== 0) throw new Error(`${words.join(' ')} ended with ${code}\n${stderr}`)
}

/** Counts of many hours and routes. */
async function addStatistics(system: System, routes: number): Promise<void> {
  const now = Date.now()
  const perHour = Math.min(routes, 100)
  const counts = Array.from({ length: perHour }, (_, index) => ({
    route: `GET /note/${index}`,
    statuses: [5, 0, 1, 0],
    sumMs: 12,
    buckets: [6, ...latencyBoundsMs.map(() => 0)],
  }))
  for (let hour = 0; hour < rows / perHour; hour++) await recordStatistics(system, counts, now - hour * 3_600_000)
}

function writeDefinition(routes: number): string {
  const numbers = Array.from({ length: routes }, (_, index) => index)
  return `config: { docs: public }
action:
  Note: { class: sql-table, config: { table: app_note, columns: [id, text], write: [text] } }
scope:
  note: { description: Notes }
schema:
  Message: { type: object, required: [text], properties: { text: { type: string, maxLength: 200 } } }
routes:
${numbers
  .map(
    (index) => `  /note/${index}:
    scopes: [note]
    methods:
      # reads
      GET:
        public: true
        description: Lists notes ${index}.
        action: Note # one
      POST:
        description: Adds a note ${index}.
        action: Note
`,
  )
  .join('')}`
}
