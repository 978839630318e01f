// The same rules hold whichever way a release becomes active: a table of rules and ways.
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, describe, test } from 'node:test'
import { SystemDraft } from '../../src/backend/index.ts'
import { isWaypostError, version } from '../../src/kit/index.ts'
import { everything, type Consent } from '../../src/operate/index.ts'
import { openHost } from '../../src/host/index.ts'
import { deployProject, dev, rollBackTarget, type DevConsole } from '../../src/project/index.ts'
import { loadActiveId } from '../../src/release/index.ts'
import { writeFiles } from '../support/project-server.ts'
import { until } from '../support/until.ts'
import { openAdmin, type AdminWorld } from './admin.ts'

type Files = Readonly<Record<string, string>>

interface Way {
  /** Puts this release in the place of the active one, with what the caller allows. @returns the code of a refusal */
  activate(next: Files, consent: Consent): Promise<string>
  readonly isRollback?: true
  /** What is activated is what was saved, in a System of its own: saving is the yes. */
  readonly isSave?: true
}

const activated = 'activated'
const codeOf = (error: unknown) => {
  if (isWaypostError(error)) return error.code
  throw error
}

const events = (...names: readonly string[]) => `event: { ${names.map((name) => `${name}: {}`).join(', ')} }\n`
const forbid = 'config: { breaking_changes: forbid }\n'
const makeTable = (name: string) => `create_table:\n  ${name}:\n    columns: { id: id }\n`

let world: AdminWorld
let source: AdminWorld
let folder: string
let draft: SystemDraft
let saving: Awaited<ReturnType<typeof startSaving>>
let credentials: { readonly id: string; readonly secret: string }
let sourceCredentials: typeof credentials
before(async () => {
  world = await openAdmin('sqlite')
  source = await openAdmin('sqlite')
  folder = await mkdtemp(path.join(tmpdir(), 'waypost-gate-'))
  draft = new SystemDraft(world.host, () => 'test')
  saving = await startSaving()
  const client = {
    name: 'pipeline',
    user: 'root',
    scopes: ['backend.read', 'backend.deploy'],
    grants: ['client_credentials'],
  }
  credentials = await world.addClient(client)
  sourceCredentials = await source.addClient(client)
})
after(async () => {
  draft.close()
  await Promise.all([world.close(), source.close(), saving.close()])
  await rm(folder, { recursive: true, force: true })
})

const write = async (files: Files) => {
  await rm(folder, { recursive: true, force: true })
  await writeFiles(folder, files)
}
const environmentOf = ({ host }: AdminWorld) => {
  const { WAYPOST_SYSTEM_URL: url = '', ...rest } = host.environment
  return { ...rest, WAYPOST_SYSTEM_URL: `sqlite:${path.resolve(host.folder, url.replace('sqlite:', ''))}` }
}
const client = () => ({ WAYPOST_CLIENT_ID: credentials.id, WAYPOST_CLIENT_SECRET: credentials.secret })
const deploy = async (consent: Consent, more: Partial<Parameters<typeof deployProject>[0]>): Promise<string> => {
  const allowed = {
    isConfirmed: consent.isConfirmed === true,
    allowBreaking: consent.allowBreaking === true,
    allowMissing: consent.allowMissing === true,
    migrate: consent.migrate === true,
  }
  const options = { folder, variables: environmentOf(world), by: 'ann', overwriteBackend: true, ...allowed, ...more }
  return deployProject(options).then(() => activated, codeOf)
}
const rollBack = (release: string, consent: Consent, more: object): Promise<string> =>
  rollBackTarget({
    folder,
    variables: environmentOf(world),
    release,
    by: 'ann',
    waitMs: 0,
    allowBreaking: consent.allowBreaking === true,
    allowMissing: consent.allowMissing === true,
    ...more,
  }).then(() => activated, codeOf)

/** Starts `dev` on a folder of its own. */
async function startSaving() {
  const root = await mkdtemp(path.join(tmpdir(), 'waypost-gate-dev-'))
  const save = async (files: Files) => {
    // Without a moment in which there is no waypost.yml, which dev would report on a busy machine.
    await rm(path.join(root, 'migrations'), { recursive: true, force: true })
    await writeFiles(root, files)
  }
  await save({ 'waypost.yml': 'routes: {}\n' })
  let refused: unknown
  const console = new Proxy({} as DevConsole, {
    get: (_target, name) => (report: { readonly error?: unknown }) => {
      if (name === 'reloadFailed') refused = report.error ?? report
    },
  })
  const variables = { GATE_TOKEN: 'set' }
  const server = await dev({ folder: root, variables, port: 0, deliver: false, console })
  const host = await openHost({ folder: root, variables })
  return {
    system: host.system,
    async save(files: Files): Promise<string> {
      refused = undefined
      await save(files)
      await server.reload()
      return refused === undefined ? activated : codeOf(refused)
    },
    async close() {
      await host.close()
      await server.close()
      await rm(root, { recursive: true, force: true })
    },
  }
}

/** The id of a release that was active before the active one. */
let earlier = ''

const ways: Readonly<Record<string, Way>> = {
  'deploy to System': {
    async activate(next, consent) {
      await write(next)
      return deploy(consent, {})
    },
  },
  'deploy to a URL': {
    async activate(next, consent) {
      await write(next)
      return deploy(consent, { url: world.url, variables: client() })
    },
  },
  'deploy --from': {
    async activate(next, consent) {
      await write(next)
      assert.equal(await deploy(everything, { variables: environmentOf(source) }), activated)
      const from = {
        WAYPOST_FROM_CLIENT_ID: sourceCredentials.id,
        WAYPOST_FROM_CLIENT_SECRET: sourceCredentials.secret,
      }
      return deploy(consent, { from: source.url, url: world.url, variables: { ...client(), ...from } })
    },
  },
  publish: {
    async activate(next, consent) {
      const { texts } = await draft.read()
      const paths = [...new Set([...texts.keys(), ...Object.keys(next)])]
      const changes = paths.map((file) => ({ file, text: next[file], before: texts.get(file) }))
      await draft.write(changes, { by: { id: 'u1', name: 'bob' } })
      const json = {
        against: (await loadActiveId(world.system)) ?? null,
        ...(consent.migrate === true ? { migrate: true } : {}),
        ...(consent.allowBreaking === true ? { allow_breaking: true } : {}),
        ...(consent.acceptAccess === true ? { accept_access: true } : {}),
      }
      const { status, body } = await world.call('POST /draft/publish', { json })
      if (status !== 202) return String(body.type).split('#')[1]!
      await until('it is published', async () => {
        const { state } = (await world.call(`GET /publish/${body.id}`)).body
        assert.notEqual(state, 'failed')
        return state === 'activated'
      })
      return activated
    },
  },
  dev: { isSave: true, activate: (next) => saving.save(next) },
  'rollback of System': { isRollback: true, activate: (_next, consent) => rollBack(earlier, consent, {}) },
  'rollback of a URL': {
    isRollback: true,
    activate: (_next, consent) => rollBack(earlier, consent, { url: world.url, variables: client() }),
  },
  'rollback in the backend': {
    isRollback: true,
    async activate(_next, consent) {
      const json = {
        against: (await loadActiveId(world.system))!,
        ...(consent.allowBreaking === true ? { allow_breaking: true } : {}),
        ...(consent.allowMissing === true ? { allow_missing: true } : {}),
      }
      const { status, body } = await world.call(`POST /release/${earlier}/rollback`, { json })
      return status === 200 ? activated : String(body.type).split('#')[1]!
    },
  },
}

/** All migrations that have run. */
const migrations: Record<string, string> = {}

/** Makes a release with these files active, and before it the other one, if that is to be rolled back to. */
async function arrange(base: Files, next: Files, way: Way): Promise<void> {
  await systemOf(way).db.deleteFrom('waypost_server').where('id', '=', 'a').execute()
  if (way.isSave) {
    assert.equal(await saving.save(base), activated)
    return
  }
  await draft.discard(undefined, { id: 'u1', name: 'bob' })
  const put = async (files: Files) => {
    await write(files)
    assert.equal(await deploy(everything, {}), activated)
    return (await loadActiveId(world.system))!
  }
  if (way.isRollback === true) earlier = await put(next)
  await put(base)
}

const systemOf = ({ isSave }: Way) => (isSave ? saving.system : world.system)

const addServer = (way: Way, own: string, variables: string) => {
  const system = systemOf(way)
  const now = system.now()
  const times = { started_at: now, heartbeat_at: now, state_at: now }
  const row = { id: 'a', name: 'app-1', version: own, variables, secret_ids: '', issuer: '', ...times }
  const status = { state: 'serving' as const, error: null, release_id: null, wanted_id: null }
  return system.db
    .insertInto('waypost_server')
    .values({ ...row, ...status })
    .execute()
}

let count = 0
/** Makes every release another one, so that no two cases share one. */
const yml = (text: string) => ({ ...migrations, 'waypost.yml': `${text}schema: { S${++count}: { type: string } }\n` })

const yes: Consent = { isConfirmed: true }
const forced: Consent = { allowBreaking: true }

for (const [name, way] of Object.entries(ways)) {
  const isRollback = way.isRollback === true
  const isSave = way.isSave === true
  const isYes = isRollback || isSave
  describe(name, { concurrency: 1 }, () => {
    /** Tries a release with each consent in turn; only the last one may activate it. */
    const attempt = async (
      base: Files,
      next: Files,
      tries: readonly (readonly [Consent, string])[],
      live = async () => {},
    ) => {
      await arrange(base, next, way)
      await live()
      const system = systemOf(way)
      const before = await loadActiveId(system)
      for (const [consent, expected] of tries) {
        assert.equal(await way.activate(next, consent), expected, JSON.stringify(consent))
        assert.equal((await loadActiveId(system)) === before, expected !== activated, JSON.stringify(consent))
      }
    }

    test('breaking changes that are forbidden need their own permission, whichever release forbids them', async () => {
      const code = 'WP_RELEASE_BREAKING_FORBIDDEN'
      const tries = isSave
        ? ([[{}, activated]] as const)
        : ([
            [{}, code],
            [yes, code],
            [forced, activated],
          ] as const)
      await attempt(yml(forbid + events('a', 'b')), yml(forbid + events('a')), tries)
      await attempt(yml(forbid + events('a', 'b')), yml(events('a')), tries)
      await attempt(yml(events('a', 'b')), yml(forbid + events('a')), tries)
    })

    test('other breaking changes need a yes, which a rollback, a request to deploy and a save are', async () => {
      const code = 'WP_RELEASE_BREAKING_CHANGES'
      const consent = name === 'publish' ? forced : yes
      const tries = isYes
        ? ([[{}, activated]] as const)
        : ([
            [{}, code],
            [consent, activated],
          ] as const)
      await attempt(yml(events('a', 'b')), yml(events('a')), tries)
    })

    test('new warnings about access need a yes; a rollback and a save do not, and those of the active release do not count', async () => {
      const code = 'WP_RELEASE_ACCESS'
      const open = 'event:\n  sold: { scopes: [staff] }\n'
      const given = 'config: { scopes_default: [staff] }\n'
      const consent = name === 'publish' ? { acceptAccess: true } : yes
      const tries = isYes
        ? ([[{}, activated]] as const)
        : ([
            [{}, code],
            [forced, code],
            [consent, activated],
          ] as const)
      await attempt(yml(open), yml(open + given), tries)
      await attempt(yml(open + given), yml(open + given), [[{}, activated]])
    })

    test('variables that a live server lacks need their own permission, which publishing cannot give', async () => {
      const code = 'WP_RELEASE_VARIABLES'
      const next = yml(`${events('a')}env: { GATE_TOKEN: { type: string } }\n`)
      const last = name === 'publish' ? code : activated
      const tries = isSave
        ? ([[{}, activated]] as const)
        : ([
            [{}, code],
            [{ ...yes, ...forced }, code],
            [{ allowMissing: true }, last],
          ] as const)
      await attempt(yml(events('a')), next, tries, async () => void (await addServer(way, version, 'HOME')))
    })

    test('nothing becomes active that a live server is too old for', async () => {
      const tries = [[everything, 'WP_RELEASE_SERVERS_OLDER']] as const
      await attempt(
        yml(events('a')),
        yml(events('a', 'b')),
        tries,
        async () => void (await addServer(way, '0.0.1', '')),
      )
    })

    test('pending migrations must be run first, which dev does; a rollback never needs to', async () => {
      if (isRollback) return
      const added = { [`migrations/System/2026010${count % 9}-gate${count}.yml`]: makeTable(`app_gate${count}`) }
      const next = { ...yml(events('a')), ...added }
      const run = [{ ...yes, migrate: true }, activated] as const
      const tries = isSave ? [run] : ([[yes, 'WP_RELEASE_MIGRATIONS_PENDING'], run] as const)
      await attempt(yml(events('a')), next, tries)
      Object.assign(migrations, added)
    })
  })
}

test('a server refuses forbidden breaking changes also from a client that does not ask', async () => {
  const way = ways['deploy to a URL']!
  const [base, next] = [yml(forbid + events('a', 'b')), yml(forbid + events('a'))]
  await arrange(base, next, way)
  // The release is sent as the command would, but without its own judgement.
  await write(next)
  const built = await deploy(everything, { variables: environmentOf(source) })
  assert.equal(built, activated)
  const row = source.system.db.selectFrom('waypost_active as active')
  const { manifest } = await row
    .innerJoin('waypost_release as release', 'release.id', 'active.release_id')
    .select('release.manifest')
    .executeTakeFirstOrThrow()
  const send = async (more: object) => {
    const json = { protocol: 2, manifest: JSON.parse(manifest), ...more }
    const { status, body } = await world.call('POST /deploy', { json })
    return [status, String(body.type).split('#')[1]]
  }
  const before = await loadActiveId(world.system)
  assert.deepEqual(await send({}), [409, 'WP_RELEASE_BREAKING_FORBIDDEN'])
  assert.deepEqual(await send({ allow_breaking: false }), [409, 'WP_RELEASE_BREAKING_FORBIDDEN'])
  assert.equal(await loadActiveId(world.system), before)
  assert.equal((await send({ allow_breaking: true }))[0], 200)
  assert.notEqual(await loadActiveId(world.system), before)
})

test('a server refuses new warnings about access from a client that does not say that they are accepted', async () => {
  const [base, next] = [yml('event: { a: { scopes: [x] } }\n'), yml('event: { a: {} }\n')]
  await write(base)
  assert.equal(await deploy(everything, {}), activated)
  await write(next)
  assert.equal(await deploy(everything, { variables: environmentOf(source) }), activated)
  const { manifest } = await source.system.db
    .selectFrom('waypost_active as active')
    .innerJoin('waypost_release as release', 'release.id', 'active.release_id')
    .select('release.manifest')
    .executeTakeFirstOrThrow()
  const before = await loadActiveId(world.system)
  const send = (more: object) =>
    world.call('POST /deploy', { json: { protocol: 2, manifest: JSON.parse(manifest), ...more } })
  const refused = await send({ allow_breaking: true })
  assert.deepEqual([refused.status, String(refused.body.type).split('#')[1]], [409, 'WP_RELEASE_ACCESS'])
  assert.match(refused.body.detail, /the event a: every user with the scope consumer can subscribe to it; nothing/)
  assert.equal(await loadActiveId(world.system), before)
  assert.equal((await send({ accept_access: true })).status, 200)
})
