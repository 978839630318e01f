import assert from 'node:assert/strict'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'
import { sql } from 'kysely'
import { addUser } from '../../src/auth/index.ts'
import { SystemDraft } from '../../src/backend/index.ts'
import { openIdentity } from '../../src/host/index.ts'
import { findActiveFileList, loadActiveRelease, loadArtifacts, loadFiles } from '../../src/release/index.ts'
import { openDeployWorld, type DeployWorld } from '../operate/releases/world.ts'
import { chooseKinds, isLong } from '../support/forms.ts'
import { describeSystems } from '../support/project-server.ts'
import { endMortal, startMortal } from './mortal.ts'
import { publish, type Order } from './mortal-publish.ts'

/** More statements than a publication has. */
const limit = 80
/** Outside the long form, one before the new release is active and one behind it, and only on PostgreSQL. */
const points = isLong ? Array.from({ length: limit }, (_, index) => index + 1) : [15, 30]

describeSystems('a publication that is killed', chooseKinds('postgresql'), ({ newSystem }) => {
  test('leaves the old or the new release, and the draft, and can be repeated', async (t) => {
    await using world = await openDeployWorld(await newSystem())
    const { id: userId } = await addUser(world.host.system, { name: 'ann', scopes: ['backend.admin'] })
    const draft = new SystemDraft(world.host, () => 'test')
    let deaths = 0
    let next = startMortal('mortal-publish.ts', world)
    try {
      for (const point of points) {
        const child = await next
        if (point !== points.at(-1)) next = startMortal('mortal-publish.ts', world) // meanwhile
        if (await survives({ world, userId, draft }, child, point)) break
        deaths += 1
      }
    } finally {
      draft.close()
      await endMortal(await next)
    }
    t.diagnostic(`it was killed at ${deaths} points`)
    if (isLong) assert.ok(deaths >= 30 && deaths < limit, `it died at ${deaths} points`)
    else assert.equal(deaths, points.length)
  })
})

interface Site {
  readonly world: DeployWorld
  readonly userId: string
  readonly draft: SystemDraft
}

const numberOf = (point: number) => String(point).padStart(3, '0')
const fileOf = (point: number) => `migrations/System/20261101-make-${numberOf(point)}.yml`
const tableOf = (point: number) => `made_${numberOf(point)}`
/** A definition with an event, a variable and a scope for each point, and an event that is never published. */
const definitionOf = (points: readonly number[]) =>
  [
    'env:',
    ...points.map((point) => `  V${point}: { type: string }`),
    'scope:',
    ...points.map((point) => `  s${point}: { description: A scope }`),
    'event:',
    '  rest: {}',
    ...points.map((point) => `  e${point}: { scopes: [s${point}] }`),
    '',
  ].join('\n')

/** One publication that ends at a statement. @returns whether it came to its end */
async function survives({ world, userId, draft }: Site, child: ChildProcess, point: number): Promise<boolean> {
  const { host } = world
  const { system } = host
  const old = await draft.readState()
  const before = await loadActiveRelease(system)
  const points = [...Object.keys(before?.manifest.events ?? {}).map((name) => Number(name.slice(1))), point]
  const files = {
    'waypost.yml': definitionOf(points),
    [fileOf(point)]: `create_table:\n  ${tableOf(point)}: { columns: { id: id } }\n`,
  }
  const changes = Object.entries(files).map(([file, text]) => ({ file, text, before: old.texts.get(file) }))
  assert.ok(await draft.write(changes, { by: { id: userId, name: 'ann' } }))
  await stage(world, `V${point}`)
  const all = (await draft.readState()).changes.map(({ name }) => name)
  const request = {
    changes: all.filter((name) => name !== '/event/rest'),
    migrate: true,
    grant: [`s${point}`],
    against: before?.id ?? null,
  }
  const ended = once(child, 'exit')
  child.send({ request, userId, dieAt: point } satisfies Order)
  const [code] = (await ended) as [number | null]

  const assertState = async (isNew: boolean) => {
    const active = await loadActiveRelease(system)
    assert.equal(active?.id !== before?.id, isNew)
    const isPublished = Object.hasOwn(active?.manifest.events ?? {}, `e${point}`)
    const hasRun = await hasMigrated(world, point)
    const [staged, live, scopes] = [
      await find(world, 'waypost_draft_variable', `id = 'V${point}'`),
      await find(world, 'waypost_variable', `id = 'V${point}'`),
      await find(world, 'waypost_user_scope', `scope = 's${point}'`),
    ]
    assert.deepEqual([isPublished, live, scopes, staged], [isNew, isNew, isNew, !isNew], `point ${point}`)
    assert.equal((await world.tables()).includes(tableOf(point)), hasRun, `point ${point}: its table and its row`)
    assert.ok(hasRun || !isNew, `point ${point}: what is active has its migrations`)
    const { changes: left, texts } = await draft.readState()
    assert.deepEqual(
      left.map(({ name }) => name),
      isNew ? ['/event/rest'] : all,
      `point ${point}: the draft`,
    )
    assert.equal(texts.get('waypost.yml'), files['waypost.yml'])
    const activated = await find(world, 'waypost_publish', `state = 'activated' and release_id = '${active?.id}'`)
    assert.ok(!isNew || activated, `point ${point}: the publication`)
    if (active === undefined) return
    const hashes = Object.keys(active.manifest.artifacts)
    assert.equal((await loadArtifacts(system, active, active.manifest.artifacts)).length, hashes.length)
    assert.ok((await loadFiles(system, (await findActiveFileList(system))!)).length > 0)
  }
  const isNew = (await loadActiveRelease(system))?.id !== before?.id
  await assertState(isNew)
  await sql`update waypost_publish set updated_at = 0`.execute(system.db) // its server is silent for long enough
  if (!isNew) {
    const { state, error } = await publish(host, { request, userId })
    assert.equal(state, 'activated', `point ${point}: ${error?.message}`)
    await assertState(true)
  }
  return code === 0
}

/** Whether a table has such a row. */
async function find({ host }: DeployWorld, table: string, where: string): Promise<boolean> {
  const { rows } = await sql`select 1 from ${sql.table(table)} where ${sql.raw(where)}`.execute(host.system.db)
  return rows.length > 0
}

/** The table of migrations is created by the first one. */
function hasMigrated(world: DeployWorld, point: number): Promise<boolean> {
  return find(world, 'waypost_migration', `name = '20261101-make-${numberOf(point)}'`).catch(() => false)
}

async function stage({ host }: DeployWorld, id: string): Promise<void> {
  const { secrets } = await openIdentity(host)
  const value = secrets.seal('a value', { table: 'waypost_draft_variable', column: 'value', row: id })
  await host.system.db
    .insertInto('waypost_draft_variable')
    .values({ id, value, changed_at: 0, changed_by: 'ann' })
    .execute()
}
