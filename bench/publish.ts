import { setTimeout as pause } from 'node:timers/promises'
import { startPostgres } from '../test/support/postgres.ts'
import { send } from '../test/support/send.ts'
import { openAdministeredServer } from './administered-server.ts'
import { atMost, beside, type Figure } from './goal.ts'
import { scaled } from './scale.ts'
import { readCpu } from './serve.ts'
import { median } from './statistics.ts'

const routes = scaled(500, 20)
const rounds = scaled(9)
const failedMs = 20_000
const scopes = ['backend.read', 'backend.write', 'backend.deploy']

/** Measures a publication of a draft without code, until the server that publishes it serves it. */
export async function measurePublish(): Promise<Figure[]> {
  await using stack = new AsyncDisposableStack()
  const postgres = await startPostgres()
  stack.defer(() => postgres.stop())
  const server = stack.use(await openAdministeredServer(await postgres.createDatabase(), scopes))
  const { call } = server
  await call('PATCH /draft', { files: makeFiles().map(([file, text]) => ({ file, text, if: null })) })
  const publish = async (path: string): Promise<{ readonly ms: number; readonly cpuMs: number }> => {
    const { active } = await call('POST /draft/plan', {})
    const began = performance.now()
    const cpuBefore = readCpu([server.pid])
    const { id } = await call('POST /draft/publish', { against: active, migrate: true })
    for (;;) {
      const { status } = await send(server.port, { path })
      const ms = performance.now() - began
      if (status === 200) return { ms, cpuMs: (readCpu([server.pid]) - cpuBefore) * 1000 }
      if (ms > failedMs) throw new Error(JSON.stringify(await call(`GET /publish/${id}`)))
      await pause(4)
    }
  }
  const first = await publish('/note/0')
  const published: Awaited<ReturnType<typeof publish>>[] = []
  const plans: number[] = []
  for (let round = 0; round < rounds; round++) {
    const path = `/new/${round}`
    await call('PATCH /draft', { edits: [{ at: `/routes/~1new~1${round}`, value: route }] })
    const began = performance.now()
    await call('POST /draft/plan', {})
    plans.push(performance.now() - began)
    published.push(await publish(path))
  }
  return [
    atMost(
      `publish without code, ${routes} routes, until this server serves it`,
      ms(median(published.map((one) => one.ms))),
      300,
    ),
    beside('  processor time of the server', ms(median(published.map(({ cpuMs }) => cpuMs)))),
    beside('  the plan before it', ms(median(plans))),
    beside('  the first publication', ms(first.ms)),
  ]
}

function ms(value: number) {
  return { value, unit: 'ms' }
}

const route = { methods: { GET: { public: true, action: 'Note' } } }

/** A route in each file, all on one table. */
function makeFiles(): readonly (readonly [string, string])[] {
  const numbers = Array.from({ length: routes }, (_, index) => index)
  const fileOf = (index: number) => `resources/routes/note-${Math.floor(index / 10)}.yml`
  const files = Map.groupBy(numbers, fileOf)
  const text = 'methods:\n    GET: { public: true, description: Lists notes, action: Note }\n'
  return [
    [
      'waypost.yml',
      `action:\n  Note: { class: sql-table, config: { table: app_note, columns: [id, text] } }\nroutes:\n${numbers
        .map((index) => `  /note/${index}: !include ${fileOf(index)}#/r${index}\n`)
        .join('')}`,
    ],
    ['migrations/System/20261101-note.yml', 'create_table: { app_note: { columns: { id: id, text: text(200) } } }\n'],
    ...[...files].map(([file, own]) => [file, own.map((index) => `r${index}:\n  ${text}`).join('')] as const),
  ]
}
