// What the service is for, from the first command to the last callback, as its users do it: in processes of their own.
import assert from 'node:assert/strict'
import { Agent } from 'node:http'
import { after, before, describe, it } from 'node:test'
import { Webhook } from 'standardwebhooks'
import { makeProject, type TestProject } from '../support/project.ts'
import { startPostgres } from '../support/postgres.ts'
import { send, type Answer } from '../support/send.ts'
import { openReceiver, type Receiver } from './receiver.ts'
import { baseUrl, makeHost, secret, startServe, type Serving } from './serving.ts'
import { until } from '../support/until.ts'
import { defaultKinds, longTest } from '../support/forms.ts'

const password = 'quiet-otter-4417'
const milk = { title: 'Buy milk', content: 'Two bottles' }

const hello = `
export default class Hello {
  async handle() {
    return { success: true, message: 'Hello' }
  }
}
`
const additions = 'delivery_allow: [127.0.0.0/8], delivery_delays: [1s, 0s, 0s],'

describe('from init to a rollback', { concurrency: 2 }, () => {
  for (const kind of defaultKinds) describe(kind, { concurrency: 1 }, () => tell(kind))
})

function tell(kind: 'sqlite' | 'postgresql'): void {
  const closers: (() => Promise<unknown>)[] = []
  let project: TestProject
  let host: TestProject
  let serving: Serving
  let receiver: Receiver
  let client: { client_id: string; client_secret: string }
  let token: string
  let webhook: Webhook
  // Without it System is the embedded one: no variable names it, and its secret is a file.
  let production: Record<string, string> | undefined

  before(async () => {
    receiver = await openReceiver()
    closers.push(receiver.close)
    if (kind === 'postgresql') {
      const postgres = await startPostgres()
      closers.push(postgres.stop)
      production = { WAYPOST_SYSTEM_URL: await postgres.createDatabase(), WAYPOST_SECRET: secret }
    }
    project = await makeProject(production === undefined ? {} : { ...production, WAYPOST_BASE_URL: baseUrl })
    closers.push(project.remove)
  })

  after(async () => {
    for (const close of closers.toReversed()) await close()
  })

  const call = (path: string, sent: Omit<Parameters<typeof send>[1], 'path'> = {}) =>
    send(serving.port, { path, ...sent })
  const as = (bearer: string) => ({ authorization: `Bearer ${bearer}` })
  const form = (fields: Record<string, string>, headers: Record<string, string> = {}) => ({
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    body: new URLSearchParams(fields).toString(),
  })
  const execute = async (options = '') => host.run(`event:execute${options}`)

  it('System is migrated, a user and a client are added, the project is deployed', async () => {
    assert.match(await project.ok('migrate --connection System'), /Migrated {3}System\/20261120-create-app-todo /)
    await project.ok('user:add ann --email ann@example.com --scopes todo --password-stdin', { input: `${password}\n` })
    const added = await project.ok(
      'client:add shop --user ann --scopes todo,consumer --grants client_credentials,refresh_token --json',
    )
    client = JSON.parse(added)
    assert.match(client.client_id, /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
    const deployment = JSON.parse(await project.ok('deploy --yes --json'))
    assert.match(deployment.release, /^[0-9a-f]{64}$/)
    assert.equal(deployment.activated, true)
    assert.deepEqual(deployment.servers, [])
    assert.ok(deployment.changes.some((one: { name: string }) => one.name === 'POST /todo'))
  })

  it('serve needs no project folder', async () => {
    const env = production ?? {
      WAYPOST_SYSTEM_URL: `sqlite:${project.folder}/.waypost/system.db`,
      WAYPOST_SECRET: (await project.read('.waypost/secret')).trim(),
    }
    host = await makeHost({ ...env, HOST: '127.0.0.1' })
    closers.push(host.remove)
    serving = await startServe(host)
    closers.push(serving.stop)
    assert.equal((await call('/health/ready')).status, 200)
  })

  it('to-dos are listed without a token', async () => {
    const { status, body } = await call('/todo')
    assert.equal(status, 200)
    assert.deepEqual(body, { totalResults: 0, startIndex: 0, itemsPerPage: 16, entry: [] })
    assert.equal((await call('/todo', { body: milk })).status, 401)
  })

  it('a user logs in and creates a to-do', async () => {
    const login = await call('/consumer/login', { body: { username: 'ann', password } })
    assert.equal(login.status, 200)
    assert.equal(login.body.token_type, 'bearer')
    assert.equal(login.body.expires_in, 3600)
    assert.deepEqual(login.body.scope.split(' ').toSorted(), ['consumer', 'todo'])
    token = login.body.token
    assert.equal(token.split('.').length, 3)
    const created = await call('/todo', { body: milk, headers: as(token) })
    assert.equal(created.status, 201)
    assert.deepEqual({ ...created.body, id: 0 }, { success: true, message: 'To-do created', id: 0 })
    const { body } = await call(`/todo/${created.body.id}`)
    assert.deepEqual({ ...body, insert_date: '' }, { id: created.body.id, status: 1, ...milk, insert_date: '' })
  })

  it('a client gets a token with some scopes and renews it', async () => {
    const basic = Buffer.from(`${client.client_id}:${client.client_secret}`).toString('base64')
    const fields = { grant_type: 'client_credentials', scope: 'todo,consumer' }
    const issued = await call('/authorization/token', form(fields, { authorization: `Basic ${basic}` }))
    assert.equal(issued.status, 200)
    assert.match(String(issued.headers['content-type']), /^application\/json/)
    assert.deepEqual(issued.body.scope.split(',').toSorted(), ['consumer', 'todo'])
    assert.equal((await call('/todo', { body: milk, headers: as(issued.body.access_token) })).status, 201)

    const { refresh_token } = issued.body
    const renewed = await call('/authorization/token', form({ grant_type: 'refresh_token', refresh_token, ...client }))
    assert.equal(renewed.status, 200, renewed.text)
    assert.deepEqual(Object.keys(renewed.body).toSorted(), [
      'access_token',
      'expires_in',
      'refresh_token',
      'scope',
      'token_type',
    ])
    assert.notEqual(renewed.body.access_token, issued.body.access_token)
    assert.equal((await call('/todo', { body: milk, headers: as(renewed.body.access_token) })).status, 201)
  })

  it('a callback on a private address is rejected in production', async () => {
    const refused = await subscribe()
    assert.equal(refused.status, 400)
    assert.match(refused.body.detail, /"127\.0\.0\.1" is not on the public internet/)
    assert.match(refused.body.hint, /delivery_allow/)
    assert.deepEqual((await call('/consumer/subscription', { headers: as(token) })).body, { entry: [] })
  })

  function subscribe(): Promise<Answer> {
    return call('/consumer/subscription', {
      body: { event: 'todo_created', endpoint: receiver.url },
      headers: as(token),
    })
  }

  it('a deployment reaches the running server without a dropped request', async () => {
    await project.write('src/hello.ts', hello)
    await project.edit(
      'waypost.yml',
      'schema: !include',
      '  /hello: { methods: { GET: { public: true, response: Message, action: src/hello.ts } } }\nschema: !include',
    )
    await project.edit('waypost.yml', 'config: {', `config: { ${additions}`)
    const polling = poll(serving.port)
    const { activated, changes, servers } = JSON.parse(await project.ok('deploy --yes --json'))
    assert.equal(activated, true)
    assert.deepEqual(
      changes.map((one: { change: string; name: string }) => `${one.change} ${one.name}`),
      ['added GET /hello', 'added delivery_allow', 'added delivery_delays'],
    )
    assert.equal(servers.length, 1)
    await until('the new route is served', async () => (await call('/hello')).status === 200)
    const { answers, failures } = await polling.end()
    assert.deepEqual(failures, [])
    assert.ok(answers > 0)
  })

  it('deploying the same release again does nothing', async () => {
    const again = JSON.parse(await project.ok('deploy --yes --json'))
    assert.deepEqual([again.activated, again.changes], [false, []])
  })

  it('a callback is subscribed; its secret is shown once', async () => {
    const subscribed = await subscribe()
    assert.equal(subscribed.status, 201)
    assert.match(subscribed.body.secret, /^whsec_/)
    webhook = new Webhook(subscribed.body.secret)
    const again = await subscribe()
    assert.equal(again.status, 200)
    assert.equal('secret' in again.body, false)
    assert.equal(again.body.id, subscribed.body.id)
  })

  it('event:execute beside the running server delivers exactly the dispatched events, signed', async () => {
    const { body } = await call('/todo', { body: milk, headers: as(token) })
    const executed = await execute(' --json')
    assert.deepEqual(executed, {
      code: 0,
      stdout: '{"attempted":1,"delivered":1,"retrying":0,"dead":0}\n',
      stderr: '',
    })
    const todo = (await call(`/todo/${body.id}`)).body
    const [delivery] = receiver.received.slice(-1)
    assert.ok(delivery !== undefined)
    assert.equal(delivery.method, 'POST')
    assert.equal(delivery.headers['content-type'], 'application/json')
    assert.match(delivery.headers['user-agent'] ?? '', /^waypost\/\d+\.\d+\.\d+@([0-9a-f]{12}|unknown)$/)
    assert.equal(delivery.headers['waypost-event'], 'todo_created')
    assert.deepEqual(JSON.parse(delivery.body), todo)
    assert.deepEqual(webhook.verify(delivery.body, delivery.headers as Record<string, string>), todo)
    assert.throws(() => webhook.verify(`${delivery.body} `, delivery.headers as Record<string, string>))
  })

  it('without a terminal event:execute prints nothing; failed deliveries are retried later', async () => {
    const before = receiver.received.length
    receiver.answer(500)
    await call('/todo', { body: milk, headers: as(token) })
    assert.deepEqual(await execute(), { code: 0, stdout: '', stderr: '' })
    receiver.answer(204)
    let outcome = ''
    await until('it is sent again', async () => {
      outcome = (await execute(' --json')).stdout
      return receiver.received.length > before + 1
    })
    assert.equal(outcome, '{"attempted":1,"delivered":1,"retrying":0,"dead":0}\n')
    const [first, second] = receiver.received.slice(before)
    assert.ok(first !== undefined && second !== undefined)
    assert.ok(second.at - first.at > 790, 'not before the delay is over')
    assert.equal(second.body, first.body)
    assert.equal(second.headers['webhook-id'], first.headers['webhook-id'])
    webhook.verify(second.body, second.headers as Record<string, string>)
  })

  it('after four POSTs a delivery is dead, which is worth a line', async () => {
    const before = receiver.received.length
    receiver.answer(503)
    await call('/todo', { body: milk, headers: as(token) })
    let ended = await execute()
    await until('it is dead', async () => {
      if (ended.stdout === '') ended = await execute()
      return ended.stdout !== ''
    })
    assert.equal(receiver.received.length, before + 4)
    const { code, stdout, stderr } = ended
    assert.match(stdout, /^dead +todo_created → http:\/\/127\.0\.0\.1:\d+\/hook +503 +waypost event:replay dlv_\w+\n$/)
    assert.deepEqual([code, stderr], [0, ''])
  })

  // In CI, listeners.test.ts stops one, event-commands.test.ts interrupts one.
  longTest('event:execute --watch delivers continuously until it is stopped', async () => {
    receiver.answer(204)
    const watching = host.start('event:execute --watch')
    const before = receiver.received.length
    await call('/todo', { body: milk, headers: as(token) })
    await until('it is delivered', () => receiver.received.length > before)
    assert.deepEqual(await watching.stop(), { code: 0, stdout: '', stderr: '' })
  })

  it('a revoked token is rejected', async () => {
    const { access_token: own, jti } = JSON.parse(await project.ok('token:issue --user ann --scopes todo --json'))
    assert.equal((await call('/todo', { body: milk, headers: as(own) })).status, 201)
    assert.match(await project.ok(`token:revoke ${jti}`), /Revoked {4}1 valid token\n/)
    const isRefused = async () => (await call('/todo', { body: milk, headers: as(own) })).status === 401
    await until('the token is refused', isRefused)
    assert.equal((await call('/todo', { body: milk, headers: as(token) })).status, 201, 'another one still works')
  })

  it('the server stops cleanly', async () => {
    const { code, stderr } = await serving.stop()
    assert.equal(code, 0)
    assert.match(
      stderr,
      /^ {2}Serving {4}http:\/\/localhost:\d+\n {2}System {5}\S+\n {2}Backend {4}\S+\/backend\n {13}no administrator yet: .*\n$/,
    )
  })
}

/** Asks for the list over ten connections that are kept, until it is told to end. */
function poll(port: number): { end(): Promise<{ answers: number; failures: readonly string[] }> } {
  const agent = new Agent({ keepAlive: true, maxSockets: 10 })
  const failures: string[] = []
  let answers = 0
  const over = new AbortController()
  const workers = Array.from({ length: 10 }, async () => {
    while (!over.signal.aborted) {
      const outcome = await send(port, { path: '/todo', agent }).then(
        ({ status }) => String(status),
        (error: Error) => error.message,
      )
      if (outcome === '200') answers++
      else failures.push(outcome)
      await pause(5)
    }
  })
  return {
    async end() {
      over.abort()
      await Promise.all(workers)
      agent.destroy()
      return { answers, failures }
    },
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
