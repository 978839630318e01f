import assert from 'node:assert/strict'
import type { Receiver } from './receiver.ts'
import { runWaypost } from './waypost.ts'

/** The data for the steps. */
export interface Story {
  readonly folder: string
  readonly url: string
  readonly username: string
  readonly password: string
  readonly clientId: string
  readonly clientSecret: string
}

interface Tokens {
  readonly access_token: string
  readonly refresh_token: string
}

const milk = { title: 'Buy milk', content: 'Two bottles' }

/** Prints each step as a command with real tokens. */
export async function printStory(story: Story, receiver: Receiver): Promise<void> {
  const { url, username, password, clientId, clientSecret, folder } = story
  const login = await logIn(story)
  const granted = await grant(story)
  const steps: [string, string][] = [
    ['List the to-dos, without a token', `curl ${url}/todo`],
    ['Log in', `curl ${url}/consumer/login --json '${JSON.stringify({ username, password })}'`],
    [
      'Create a to-do with the token',
      `curl ${url}/todo -H 'Authorization: Bearer ${login}' --json '${JSON.stringify(milk)}'`,
    ],
    [
      'Get a client-credentials token',
      `curl ${url}/authorization/token -u '${clientId}:${clientSecret}' -d grant_type=client_credentials -d scope=todo`,
    ],
    [
      'Refresh it (a refresh token works once)',
      `curl ${url}/authorization/token -d grant_type=refresh_token -d refresh_token=${granted.refresh_token} -d client_id=${clientId} -d client_secret=${clientSecret}`,
    ],
    [
      'Subscribe a callback URL; this terminal listens there',
      `curl ${url}/consumer/subscription -H 'Authorization: Bearer ${login}' --json '${JSON.stringify({ event: 'todo_created', endpoint: receiver.url })}'`,
    ],
    [
      'Create another to-do, then deliver its event',
      `curl ${url}/todo -H 'Authorization: Bearer ${login}' --json '${JSON.stringify(milk)}'\n     (cd ${folder} && npx waypost event:execute)`,
    ],
  ]
  process.stdout.write(`\n  Serving ${url}. Paste these into another terminal; Ctrl+C ends the demo.\n`)
  steps.forEach(([title, line], index) => process.stdout.write(`\n  ${index + 1}  ${title}\n     ${line}\n`))
}

/**
 * Runs each step and checks the result.
 * @throws on the first unexpected result
 */
export async function checkStory(story: Story, receiver: Receiver): Promise<void> {
  await step('list to-dos without a token', async () => {
    const list = await call(story, 'GET /todo')
    assert.equal(list.status, 200)
    assert.deepEqual(list.body, { totalResults: 0, startIndex: 0, itemsPerPage: 16, entry: [] })
    assert.equal((await call(story, 'POST /todo', { json: milk })).status, 401)
  })
  const login = await step('log in', () => logIn(story))
  await step('create a to-do with the token', async () => {
    const created = await call(story, 'POST /todo', { token: login, json: milk })
    assert.equal(created.status, 201)
    assert.equal(created.body['success'], true)
    assert.equal((await call(story, 'GET /todo')).body['totalResults'], 1)
  })
  const granted = await step('get a client-credentials token', async () => {
    const tokens = await grant(story)
    assert.equal((await call(story, 'POST /todo', { token: tokens.access_token, json: milk })).status, 201)
    return tokens
  })
  await step('refresh it', async () => {
    const { refresh_token: refreshToken } = granted
    const { clientId: client_id, clientSecret: client_secret } = story
    const form = { grant_type: 'refresh_token', refresh_token: refreshToken, client_id, client_secret }
    const renewed = await call(story, 'POST /authorization/token', { form })
    assert.equal(renewed.status, 200)
    assert.equal(renewed.body['token_type'], 'bearer')
    assert.notEqual(renewed.body['refresh_token'], refreshToken)
  })
  await step('subscribe a callback URL to an event', async () => {
    const subscription = { event: 'todo_created', endpoint: receiver.url }
    const created = await call(story, 'POST /consumer/subscription', { token: login, json: subscription })
    assert.equal(created.status, 201)
    assert.match(String(created.body['secret']), /^whsec_/)
  })
  await step('run event:execute and see the callback receive it', async () => {
    const { body } = await call(story, 'POST /todo', { token: login, json: milk })
    const summary = JSON.parse(await runWaypost(story.folder, ['event:execute', '--json'])) as unknown
    assert.deepEqual(summary, { attempted: 1, delivered: 1, retrying: 0, dead: 0 })
    assert.equal(receiver.received.length, 1)
    const [delivery] = receiver.received
    assert.equal((JSON.parse(delivery!.body) as { id: number }).id, body['id'])
    assert.match(String(delivery!.headers['user-agent']), /^waypost\/\d+\.\d+\.\d+@\w+$/)
  })
}

async function step<Value>(name: string, work: () => Promise<Value>): Promise<Value> {
  try {
    const value = await work()
    process.stdout.write(`  ✓ ${name}\n`)
    return value
  } catch (error) {
    throw new Error(`${name}: ${error instanceof Error ? error.message : String(error)}`, { cause: error })
  }
}

async function logIn(story: Story): Promise<string> {
  const { username, password } = story
  const { status, body } = await call(story, 'POST /consumer/login', { json: { username, password } })
  assert.equal(status, 200)
  return String(body['token'])
}

async function grant(story: Story): Promise<Tokens> {
  const basic = Buffer.from(`${story.clientId}:${story.clientSecret}`).toString('base64')
  const form = { grant_type: 'client_credentials', scope: 'todo' }
  const { status, body } = await call(story, 'POST /authorization/token', { form, authorization: `Basic ${basic}` })
  assert.equal(status, 200)
  assert.equal(body['scope'], 'todo')
  return body as unknown as Tokens
}

interface SendOptions {
  readonly token?: string
  readonly authorization?: string
  readonly json?: object
  readonly form?: Record<string, string>
}

async function call({ url }: Story, route: string, options: SendOptions = {}) {
  const [method = '', path = ''] = route.split(' ')
  const authorization = options.token === undefined ? options.authorization : `Bearer ${options.token}`
  const response = await fetch(url + path, {
    method,
    headers: {
      ...(authorization === undefined ? {} : { authorization }),
      ...(options.json === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(options.json === undefined ? {} : { body: JSON.stringify(options.json) }),
    ...(options.form === undefined ? {} : { body: new URLSearchParams(options.form) }),
  })
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }
}
