import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { sql } from 'kysely'
import { verifyLogin } from '../../src/auth/account/users.ts'
import { backendClientId, issueTokens, openKeyRing, openTokenIssuer, resolveUser } from '../../src/auth/index.ts'
import { openIdentity } from '../../src/host/index.ts'
import { defaultSettings } from '../../src/kit/index.ts'
import { beginSession } from '../../src/auth/authorize/session.ts'
import { password } from '../auth/world.ts'
import { activateRelease } from '../../src/release/index.ts'
import { adminRoutes, type AdminRoute } from '../../src/backend/index.ts'
import { issueHostToken } from '../../src/operate/index.ts'
import { chooseKinds, isLong } from '../support/forms.ts'
import { asCommand, bearer } from '../support/server.ts'
import { allScopes, openAdmin, type AdminWorld } from './admin.ts'
import { makeGreeting } from './deployers.ts'

/** Changes that need no more than the scope backend.read: a token to try a route, which has no rights of administration. */
const allowedToRead = new Set(['POST /token/try'])
/** These change nothing, whatever their method. */
const reading = new Set(['POST /draft/plan'])

const lineOf = ({ method, path }: AdminRoute) => `${method} ${path}`

// Over the table of routes, so that every route that is added is covered.
for (const kind of chooseKinds('sqlite')) {
  describe(`every route of the admin API, ${kind}`, () => {
    let world: AdminWorld
    /** Values of path parameters, so that routes find something. */
    let values: Readonly<Record<string, string>>
    before(async () => {
      world = await openAdmin(kind)
      const { id } = await activateRelease(world.system, makeGreeting('hello'), { by: 'ann' })
      values = { 'release/:id': id, 'release/:other': id, 'client/:id': world.app.id, 'user/:user': 'ann' }
    })
    after(() => world.close())

    /** The request of a route with the values of its parameters, and those of its query that it requires. */
    const requestOf = ({ method, path, query }: AdminRoute): string => {
      const [kindOf = ''] = path.split('/').slice(1)
      const filled = path.replaceAll(/:\w+/g, (name) => values[`${kindOf}/${name}`] ?? '0123456789abcdef')
      const required = ((query?.required ?? []) as readonly string[]).map((name) => `${name}=${firstOf(query, name)}`)
      return `${method} ${filled}${required.length === 0 ? '' : `?${required.join('&')}`}`
    }

    test('refuses what a page of another site can send: a cookie without a token', async () => {
      const user = await verifyLogin(world.system, 'root', password)
      const session = await beginSession({ system: world.system, clock: world.clock }, user, undefined)
      for (const route of adminRoutes) {
        const [method = '', target = ''] = requestOf(route).split(' ')
        const headers = {
          cookie: `__Host-waypost-session=${session}; waypost-session=${session}`,
          origin: 'https://evil.example',
        }
        const forged = await world.send(`${method} /backend${target}`, {
          headers,
          ...(method === 'GET' ? {} : { form: { name: 'evil' } }),
        })
        assert.equal(forged.status, 401, lineOf(route))
        assert.equal(forged.headers.get('access-control-allow-origin'), null)
        const preflight = await world.send(`OPTIONS /backend${target}`, {
          headers: {
            ...headers,
            'access-control-request-method': method,
            'access-control-request-headers': 'authorization',
          },
        })
        assert.equal(preflight.headers.get('access-control-allow-origin'), null, lineOf(route))
      }
    })

    test('accepts no number beyond a double in a body', async () => {
      const { access_token: token } = await issueHostToken(asCommand(world.host), {
        user: 'root',
        scopes: [...allScopes],
        expires: undefined,
      })
      const withBodies = adminRoutes.filter(({ body }) => body !== undefined)
      assert.ok(withBodies.length > 20)
      for (const route of withBodies) {
        const [method = '', target = ''] = requestOf(route).split(' ')
        const response = await fetch(`${world.url}/backend${target}`, {
          method,
          headers: { ...bearer(token), 'content-type': 'application/json' },
          body: '{ "value": [-1e400] }',
        })
        const { type, detail } = (await response.json()) as { type: string; detail: string }
        const code = type.split('#')[1]
        assert.deepEqual([response.status, code], [400, 'WP_RUNTIME_BODY_JSON'], `${lineOf(route)} ${detail}`)
        assert.match(detail, /less than -1\.8e308/)
      }
    })

    test('rights are granted only with a recent password', async () => {
      const granting = [
        'addUser',
        'changeUser',
        'enableUser',
        'changeUserPassword',
        'addClient',
        'changeClient',
        'enableClient',
        'renewClientSecret',
      ]
      const needing = adminRoutes.filter(({ needsRecentPassword }) => needsRecentPassword === true)
      for (const name of granting)
        assert.ok(
          needing.some((route) => route.name === name),
          name,
        )
      const { host, system, clock } = world
      const { secrets, issuer } = await openIdentity(host)
      const keys = await openKeyRing(system, secrets)
      const tokens = openTokenIssuer({ system, keys, clock, secrets, issuer, settings: () => defaultSettings })
      const { id: userId } = await resolveUser(system, 'root')
      const grantee = { userId, clientId: backendClientId, scopes: allScopes, passwordAt: clock.now() - 16 * 60_000 }
      const { accessToken } = await issueTokens(tokens, grantee, { refresh: false })
      const before = await dump(world)
      for (const route of needing) {
        const [method = '', target = ''] = requestOf(route).split(' ')
        const answer = await world.send(`${method} /backend${target}`, { headers: bearer(accessToken), json: {} })
        assert.equal(answer.status, 403, lineOf(route))
        assert.match(answer.body.type, /#WP_AUTH_STEP_UP$/)
      }
      assert.deepEqual(await dump(world), before)
    })

    test('a token in the query or in a form is not one', async () => {
      const { access_token: token } = await issueHostToken(asCommand(world.host), {
        user: 'root',
        scopes: ['backend.read'],
        expires: undefined,
      })
      const found = await world.send(`GET /backend/server?access_token=${token}`)
      assert.equal(found.status, 401)
    })

    test('reading changes nothing in System', async () => {
      const reads = adminRoutes.filter(({ method }) => method === 'GET')
      // Once before: the first requests store when their token was used.
      for (const route of reads) await world.call(requestOf(route))
      const before = await dump(world)
      for (const route of reads) {
        const { status } = await world.call(requestOf(route))
        assert.ok(status < 500, `${lineOf(route)}: ${status}`)
        if (isLong) assert.deepEqual(await dump(world), before, lineOf(route)) // which of them it was
      }
      assert.deepEqual(await dump(world), before)
    })

    test('a token with backend.read can change nothing', async () => {
      const reader = await world.as('backend.read')
      await reader('GET /account')
      const before = await dump(world)
      for (const route of adminRoutes.filter(({ method }) => method !== 'GET')) {
        if (allowedToRead.has(lineOf(route))) continue
        for (const json of [undefined, {}]) {
          const { status } = await reader(requestOf(route), { json })
          if (reading.has(lineOf(route))) assert.ok(status < 500, lineOf(route))
          else assert.equal(status, 403, lineOf(route))
        }
      }
      assert.deepEqual(await dump(world), before)
    })

    test('answers contain no hash of a secret', async () => {
      for (const route of adminRoutes.filter(({ method }) => method === 'GET')) {
        const { text } = await world.call(requestOf(route))
        assert.doesNotMatch(text, /argon2|password_hash|secret_hash/, lineOf(route))
        for (const secret of [world.app.secret, world.other.secret]) assert.ok(!text.includes(secret))
      }
    })
  })
}

/** A value of a parameter that its schema allows. */
function firstOf(query: AdminRoute['query'], name: string): string {
  const schema: { enum?: readonly string[]; anyOf?: readonly { const: string }[] } | undefined = query?.properties[name]
  return schema?.enum?.[0] ?? schema?.anyOf?.[0]?.const ?? 'x'
}

/** All rows of System but those that every request or the time changes. */
async function dump({ system }: AdminWorld): Promise<Readonly<Record<string, unknown>>> {
  const all = await sql<{ name: string }>`${
    system.kind === 'sqlite'
      ? sql`select name from sqlite_master where type = 'table'`
      : sql`select table_name as name from information_schema.tables where table_schema = current_schema()`
  }`.execute(system.db)
  const changing = new Set(['waypost_server', 'waypost_statistic', 'sqlite_sequence'])
  const names = all.rows.map(({ name }) => name).filter((name) => !changing.has(name))
  assert.ok(names.includes('waypost_user') && names.includes('waypost_audit'))
  const rows: Record<string, unknown> = {}
  for (const name of names.toSorted()) {
    const { rows: found } = await sql<Record<string, unknown>>`select * from ${sql.table(name)}`.execute(system.db)
    // When a token was used is written from time to time.
    rows[name] = found
      .map(({ used_at: _, ...row }) =>
        JSON.stringify(row, (_key, value) => (typeof value === 'bigint' ? String(value) : value)),
      )
      .toSorted()
  }
  return rows
}
