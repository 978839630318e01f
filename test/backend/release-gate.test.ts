// The same rules hold whichever way a release becomes active: a table of rules and ways.
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { sha256, version } from '../../src/kit/index.ts'
import { everything, type Consent, type ReleaseRule } from '../../src/operate/index.ts'
import { loadActiveId } from '../../src/release/index.ts'
import { isLong, longTest } from '../support/forms.ts'
import { activated, addServer, codeIn, openWays, type Files } from './ways.ts'

/** The refusal of each rule of the gate. */
const codes: Readonly<Record<ReleaseRule, string>> = {
  olderServers: 'WP_RELEASE_SERVERS_OLDER',
  droppedMigrations: 'WP_RELEASE_MIGRATIONS_DROPPED',
  incompatibleMigrations: 'WP_RELEASE_BREAKING',
  failingActions: 'WP_RELEASE_ACTION',
  overwrittenChanges: 'WP_RELEASE_OVERWRITES',
  pendingMigrations: 'WP_RELEASE_MIGRATIONS_PENDING',
  missingVariables: 'WP_RELEASE_VARIABLES',
  breakingChanges: 'WP_RELEASE_BREAKING_CHANGES',
  accessWarnings: 'WP_RELEASE_ACCESS',
}
const tried = new Set<ReleaseRule>()
/** The code of a rule, which a test then tries. */
const codeOf = (rule: ReleaseRule) => {
  tried.add(rule)
  return codes[rule]
}
const forbidden = 'WP_RELEASE_BREAKING_FORBIDDEN'
const superseded = 'WP_RELEASE_SUPERSEDED'

const opened = await openWays()
after(() => opened.close())
const { world, source } = opened
/** A table that only the server to copy from has. */
await source.system.db.schema.createTable('app_gate_other').addColumn('id', 'integer').execute()

const events = (...names: readonly string[]) => `event: { ${names.map((name) => `${name}: {}`).join(', ')} }\n`
const forbid = 'config: { breaking_changes: forbid }\n'
const makeTable = (name: string) => `create_table:\n  ${name}:\n    columns: { id: id }\n`
const failing = `routes:
  /other:
    methods:
      GET:
        public: true
        response: { type: array, items: { type: object, properties: { id: { type: integer } } } }
        action: { class: sql-query, config: { query: select id from app_gate_other } }
`

/** All migrations that have run. */
const migrations: Record<string, string> = {}

let count = 0
/** Makes every release another one, so that no two cases share one. */
const yml = (text: string) => ({ ...migrations, 'waypost.yml': `${text}schema: { S${++count}: { type: string } }\n` })
/** The file of a migration that runs after all earlier ones. */
const nextMigration = (text: (table: string) => string) => {
  const number = String(++count).padStart(3, '0')
  return { [`migrations/System/20260101-${number}.yml`]: text(`app_gate${number}`) }
}

/** Outside of the long form, these have each test. The others, which share their code, have them in turns. */
const whole: ReadonlySet<string> = new Set(['deploy to System', 'publish', 'rollback in the backend'])

const yes: Consent = { isConfirmed: true }
const forced: Consent = { allowBreaking: true }

/** Publishes another definition in the backend. */
const publishEdit = async () => {
  const edited = yml(events('a', 'c'))
  assert.equal(await opened.ways['publish']!.activate(edited, { consent: everything }), activated)
}

for (const [name, way] of Object.entries(opened.ways)) {
  const isRollback = way.isRollback === true
  const isSave = way.isSave === true
  const isYes = isRollback || isSave
  const isPublication = name === 'publish'
  describe(name, { concurrency: 1 }, () => {
    const turn = Object.keys(opened.ways).indexOf(name)
    let declared = 0
    const declare: typeof longTest = (sentence, run) => {
      const isChosen = isLong || whole.has(name) || (declared += 1) % 4 === turn % 4
      if (isChosen) void test(sentence, run)
      else longTest(sentence, run)
    }
    type Try = readonly [consent: Consent, expected: string, against?: string]
    /** Tries a release with each consent in turn; only the last one may activate it. */
    const attempt = async (base: Files, next: Files, tries: readonly Try[], live = async () => {}) => {
      await opened.arrange(base, next, way)
      await live()
      const before = await loadActiveId(way.system)
      for (const [consent, expected, against] of tries) {
        assert.equal(await way.activate(next, { consent, against }), expected, JSON.stringify(consent))
        assert.equal((await loadActiveId(way.system)) === before, expected !== activated, JSON.stringify(consent))
      }
    }

    declare(
      'breaking changes that are forbidden need their own permission, whichever release forbids them',
      async () => {
        const tries: readonly Try[] = isSave
          ? [[{}, activated]]
          : [
              [{}, forbidden],
              [yes, forbidden],
              [forced, activated],
            ]
        const cases = [
          [forbid, forbid],
          [forbid, ''],
          ['', forbid],
        ] as const
        // Outside of the long form, one way has each of them, and the others have them in turns.
        const chosen = isLong || turn === 0 ? cases : [cases[turn % cases.length]!]
        for (const [active, later] of chosen)
          await attempt(yml(active + events('a', 'b')), yml(later + events('a')), tries)
      },
    )

    declare('other breaking changes need a yes, which a rollback, a request to deploy and a save are', async () => {
      const tries: readonly Try[] = isYes
        ? [[{}, activated]]
        : [
            [{}, codeOf('breakingChanges')],
            [isPublication ? forced : yes, activated],
          ]
      await attempt(yml(events('a', 'b')), yml(events('a')), tries)
    })

    declare(
      'new warnings about access need a yes; a rollback and a save do not, and those of the active release do not count',
      async () => {
        const code = codeOf('accessWarnings')
        const open = 'event:\n  sold: { scopes: [staff] }\n'
        const given = 'config: { scopes_default: [staff] }\n'
        const tries: readonly Try[] = isYes
          ? [[{}, activated]]
          : [
              [{}, code],
              [forced, code],
              [isPublication ? { acceptAccess: true } : yes, activated],
            ]
        await attempt(yml(open), yml(open + given), tries)
        await attempt(yml(open + given), yml(open + given), [[{}, activated]])
      },
    )

    declare('variables that a live server lacks need their own permission, which publishing cannot give', async () => {
      const code = codeOf('missingVariables')
      const next = yml(`${events('a')}env: { GATE_TOKEN: { type: string } }\n`)
      const tries: readonly Try[] = isSave
        ? [[{}, activated]]
        : [
            [{}, code],
            [{ ...yes, ...forced }, code],
            [{ allowMissing: true }, isPublication ? code : activated],
          ]
      await attempt(yml(events('a')), next, tries, async () => void (await addServer(way, version, 'HOME')))
    })

    test('a deployment undoes changes made in the backend only with their own permission', async () => {
      if (!name.startsWith('deploy')) return // the others continue from these changes, or are meant to undo them
      const code = codeOf('overwrittenChanges')
      const tries: readonly Try[] = [
        [{}, code],
        [{ ...everything, overwriteBackend: false }, code],
        [{ ...yes, overwriteBackend: true }, activated],
      ]
      await attempt(yml(events('a')), yml(events('a', 'b')), tries, publishEdit)
    })

    declare('nothing becomes active that a live server is too old for', async () => {
      const live = async () => void (await addServer(way, '0.0.1', ''))
      await attempt(yml(events('a')), yml(events('a', 'b')), [[everything, codeOf('olderServers')]], live)
    })

    declare(
      'nothing becomes active whose actions would fail on the databases, or in the place of an unseen release',
      async () => {
        const [base, next] = [yml(events('a')), yml(events('a') + (isRollback ? '' : failing))]
        const unseen: Try = [everything, superseded, 'f'.repeat(64)]
        if (isRollback) return attempt(base, next, [unseen]) // what breaks its actions are migrations
        // On the command line and in the backend, each action is named at its place in the files.
        const code = isPublication ? 'WP_BACKEND_PUBLISH_BROKEN' : 'WP_PROJECT_ACTIONS'
        return attempt(base, next, isSave ? [[{}, activated]] : [unseen, [everything, code]])
      },
    )

    declare('pending migrations must be run first, which dev does; a rollback never needs to', async () => {
      if (isRollback) return
      const added = nextMigration(makeTable)
      const next = { ...yml(events('a')), ...added }
      const run: Try = [{ ...yes, migrate: true }, activated]
      await attempt(yml(events('a')), next, isSave ? [run] : [[yes, codeOf('pendingMigrations')], run])
      Object.assign(migrations, added)
    })

    declare(
      'migrations that have run must not be missing, except in a rollback, unless they break its code',
      async () => {
        const added = nextMigration(makeTable)
        const next = yml(events('a'))
        const isFine = isRollback || isSave // the gate of dev does not look for them
        const tries: readonly Try[] = isFine ? [[{}, activated]] : [[everything, codeOf('droppedMigrations')]]
        await attempt({ ...yml(events('a')), ...added }, next, tries)
        if (isSave) return
        Object.assign(migrations, added)
        if (!isRollback) return
        const [table = ''] = Object.values(added).map((text) => /app_gate\d+/.exec(text)![0])
        const dropped = nextMigration(() => `drop_table: [${table}]\n`)
        const breaking: readonly Try[] = [[everything, codeOf('incompatibleMigrations')]]
        await attempt({ ...yml(events('a')), ...dropped }, yml(events('a')), breaking)
        Object.assign(migrations, dropped)
      },
    )
  })
}

describe('a server, for a client that does not judge', () => {
  const way = opened.ways['deploy to a URL']!
  /** Sends the release as the command would, but without its own judgement. */
  const openSending = async (base: Files, next: Files) => {
    await opened.arrange(base, next, way)
    await opened.deployToSource(next)
    const { manifest } = await source.system.db
      .selectFrom('waypost_active as active')
      .innerJoin('waypost_release as release', 'release.id', 'active.release_id')
      .select('release.manifest')
      .executeTakeFirstOrThrow()
    return async (more: object) => {
      const before = await loadActiveId(world.system)
      const json = { protocol: 2, manifest: JSON.parse(manifest), ...more }
      const { status, body } = await world.call('POST /deploy', { json })
      assert.equal((await loadActiveId(world.system)) === before, status !== 200)
      return { code: status === 200 ? activated : codeIn(body), status, detail: body.detail }
    }
  }

  test('refuses forbidden breaking changes', async () => {
    const send = await openSending(yml(forbid + events('a', 'b')), yml(forbid + events('a')))
    for (const more of [{}, { allow_breaking: false }]) {
      const { status, code } = await send(more)
      assert.deepEqual([status, code], [409, forbidden])
    }
    assert.equal((await send({ allow_breaking: true })).code, activated)
  })

  test('refuses to undo changes made in the backend, unless the client says so', async () => {
    const base = yml(events('a'))
    const send = await openSending(base, yml(events('a', 'b')))
    await publishEdit()
    const refused = await send({ allow_breaking: true })
    assert.deepEqual([refused.status, refused.code], [409, codeOf('overwrittenChanges')])
    // Its files are those of the last deployment: they lack what was published, too.
    const files = { 'waypost.yml': sha256(base['waypost.yml']) }
    assert.equal((await send({ allow_breaking: true, files })).code, codeOf('overwrittenChanges'))
    assert.equal((await send({ allow_breaking: true, accept_access: true, overwrite_backend: true })).code, activated)
  })

  test('refuses new warnings about access, unless the client says that they are accepted', async () => {
    const send = await openSending(yml('event: { a: { scopes: [x] } }\n'), yml('event: { a: {} }\n'))
    const { status, code, detail } = await send({ allow_breaking: true })
    assert.deepEqual([status, code], [409, codeOf('accessWarnings')])
    assert.match(detail, /the event a: every user with the scope consumer can subscribe to it; nothing/)
    assert.equal((await send({ accept_access: true })).code, activated)
  })

  test('refuses actions that would fail on its databases, whatever the client allows', async () => {
    const send = await openSending(yml(events('a')), yml(events('a') + failing))
    const { code, detail } = await send({ allow_breaking: true, allow_missing: true, accept_access: true })
    assert.equal(code, codeOf('failingActions'))
    assert.match(detail, /GET \/other/)
  })
})

test('each rule of the gate has been tried', () => {
  const missing = Object.keys(codes).filter((rule) => !tried.has(rule as ReleaseRule))
  assert.deepEqual(missing, [])
})
