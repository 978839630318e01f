// Users, clients, scopes and tokens as an operator administers them, beside a server that runs.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { userInfo } from 'node:os'
import path from 'node:path'
import { after, before, describe, it } from 'node:test'
import { sha256 } from '../../src/kit/index.ts'
import { activateRelease } from '../../src/release/index.ts'
import { checkout, cleanEnvironment } from '../support/cli.ts'
import { send } from '../support/send.ts'
import { addCode, addSession, countCodes, makeRelease } from './administration-rows.ts'
import { makeSystem, type NewSystem } from './new-system.ts'
import { assertCalm, startServe, type Serving } from './serving.ts'
import { until } from '../support/until.ts'
import { chooseKinds, isLong } from '../support/forms.ts'

const password = 'quiet-otter-4417'
const noTerminal = spawnSync('script', ['--version']).status === 0 ? false : 'there is no script(1) to make a terminal'
const commands =
  'user:list user:password user:disable client:list client:secret client:disable scope:list token:list secret:rotate issuer:change audit:list doctor'.split(
    ' ',
  )

describe('administration', { concurrency: 2 }, () => {
  for (const kind of chooseKinds('sqlite')) describe(kind, { concurrency: 1 }, () => administer(kind))
})

interface Audited {
  readonly action: string
  readonly kind: string
  readonly subject: string | null
  readonly time: string
}

function administer(kind: 'sqlite' | 'postgresql'): void {
  let made: NewSystem
  let serving: Serving
  let shop: { client_id: string; client_secret: string }
  const ok = (words: string, input?: string) => made.folder.ok(words, input === undefined ? {} : { input })
  const json = async (words: string, input?: string) => JSON.parse(await ok(`${words} --json`, input))
  const logIn = (as: string) => send(serving.port, { path: '/consumer/login', body: { username: 'ann', password: as } })
  const askToken = (client: { client_id: string; client_secret: string }) =>
    send(serving.port, {
      path: '/authorization/token',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({ grant_type: 'client_credentials', ...client }).toString(),
    })
  const use = async (token: string) =>
    (await send(serving.port, { path: '/consumer/subscription', headers: { authorization: `Bearer ${token}` } })).status
  const refused = (token: string) => until('the token is refused', async () => (await use(token)) === 401)

  /** What a command prints on a terminal of 80 columns. */
  const onTerminal = (words: string, input = '') => {
    const command = `stty cols 80; ${process.execPath} ${path.join(checkout, 'bin/run.js')} ${words}`
    const { stdout } = spawnSync('script', ['-qec', command, '/dev/null'], {
      cwd: made.folder.folder,
      encoding: 'utf8',
      input,
      env: cleanEnvironment({ ...made.variables, TERM: 'xterm-256color' }),
    })
    return stdout
  }

  before(async () => {
    made = await makeSystem(kind)
    await activateRelease(made.host.system, makeRelease(), { by: 'test' })
    await ok('user:add ann --scopes todo --password-stdin', `${password}\n`)
    await ok('user:add bob --email bob@example.com --admin')
    shop = await json('client:add shop --user ann')
    serving = await startServe(made.folder)
  })
  after(async () => {
    await serving.stop()
    await made.close()
  })

  it('user:list lists users by name with their scopes', async () => {
    const lines = (await ok('user:list')).split('\n')
    assert.match(lines[0] ?? '', /^NAME  STATUS  SCOPES +EMAIL +CREATED$/)
    assert.match(lines[1] ?? '', /^ann   active  consumer, todo +- +\d{4}-\d\d-\d\d$/)
    const { users } = await json('user:list --scope backend.admin')
    assert.deepEqual(
      users.map(({ id, created, ...user }: { id: string; created: string }) => [
        user,
        id.length,
        Date.parse(created) > 0,
      ]),
      [
        [
          {
            name: 'bob',
            email: 'bob@example.com',
            status: 'active',
            scopes: [
              'backend.admin',
              'backend.data',
              'backend.deploy',
              'backend.operate',
              'backend.read',
              'backend.write',
              'consumer',
            ],
          },
          36,
          true,
        ],
      ],
    )
    assert.equal((await json('user:list --limit 1')).users.length, 1)
    const found = (await json('user:list --search bob@')).users as { name: string }[]
    assert.deepEqual(
      found.map(({ name }) => name),
      ['bob'],
    )
  })

  it('scopes of administration require --admin, and are never a default of clients', async () => {
    const [ann] = (await json('user:list')).users
    assert.deepEqual(ann.scopes, ['consumer', 'todo'])
    const { scopes } = await json('client:add desk --user bob')
    assert.deepEqual(scopes, ['consumer'])
    const { code, stdout } = await made.folder.run('client:add desk --user ann --scopes backend.read --json')
    assert.deepEqual([code, JSON.parse(stdout).error.code], [1, 'WP_AUTH_SCOPE_LACKED'])
    const token = await made.folder.run('token:issue --user ann --scopes backend.read --json')
    assert.deepEqual([token.code, JSON.parse(token.stdout).error.code], [1, 'WP_AUTH_SCOPE_LACKED'])
    assert.deepEqual((await json('user:scopes ann --add backend.read')).scopes, ['backend.read', 'consumer', 'todo'])
    await ok('user:scopes ann --remove backend.read')
  })

  it('client:list lists clients with their owner, without their secrets', async () => {
    const text = await ok('client:list --user ann')
    assert.match(text, /^CLIENT +NAME +USER +SCOPES +GRANTS\n/)
    assert.ok(text.includes(`${shop.client_id}  shop  ann   consumer, todo  client_credentials, refresh_token\n`), text)
    const { clients } = await json('client:list')
    assert.ok(clients.some(({ name }: { name: string }) => name === 'desk'))
    for (const hidden of [shop.client_secret, sha256(shop.client_secret)]) {
      assert.ok(!JSON.stringify(clients).includes(hidden))
    }
  })

  it('scope:list shows which routes need and which users have each scope, and unused scopes', async () => {
    const { stdout, stderr } = await made.folder.run('scope:list')
    const rows = stdout.split('\n').map((line) => line.split(/ {2,}/))
    assert.deepEqual(rows[0], ['SCOPE', 'ROUTES', 'EVENTS', 'USERS', 'CLIENTS', 'DESCRIPTION'])
    assert.deepEqual(
      rows.find(([name]) => name === 'todo'),
      ['todo', '2', '0', '1', '1', 'To-dos'],
    )
    assert.deepEqual(rows.find(([name]) => name === 'order')?.slice(0, 5), ['order', '1', '1', '0', '0'])
    assert.equal(stderr, '\nNo user has order. To grant it: waypost user:scopes NAME --add order\n')
    const { scopes } = await json('scope:list')
    assert.deepEqual(
      scopes.find(({ name }: { name: string }) => name === 'backend.admin'),
      { name: 'backend.admin', routes: 0, events: 0, users: 1, clients: 0, plugins: [], description: builtInAdmin },
    )
  })

  it('an unneeded scope can be granted, with a notice that it is unused', async () => {
    const { code, stderr } = await made.folder.run('user:scopes bob --add todoo,consumer')
    assert.equal(code, 0)
    assert.match(stderr, /^ {2}Unused {5}the active release does not use todoo: waypost scope:list$/m)
    const taken = await made.folder.run('user:scopes bob --remove todoo')
    assert.doesNotMatch(taken.stderr, /Unused/)
  })

  it('token:list lists valid tokens, of all or of one user or client', async () => {
    const own = await json('token:issue --user ann --scopes todo')
    const issued = (await askToken(shop)).body.access_token as string
    const { tokens } = await json('token:list --user ann')
    assert.deepEqual(
      tokens.map(({ user, client, scope }: Record<string, string>) => [user, client, scope]),
      [
        ['ann', 'shop', 'consumer todo'],
        ['ann', 'login', 'todo'],
      ],
    )
    assert.equal((await json('token:list --client shop')).tokens.length, 1)
    assert.equal((await json('token:list --user bob')).tokens.length, 0)
    const text = await ok('token:list')
    assert.match(text, /^JTI +USER +CLIENT +SCOPE +LEFT +USED\n/)
    assert.ok(text.includes(own.jti) && !text.includes(issued))
    await ok(`token:revoke ${own.access_token}`)
    assert.deepEqual(
      (await json('token:list')).tokens.map(({ client }: { client: string }) => client),
      ['shop'],
    )
  })

  it('client:secret prints a new secret once; the old one stops working at once, tokens stay valid', async () => {
    const { access_token: token } = (await askToken(shop)).body
    const { stdout, stderr } = await made.folder.run('client:secret shop')
    const [, fresh = ''] = /^ {2}Secret {5}(\S{43}) {3}\(shown only once\)$/m.exec(stdout) ?? []
    assert.match(stderr, /^ {2}Target {5}\S+\n {2}If the old secret was stolen: waypost token:revoke --client /)
    await until('the old secret is refused', async () => (await askToken(shop)).status === 401)
    shop = { ...shop, client_secret: fresh }
    await until('the new one counts', async () => (await askToken(shop)).status === 200)
    assert.equal(await use(token), 200)
    const app = await json('client:add app --user ann --public --grants refresh_token')
    const none = await made.folder.run(`client:secret ${app.client_id} --json`)
    assert.deepEqual([none.code, JSON.parse(none.stdout).error.code], [1, 'WP_AUTH_CLIENT_PUBLIC'])
  })

  it('client:disable ends all access of a client; --enable allows new tokens and restores no old ones', async () => {
    const { access_token: token } = (await askToken(shop)).body
    assert.equal(await use(token), 200)
    const disabled = await json('client:disable shop')
    assert.deepEqual(
      { ...disabled, revoked: disabled.revoked > 0 },
      {
        client_id: shop.client_id,
        name: 'shop',
        status: 'disabled',
        revoked: true,
        subscriptions: 0,
      },
    )
    await refused(token)
    await until('the client is refused', async () => (await askToken(shop)).status === 401)
    assert.match(await ok('client:list'), /shop \(disabled\)/)
    assert.match(await ok(`client:disable ${shop.client_id} --enable`), /^ {2}Enabled {4}\S{36} {3}shop\n$/)
    await until('the client may ask again', async () => (await askToken(shop)).status === 200)
    assert.equal(await use(token), 401)
    const login = await made.folder.run('client:disable login --json')
    assert.deepEqual([login.code, JSON.parse(login.stdout).error.code], [1, 'WP_AUTH_CLIENT_BUILT_IN'])
  })

  it('user:disable ends tokens, logins and sessions; --enable allows new logins and restores no old ones', async () => {
    const { token, refresh_token } = (await logIn(password)).body
    await addSession(made)
    assert.equal(await use(token), 200)
    const disabled = await json('user:disable ann')
    assert.deepEqual(
      [disabled.name, disabled.status, disabled.revoked >= 1, disabled.sessions],
      ['ann', 'disabled', true, 1],
    )
    await refused(token)
    assert.equal((await logIn(password)).status, 401)
    assert.match(await ok('user:disable ann --enable'), /^ {2}Enabled {4}ann\n$/)
    assert.equal((await logIn(password)).status, 200)
    assert.equal(await use(token), 401)
    const renewed = await send(serving.port, { method: 'PUT', path: '/consumer/login', body: { refresh_token } })
    assert.ok(renewed.status >= 400)
  })

  it('user:password takes a password from stdin or generates one, and ends sessions of the old one', async () => {
    const { token } = (await logIn(password)).body
    await addSession(made)
    const changed = await json('user:password ann --password-stdin', 'another-otter-1\n')
    assert.deepEqual(Object.keys(changed), ['name', 'revoked', 'sessions', 'clients', 'subscriptions'])
    assert.equal(changed.sessions, 1)
    await refused(token)
    assert.equal((await logIn(password)).status, 401)
    const kept = (await logIn('another-otter-1')).body.token
    const generated = await json('user:password ann --keep-tokens')
    assert.equal(generated.revoked, 0)
    assert.equal((await logIn(generated.password)).status, 200)
    assert.equal(await use(kept), 200)
    const weak = await made.folder.run('user:password ann --password-stdin', { input: 'short' })
    assert.equal(weak.code, 1)
    assert.match(weak.stderr, /A password must have 8 to 1,024 characters/)
    const added = await made.folder.run('user:add ann.smith --password-stdin', { input: 'Ann.Smith' })
    assert.equal(added.code, 1)
    assert.match(added.stderr, /The password must not be the username/)
    await ok('user:password ann --password-stdin', password)
  })

  const endings = [
    ['', 'y', false],
    ['', 'n', true],
    [' --no-end-clients', '', true],
  ] as const
  // In CI, backend/access-api.test.ts has the other answers.
  for (const [words, answer, active] of isLong ? endings : endings.slice(0, 1)) {
    it(`user:password${words} in a terminal offers to end clients: "${answer}"`, { skip: noTerminal }, async () => {
      const program = await json('client:add program --user bob --grants client_credentials')
      const stdout = onTerminal(`user:password bob${words}`, `${answer}\n`)
      assert.equal(/Disable \d clients? with client_credentials too\? \(y\/N\)/.test(stdout), answer !== '')
      assert.equal(/Active {5}\d clients? with client_credentials: waypost client:list --user bob/.test(stdout), active)
      await until('the client is told', async () => (await askToken(program)).status === (active ? 200 : 401))
    })
  }

  it('token:revoke accepts a token, a user with its sessions and codes, or a client by its name', async () => {
    const one = (await askToken(shop)).body.access_token
    assert.deepEqual(await json(`token:revoke ${one}`), { revoked: 1, sessions: 0 })
    await refused(one)
    const login = (await logIn(password)).body
    const other = (await askToken(shop)).body
    await addSession(made)
    await addCode(made, shop.client_id)
    const { revoked, sessions } = await json('token:revoke --client shop')
    assert.deepEqual([revoked >= 1, sessions], [true, 0])
    await refused(other.access_token)
    assert.equal(await use(login.token), 200, 'of another client')
    assert.equal(await countCodes(made), 0)
    await addCode(made, shop.client_id)
    const ended = await json('token:revoke --user ann')
    assert.deepEqual([ended.revoked >= 1, ended.sessions], [true, 1])
    await refused(login.token)
    assert.equal(await countCodes(made), 0)
    const renewing = { method: 'PUT', path: '/consumer/login', body: { refresh_token: login.refresh_token } }
    assert.ok((await send(serving.port, renewing)).status >= 400)
    const families = await made.host.system.db
      .selectFrom('waypost_token_family')
      .select('id')
      .where('revoked_at', 'is', null)
      .execute()
    assert.deepEqual(families, [])
  })

  const wrong: readonly (readonly [words: string, code: 1 | 2, says: RegExp])[] = [
    ['user:disable anne', 1, /Unknown user "anne"\n {2}Did you mean "ann"\?/],
    ['user:password nobody-like-that', 1, /Unknown user "nobody-like-that"/],
    ['client:disable shpo', 1, /No client has the id or name "shpo"\n {2}Did you mean "shop"\?/],
    ['client:secret 00000000-0000-4000-8000-0000000000ff', 1, /No client has the id or name/],
    ['token:list --client shpo', 1, /Did you mean "shop"\?/],
    ['token:list --user anne', 1, /Did you mean "ann"\?/],
    ['token:revoke 3f0c9a52-8c3e-4a53-9d2c-0f4be1b5c7aa', 1, /Unknown token .*\n.*waypost token:list/],
    ['token:revoke', 2, /Specify one of JTI, --user and --client/],
    ['token:revoke --user ann --client shop', 2, /Specify one of JTI, --user and --client/],
    ['user:disable', 2, /Missing argument NAME/],
    ['user:list --limit 0', 2, /limit/],
    ['client:disable shop --enabled', 2, /Unknown flag "--enabled"/],
  ]
  for (const [words, code, says] of wrong) {
    it(`${words} exits with ${code} and the reason`, async () => {
      const ended = await made.folder.run(words)
      assert.equal(ended.code, code, ended.stderr)
      assert.match(ended.stderr, says)
      assert.equal(ended.stdout, '')
      assertCalm(ended.stderr)
    })
  }

  it('audit:list lists who changed what, of all or of one user or action', async () => {
    const name = userInfo().username
    const { audit } = await json('audit:list --since 1h')
    const scopes = audit.find(({ action, subject }: Audited) => action === 'user.add' && subject === 'ann')
    assert.partialDeepStrictEqual(scopes, { how: 'command', user: name, user_id: null, client_id: null, kind: 'user' })
    assert.deepEqual(scopes.after, { scopes: ['consumer', 'todo'] })
    assert.match(scopes.time, /^\d{4}-\d\d-\d\dT.+Z$/)
    const times = audit.map(({ time }: Audited) => time)
    assert.deepEqual(times, times.toSorted().toReversed())
    const kinds = (await json('audit:list --action client')).audit.map(({ kind: of }: Audited) => of)
    assert.deepEqual([...new Set(kinds)], ['client'])
    assert.ok((await json(`audit:list --user ${name}`)).audit.length >= audit.length)
    assert.deepEqual(await json('audit:list --user nobody-here'), { audit: [] })
    const lines = (await ok('audit:list --action user.add')).split('\n')
    assert.match(lines[0] ?? '', /^TIME \(UTC\) +USER +HOW +ACTION +SUBJECT +CHANGE$/)
    assert.match(
      lines[1] ?? '',
      /^\d{4}-\d\d-\d\d \d\d:\d\d +\S+ +command +user\.add +\S+ +(email \S+, )?scopes .*consumer/,
    )
    assert.match((await made.folder.run('audit:list --since lately')).stderr, /"lately" is not a valid time/)
  })

  it('of several clients with one name none is chosen by chance', async () => {
    await ok('client:add twin --user ann')
    await ok('client:add twin --user bob')
    const { code, stdout } = await made.folder.run('client:disable twin --json')
    const { error } = JSON.parse(stdout)
    assert.deepEqual([code, error.code], [1, 'WP_AUTH_CLIENT_AMBIGUOUS'])
    assert.match(error.hint, /^Use the id instead: \S{36} of (ann, \S{36} of bob|bob, \S{36} of ann)$/)
  })

  it(
    'tables keep to the width of a terminal',
    { skip: noTerminal || (!isLong && 'output.test.ts has tables too') },
    async () => {
      await ok('token:issue --user bob')
      for (const words of ['user:list', 'client:list', 'scope:list', 'token:list', 'audit:list']) {
        const lines = onTerminal(words).split(/\r?\n/)
        assert.ok(lines.length > 2, lines.join('\n'))
        assert.deepEqual(
          lines.filter((line) => line.length > 80),
          [],
          words,
        )
      }
    },
  )

  if (kind === 'sqlite') {
    for (const command of commands) {
      it(`${command} --help leads with examples and fits into 80 columns`, async () => {
        const help = await ok(`${command} --help`)
        assert.match(help, new RegExp(`^\\S.*\\n\\nEXAMPLES\\n {2}\\$ waypost ${command}\\b`))
        assert.deepEqual(
          help
            .slice(help.indexOf('\nUSAGE'))
            .split('\n')
            .filter((line) => line.length > 80),
          [],
        )
      })
    }
  }
}

const builtInAdmin = 'Administer users, clients and security settings'
