// What a server answers to requests that it refuses: the right status, a body that says why, and nothing half done.
import assert from 'node:assert/strict'
import { createHmac, generateKeyPairSync, sign } from 'node:crypto'
import { after, before, test } from 'node:test'
import { makeProject, type TestProject } from '../support/project.ts'
import { send, type Answer, type Sent } from '../support/send.ts'
import { until } from '../support/until.ts'
import { assertCalm, startServe, type Serving } from './serving.ts'

const milk = { title: 'Buy milk', content: 'Two bottles' }
const password = 'quiet-otter-4417'

let project: TestProject
let serving: Serving
let client: { client_id: string; client_secret: string }
const tokens: Record<'good' | 'narrow' | 'expired' | 'revoked', string> = {
  good: '',
  narrow: '',
  expired: '',
  revoked: '',
}

before(async () => {
  project = await makeProject({ HOST: '127.0.0.1' })
  await project.edit('waypost.yml', 'config: {', 'config: { body_limit: 2kb,')
  await project.ok('migrate')
  await project.ok('user:add ann --scopes todo --password-stdin', { input: password })
  await project.ok('deploy --yes')
  const issue = async (words: string) => JSON.parse(await project.ok(`token:issue --user ann --json${words}`))
  const [good, narrow, expired, revoked, added] = await Promise.all([
    issue(''),
    issue(' --scopes consumer'),
    issue(' --expires 1s'),
    issue(''),
    project.ok('client:add shop --user ann --scopes todo --grants client_credentials --json'),
  ])
  Object.assign(tokens, {
    good: good.access_token,
    narrow: narrow.access_token,
    expired: expired.access_token,
    revoked: revoked.access_token,
  })
  client = JSON.parse(added)
  await project.ok(`token:revoke ${revoked.jti}`)
  serving = await startServe(project)
  assert.equal((await create(tokens.good)).status, 201)
  await until('it has expired', async () => (await create(tokens.expired)).status === 401)
  existing = await count()
})
after(async () => {
  await serving?.stop()
  await project.remove()
})

let existing: number
const call = (sent: Sent) => send(serving.port, sent)
const as = (token: string) => ({ authorization: `Bearer ${token}` })
const create = (token: string) => call({ path: '/todo', body: milk, headers: as(token) })
const count = async () => (await call({ path: '/todo' })).body.totalResults as number

interface Refusal {
  readonly sent: () => Sent
  readonly status: number
  /** Of the detail, or of the OAuth2 error. */
  readonly says: RegExp
  readonly check?: (answer: Answer) => void
}

const json = { 'content-type': 'application/json' }
const form = { 'content-type': 'application/x-www-form-urlencoded' }
const basic = (id: string, key: string) => ({
  ...form,
  authorization: `Basic ${Buffer.from(`${id}:${key}`).toString('base64')}`,
})
const post =
  (body: unknown, headers: Record<string, string> = {}) =>
  (): Sent => ({
    path: '/todo',
    method: 'POST',
    body,
    headers: { ...as(tokens.good), ...headers },
  })
const challenge = (error?: string) => (answer: Answer) => {
  const header = String(answer.headers['www-authenticate'])
  assert.match(header, /^Bearer /)
  if (error !== undefined) assert.ok(header.includes(`error="${error}"`), header)
}
const problems =
  (...expected: string[]) =>
  (answer: Answer) =>
    assert.deepEqual(
      answer.body.errors.map((one: { path: string }) => one.path),
      expected,
    )
const oauth =
  (error: string) =>
  ({ body }: Answer) =>
    assert.equal(body.error, error)

const refusals: Record<string, Refusal> = {
  'a wrong password': {
    sent: () => ({ path: '/consumer/login', body: { username: 'ann', password: 'quiet-otter-4418' } }),
    status: 401,
    says: /^Wrong username or password$/,
  },
  'a user that does not exist, in the same words': {
    sent: () => ({ path: '/consumer/login', body: { username: 'bob', password } }),
    status: 401,
    says: /^Wrong username or password$/,
  },
  'a login without a password': {
    sent: () => ({ path: '/consumer/login', body: { username: 'ann' } }),
    status: 400,
    says: /does not match its schema/,
    check: problems('body/password'),
  },
  'an unknown client': {
    sent: () => ({
      path: '/authorization/token',
      headers: basic('3f0c9a52-8c3e-4a53-9d2c-0f4be1b5c7aa', 'none'),
      body: 'grant_type=client_credentials',
    }),
    status: 401,
    says: /client/,
    check: oauth('invalid_client'),
  },
  'a wrong client secret': {
    sent: () => ({
      path: '/authorization/token',
      headers: basic(client.client_id, 'none'),
      body: 'grant_type=client_credentials',
    }),
    status: 401,
    says: /client/,
    check: oauth('invalid_client'),
  },
  'a grant that does not exist': {
    sent: () => ({
      path: '/authorization/token',
      headers: basic(client.client_id, client.client_secret),
      body: 'grant_type=magic',
    }),
    status: 400,
    says: /magic|grant/,
    check: oauth('unsupported_grant_type'),
  },
  'a scope that client and user do not share': {
    sent: () => ({
      path: '/authorization/token',
      headers: basic(client.client_id, client.client_secret),
      body: 'grant_type=client_credentials&scope=backend.deploy',
    }),
    status: 400,
    says: /scope/,
    check: oauth('invalid_scope'),
  },
  'no token': {
    sent: () => ({ path: '/todo', body: milk }),
    status: 401,
    says: /^This operation requires an access token with the scope todo$/,
    check: challenge(),
  },
  'another scheme of authorization': {
    sent: () => ({ path: '/todo', body: milk, headers: { authorization: `Basic ${tokens.good}` } }),
    status: 401,
    says: /^This operation requires an access token with the scope todo$/,
    check: challenge(),
  },
  'a token of the wrong form': {
    sent: () => ({ path: '/todo', body: milk, headers: as('not a token') }),
    status: 400,
    says: /^The Authorization header must have the form "Bearer TOKEN"$/,
  },
  'an expired token': {
    sent: () => ({ path: '/todo', body: milk, headers: as(tokens.expired) }),
    status: 401,
    says: /expired/,
    check: challenge('invalid_token'),
  },
  'a revoked token': {
    sent: () => ({ path: '/todo', body: milk, headers: as(tokens.revoked) }),
    status: 401,
    says: /revoked/,
    check: challenge('invalid_token'),
  },
  'a token with another signature': {
    sent: () => ({ path: '/todo', body: milk, headers: as(forge('ES256')) }),
    status: 401,
    says: /^The access token /,
    check: challenge('invalid_token'),
  },
  'a token without a signature': {
    sent: () => ({ path: '/todo', body: milk, headers: as(forge('none')) }),
    status: 401,
    says: /^The access token /,
    check: challenge('invalid_token'),
  },
  'a token signed with the public key as a secret': {
    sent: () => ({ path: '/todo', body: milk, headers: as(forge('HS256')) }),
    status: 401,
    says: /^The access token /,
    check: challenge('invalid_token'),
  },
  'a token that lacks the scope': {
    sent: () => ({ path: '/todo', body: milk, headers: as(tokens.narrow) }),
    status: 403,
    says: /^The token has consumer; the route requires todo$/,
    check: challenge('insufficient_scope'),
  },
  'a body that lacks a field and has another too many': {
    sent: post({ title: 'x', colour: 'red' }),
    status: 400,
    says: /does not match its schema/,
    check: problems('body/content', 'body/colour'),
  },
  'a body with values that do not fit': {
    sent: post({ title: '', content: 7 }),
    status: 400,
    says: /does not match its schema/,
    check: problems('body/title', 'body/content'),
  },
  'a body that is no object': { sent: post([milk]), status: 400, says: /does not match its schema/ },
  'no body': { sent: post(undefined), status: 400, says: /does not match its schema/, check: problems('body') },
  'malformed JSON': {
    sent: post('{"title": "x", ', json),
    status: 400,
    says: /^The JSON body is not valid: it cannot be parsed$/,
  },
  'a body that is too large': {
    sent: post({ ...milk, content: 'x'.repeat(3000) }),
    status: 413,
    says: /^The body is larger than 2048 bytes$/,
  },
  'a body of another type': {
    sent: post('title=x', form),
    status: 415,
    says: /^The body must be application\/json$/,
  },
  'a query parameter that does not match': {
    sent: () => ({ path: '/todo?startIndex=-1' }),
    status: 400,
    says: /does not match its schema/,
    check: problems('query/startIndex'),
  },
  'a path parameter that does not match': {
    sent: () => ({ path: '/todo/milk' }),
    status: 400,
    says: /does not match its schema/,
    check: problems('path/todo_id'),
  },
  'a to-do that is not there': { sent: () => ({ path: '/todo/4711' }), status: 404, says: /^There is no to-do 4711$/ },
  'a path that is not there': { sent: () => ({ path: '/tood' }), status: 404, says: /^Nothing found at \/tood$/ },
  'a method that the path does not answer': {
    sent: () => ({ path: '/todo', method: 'DELETE', headers: as(tokens.good) }),
    status: 405,
    says: /^\/todo does not support DELETE$/,
    check: ({ headers }) => assert.match(String(headers.allow), /\bGET\b.*\bPOST\b/),
  },
  'a subscription to an event that does not exist': {
    sent: () => ({
      path: '/consumer/subscription',
      body: { event: 'todo_creatd', endpoint: 'https://example.com/hook' },
      headers: as(tokens.good),
    }),
    status: 400,
    says: /^Unknown event "todo_creatd"$/,
    check: ({ body }) => assert.equal(body.hint, 'Did you mean "todo_created"?'),
  },
}

for (const [what, { sent, status, says, check }] of Object.entries(refusals)) {
  test(`${what} is rejected with ${status}`, async () => {
    const answer = await call(sent())
    assert.equal(answer.status, status, answer.text)
    const isOauth = sent().path === '/authorization/token'
    if (isOauth) {
      assert.match(String(answer.headers['content-type']), /^application\/json/)
      assert.equal(answer.headers['cache-control'], 'no-store')
      assert.match(answer.body.error_description, says)
    } else {
      assert.equal(answer.headers['content-type'], 'application/problem+json')
      assert.deepEqual(
        [answer.body.status, typeof answer.body.title, typeof answer.body.type],
        [status, 'string', 'string'],
      )
      assert.match(answer.body.detail, says)
    }
    check?.(answer)
    assertCalm(answer.text)
    assert.ok(!answer.text.includes(project.folder) && !answer.text.includes('node_modules'))
    assert.equal(await count(), existing, 'nothing was created')
  })
}

test('none of this is a server error', () => {
  const logged = serving.stdout().trim().split('\n')
  assert.deepEqual(
    logged.filter((line) => JSON.parse(line).level >= 50),
    [],
  )
})

/** The good token with another `alg` and a signature that anybody could make. */
function forge(alg: 'ES256' | 'HS256' | 'none'): string {
  const [head = '', claims = ''] = tokens.good.split('.')
  const header = JSON.parse(Buffer.from(head, 'base64url').toString())
  const text = `${Buffer.from(JSON.stringify({ ...header, alg })).toString('base64url')}.${claims}`
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  if (alg === 'none') return `${text}.`
  if (alg === 'ES256') {
    return `${text}.${sign('sha256', Buffer.from(text), { key: privateKey, dsaEncoding: 'ieee-p1363' }).toString('base64url')}`
  }
  const known = publicKey.export({ format: 'pem', type: 'spki' })
  return `${text}.${createHmac('sha256', known).update(text).digest('base64url')}`
}
