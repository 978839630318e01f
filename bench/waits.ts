import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { recordStatistics } from '../src/operate/index.ts'
import { latencyBoundsMs } from '../src/runtime/index.ts'
import type { System } from '../src/store/index.ts'
import { send } from '../test/support/send.ts'
import { openAdministeredServer } from './administered-server.ts'
import { atMost, beside, type Figure } from './goal.ts'
import { median } from './statistics.ts'

const rounds = 5
const rows = 10_000
const scopes = ['backend.read', 'backend.write', 'backend.deploy', 'backend.operate']
const waitMs = 100
const editMs = 300

/** Measures how long other requests wait while administrators work on a definition with many routes. */
export async function measureWaits(): Promise<Figure[]> {
  const sizes = (process.env['WAYPOST_BENCH_ROUTES'] ?? '250,1000').split(',').map(Number)
  const figures: Figure[] = []
  for (const routes of sizes) figures.push(...(await measure(routes)))
  return figures
}

async function measure(routes: number): Promise<Figure[]> {
  await using stack = new AsyncDisposableStack()
  const server = stack.use(await openAdministeredServer('sqlite:system.db', scopes))
  const { host, call } = server
  const get = async (path: string) => {
    const { status } = await send(server.port, { path })
    if (status !== 200) throw new Error(`${path}: ${status}`)
  }
  const probe = new Worker(new URL('wait-probe.ts', import.meta.url), { workerData: { port: server.port } })
  stack.defer(async () => {
    await probe.terminate()
  })
  const ask = async (): Promise<number> => {
    const answer = once(probe, 'message')
    probe.postMessage('longest', [])
    return ((await answer) as [number])[0]
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

  const figures: Figure[] = []
  const during = async (what: string, work: (round: number) => Promise<unknown>, limit?: number, count = rounds) => {
    await work(-1)
    const [waits, times]: [number[], number[]] = [[], []]
    for (let round = 0; round < count; round++) {
      await pause(100)
      await ask()
      const began = performance.now()
      await work(round)
      times.push(performance.now() - began)
      await pause(10)
      waits.push(await ask())
    }
    const name = `${routes} routes: ${what}`
    figures.push(atMost(`${name}, longest wait of others`, ms(median(waits)), waitMs))
    const took = ms(median(times))
    figures.push(limit === undefined ? beside(`  answered in`, took) : atMost('  answered in', took, limit))
  }
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

function ms(value: number) {
  return { value, unit: 'ms' }
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
