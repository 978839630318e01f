// The ways in which a release becomes active, and the servers on which it does.
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { SystemDraft } from '../../src/backend/index.ts'
import { openHost } from '../../src/host/index.ts'
import { isWaypostError } from '../../src/kit/index.ts'
import { everything, type Consent } from '../../src/operate/index.ts'
import { deployProject, dev, rollBackTarget, type DevConsole } from '../../src/project/index.ts'
import { loadActiveId } from '../../src/release/index.ts'
import type { System } from '../../src/store/index.ts'
import { writeFiles } from '../support/project-server.ts'
import { until } from '../support/until.ts'
import { openAdmin, type AdminWorld } from './admin.ts'

export type Files = Readonly<Record<string, string>>

export interface Attempt {
  /** What the caller allows. */
  readonly consent: Consent
  /** The release that must be active; by default, the one that is. */
  readonly against?: string | undefined
}

export interface Way {
  /** Where the release becomes active. */
  readonly system: System
  /** Puts this release in the place of the active one. @returns the code of a refusal, or `activated` */
  activate(next: Files, attempt: Attempt): Promise<string>
  readonly isRollback?: true
  /** What is activated is what was saved, in a System of its own: saving is the yes. */
  readonly isSave?: true
}

export const activated = 'activated'

const codeOf = (error: unknown) => {
  if (isWaypostError(error)) return error.code
  throw error
}

/** The code of a problem that a server responded with. */
export const codeIn = (problem: { readonly type?: unknown }) => String(problem.type).split('#')[1]!

const environmentOf = ({ host }: AdminWorld) => {
  const { WAYPOST_SYSTEM_URL: url = '', ...rest } = host.environment
  return { ...rest, WAYPOST_SYSTEM_URL: `sqlite:${path.resolve(host.folder, url.replace('sqlite:', ''))}` }
}

const pipeline = {
  name: 'pipeline',
  user: 'root',
  scopes: ['backend.read', 'backend.deploy'],
  grants: ['client_credentials'],
}

const bob = { id: 'u1', name: 'bob' }

/** Opens a server with its draft, another one to copy releases from, and `dev`. */
export async function openWays() {
  const world = await openAdmin('sqlite')
  const source = await openAdmin('sqlite')
  const folder = await mkdtemp(path.join(tmpdir(), 'waypost-gate-'))
  const draft = new SystemDraft(world.host, () => 'test')
  const saving = await startSaving()
  const [own, other] = [await world.addClient(pipeline), await source.addClient(pipeline)]
  const client = { WAYPOST_CLIENT_ID: own.id, WAYPOST_CLIENT_SECRET: own.secret }
  const from = { WAYPOST_FROM_CLIENT_ID: other.id, WAYPOST_FROM_CLIENT_SECRET: other.secret }

  const deploy = async (files: Files, { consent, against }: Attempt, more: object = {}): Promise<string> => {
    await rm(folder, { recursive: true, force: true })
    await writeFiles(folder, files)
    const { isConfirmed = false, allowBreaking = false, allowMissing = false, migrate = false } = consent
    const { overwriteBackend = false } = consent
    const allowed = { isConfirmed, allowBreaking, allowMissing, overwriteBackend, migrate }
    const options = { folder, variables: environmentOf(world), by: 'ann', against, ...allowed }
    return deployProject({ ...options, ...more }).then(() => activated, codeOf)
  }
  /** Makes a release active on the server to copy from. */
  const deployToSource = async (files: Files) => {
    const done = await deploy(files, { consent: everything }, { variables: environmentOf(source) })
    assert.equal(done, activated)
  }
  /** The id of a release that was active before the active one. */
  let earlier = ''
  const rollBack = ({ consent, against }: Attempt, more: object = {}): Promise<string> => {
    const { allowBreaking = false, allowMissing = false } = consent
    const where = { folder, variables: environmentOf(world), release: earlier, by: 'ann', waitMs: 0 }
    return rollBackTarget({ ...where, against, allowBreaking, allowMissing, ...more }).then(() => activated, codeOf)
  }

  const { system } = world
  const ways: Readonly<Record<string, Way>> = {
    'deploy to System': { system, activate: (next, attempt) => deploy(next, attempt) },
    'deploy to a URL': {
      system,
      activate: (next, attempt) => deploy(next, attempt, { url: world.url, variables: client }),
    },
    'deploy --from': {
      system,
      async activate(next, attempt) {
        await deployToSource(next)
        return deploy(next, attempt, { from: source.url, url: world.url, variables: { ...client, ...from } })
      },
    },
    publish: {
      system,
      async activate(next, { consent, against }) {
        await draft.discard(undefined, bob)
        const { texts } = await draft.read()
        const paths = [...new Set([...texts.keys(), ...Object.keys(next)])]
        const changes = paths.map((file) => ({ file, text: next[file], before: texts.get(file) }))
        await draft.write(changes, { by: bob })
        const json = {
          against: against ?? (await loadActiveId(system)) ?? null,
          ...(consent.migrate === true ? { migrate: true } : {}),
          ...(consent.allowBreaking === true ? { allow_breaking: true } : {}),
          ...(consent.acceptAccess === true ? { accept_access: true } : {}),
        }
        const { status, body } = await world.call('POST /draft/publish', { json })
        if (status !== 202) return codeIn(body)
        await until('it is published', async () => {
          const { state } = (await world.call(`GET /publish/${body.id}`)).body
          assert.notEqual(state, 'failed')
          return state === 'activated'
        })
        return activated
      },
    },
    dev: { system: saving.system, isSave: true, activate: (next) => saving.save(next) },
    'rollback of System': { system, isRollback: true, activate: (_next, attempt) => rollBack(attempt) },
    'rollback of a URL': {
      system,
      isRollback: true,
      activate: (_next, attempt) => rollBack(attempt, { url: world.url, variables: client }),
    },
    'rollback in the backend': {
      system,
      isRollback: true,
      async activate(_next, { consent, against }) {
        const json = {
          against: against ?? (await loadActiveId(system))!,
          ...(consent.allowBreaking === true ? { allow_breaking: true } : {}),
          ...(consent.allowMissing === true ? { allow_missing: true } : {}),
        }
        const { status, body } = await world.call(`POST /release/${earlier}/rollback`, { json })
        return status === 200 ? activated : codeIn(body)
      },
    },
  }

  return {
    ways,
    world,
    source,
    deployToSource,
    /** Makes a release with these files active, and before it the other one, if that is to be rolled back to. */
    async arrange(base: Files, next: Files, way: Way): Promise<void> {
      await way.system.db.deleteFrom('waypost_server').where('id', '=', 'a').execute()
      if (way.isSave) {
        assert.equal(await saving.save(base), activated)
        return
      }
      const put = async (files: Files) => assert.equal(await deploy(files, { consent: everything }), activated)
      if (way.isRollback === true) {
        await put(next)
        earlier = (await loadActiveId(system))!
      }
      await put(base)
    },
    async close() {
      draft.close()
      await Promise.all([world.close(), source.close(), saving.close()])
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** Starts `dev` on a folder of its own. */
async function startSaving() {
  const root = await mkdtemp(path.join(tmpdir(), 'waypost-gate-dev-'))
  const write = async (files: Files) => {
    // Without a moment in which there is no waypost.yml, which dev would report on a busy machine.
    await rm(path.join(root, 'migrations'), { recursive: true, force: true })
    await writeFiles(root, files)
  }
  await write({ 'waypost.yml': 'routes: {}\n' })
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
      await write(files)
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

/** Records a server that lives, with its version and the names of its variables. */
export function addServer({ system }: Way, own: string, variables: string): Promise<unknown> {
  const now = system.now()
  const times = { started_at: now, heartbeat_at: now, state_at: now }
  const row = { id: 'a', name: 'app-1', version: own, variables, secret_ids: '', issuer: '', ...times }
  const status = { state: 'serving' as const, error: null, release_id: null, wanted_id: null }
  return system.db
    .insertInto('waypost_server')
    .values({ ...row, ...status })
    .execute()
}
