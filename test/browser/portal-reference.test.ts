// A stranger reads the API reference of the portal and calls its operations.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { after, before, describe, test } from 'node:test'
import { promisify } from 'node:util'
import type { Page } from 'playwright-core'
import { addUser } from '../../src/auth/index.ts'
import { actionFile } from '../support/project-server.ts'
import { storeScreenshot } from '../support/browser.ts'
import { checkLooks, checkPage, goTo } from './backend-world.ts'
import { logIn, openPortal, openPortalWorld, origin, password, root, type PortalWorld } from './portal-world.ts'
import { isLong, longTest } from '../support/forms.ts'

const hostile = `<img src=x onerror="window.ran = true"> **bold** [link](javascript:window.ran=true)`

const definition = (docs: string) => `
config:
  portal: true
  title: Corner Shop
  accent: '#0f766e'
  docs: ${docs}
routes:
  /book:
    methods:
      GET:
        public: true
        description: Lists books. Without a filter, the newest come first.
        parameters:
          limit: { type: integer, minimum: 1, maximum: 100, default: 20, description: How many to return }
          author: { type: string, description: 'The name, or a part of it' }
          copies: { type: integer }
          copies.gte: { type: integer, description: At least }
          sort: { enum: [title, added], default: added }
        response: BookList
        action: src/list.ts
      POST:
        scopes: [todo]
        description: >-
          Adds a book. It is visible at once.


          - Its \`isbn\` must be **unique**.

          - The number of copies can be changed later.
        rate: gentle
        request: Book
        responses: { 201: Book }
        action: src/add.ts
  /book/:book_id:
    path: { book_id: { type: integer, minimum: 1, description: The number of the book } }
    methods:
      GET: { public: true, description: Reads a book, response: Book, action: src/read.ts }
      DELETE: { scopes: [editor, owner], description: Removes a book, responses: { 204: }, action: src/remove.ts }
  /shelf/:name:
    deprecated: true
    methods:
      GET: { scopes: [todo], description: Reads a shelf, response: Shelf, action: src/read.ts }
  /hostile:
    methods:
      GET:
        public: true
        description: ${JSON.stringify(hostile)}
        response: { type: object, properties: { ${JSON.stringify(hostile)}: { type: string, description: ${JSON.stringify(hostile)} } } }
        action: src/hostile.ts
schema:
  Genre: { type: string, enum: [novel, poetry, guide], description: The kind of book }
  Book:
    type: object
    required: [title, isbn]
    properties:
      title: { type: string, maxLength: 200, examples: [The Lighthouse] }
      isbn: { type: string, pattern: '^[0-9-]{10,17}$', examples: [978-0-00-000000-2] }
      genre: { $ref: schema:///Genre }
      copies: { type: integer, minimum: 0, default: 1 }
      author: { $ref: schema:///Author }
  Author:
    type: object
    description: Who wrote it
    properties:
      name: { type: string, examples: [Virginia Woolf] }
      born: { type: [string, 'null'], format: date }
      books: { type: array, items: { $ref: schema:///Book } }
  BookList: { type: object, required: [entry], properties: { entry: { type: array, items: { $ref: schema:///Book } }, next: { type: string } } }
  Shelf: { type: object, properties: { name: { type: string }, inner: { $ref: schema:///Shelf } } }
rate: { gentle: { limit: 60, window: 1m } }
scope: { todo: { description: To change books }, editor: { description: To remove books }, owner: {} }
`

const files = (docs: string) => ({
  'waypost.yml': definition(docs),
  'src/list.ts': actionFile("return { entry: [{ title: 'The Lighthouse', isbn: '978-0-00-000000-2' }] }"),
  'src/add.ts': actionFile('return context.respond(201, request.body)'),
  'src/read.ts': actionFile("return { title: 'The Lighthouse', isbn: '978-0-00-000000-2' }"),
  'src/remove.ts': actionFile('return context.respond(204)'),
  'src/hostile.ts': actionFile(`return { [${JSON.stringify(hostile)}]: ${JSON.stringify(hostile)} }`),
})

/** Requests that are refused appear in the console of the browser. */
function withoutRefused(complaints: readonly string[]): readonly string[] {
  return complaints.filter((text) => !/Failed to load resource: .* 40[13] /.test(text))
}

const answer = (page: Page) => page.getByRole('region', { name: 'Response', exact: true })
const send = (page: Page) => page.getByRole('button', { name: 'Send', exact: true }).click()

describe('the API reference of the portal', { timeout: 600_000 }, () => {
  let world: PortalWorld
  before(async () => {
    world = await openPortalWorld({ files: files('public') })
  })
  after(() => world[Symbol.asyncDispose]())

  // In CI, docs-content.test.ts lists and finds them, read-openapi.test.ts has the filter.
  longTest('lists operations for visitors and finds them by words', async () => {
    await using opened = await world.open()
    const { page, complaints } = opened
    await page.goto(`${origin}${root}/reference`)
    const list = page.locator('.operations li')
    await list.first().waitFor()
    assert.deepEqual(await page.locator('.operation-path').allTextContents(), [
      '/book', '/book', '/book/:book_id', '/book/:book_id', '/hostile', '/shelf/:name',
    ]) // prettier-ignore
    assert.match((await list.nth(3).textContent())!, /DELETE.*Removes a book.*editor or owner/)
    await page.getByRole('searchbox', { name: 'Filter operations' }).fill('remove EDITOR')
    await page.getByText('1 operation', { exact: true }).waitFor()
    assert.equal(await list.count(), 1)
    await page.reload()
    await page.getByText('1 operation', { exact: true }).waitFor()
    await page.getByRole('searchbox').fill('zebra')
    await page.getByRole('button', { name: 'Clear the filter' }).click()
    await list.nth(5).waitFor()
    await list.nth(3).getByRole('link').click()
    await page.getByRole('heading', { name: 'Removes a book', level: 1 }).waitFor()
    assert.deepEqual(complaints, [])
  })

  // In CI, docs-content.test.ts shows the same parts, read-openapi.test.ts makes the code.
  longTest('describes access, parameters, bodies, answers and errors of an operation, with code', async () => {
    await using opened = await world.open({ viewport: { width: 1440, height: 900 } })
    const { page, complaints } = opened
    await page.goto(`${origin}${root}/reference/createBook`)
    await page.getByRole('heading', { name: 'Adds a book', level: 1 }).waitFor()
    const content = page.locator('#content')
    await content.getByText('Needs an access token with the scope').waitFor()
    await content.getByText('At most 60 requests in 60 s by one caller.').waitFor()
    assert.deepEqual(await content.locator('.prose li').allTextContents(), [
      'Its isbn must be unique.',
      'The number of copies can be changed later.',
    ])
    const text = (await content.textContent())!
    assert.doesNotMatch(text, /Requires an access token/, 'said once')
    for (const part of ['novelpoetryguide', 'The kind of book', 'default 1', 'Too many requests'])
      assert.ok(text.includes(part), part)
    // A book has an author, who has books: what contains itself is shown on demand.
    await content.getByText('Properties of Book').first().click()
    await content.getByText('Properties of Book').nth(2).waitFor()

    const code = page.getByRole('region', { name: /^Code in/ })
    assert.match(
      (await code.textContent())!,
      /^curl -X POST 'http:\/\/localhost:3000\/book' .*Bearer \$TOKEN.*Lighthouse/s,
    )
    await page.getByLabel('Language').selectOption('python')
    assert.match((await code.textContent())!, /requests\.post\(/)
    const sample = page.getByRole('region', { name: 'Example response' })
    assert.match((await sample.textContent())!, /"isbn": "978-0-00-000000-2"/)
    await page.getByLabel('Status of the response').selectOption('400')
    assert.match((await sample.textContent())!, /"body\/title"/)
    await page.getByRole('link', { name: /Next/ }).click()
    await page.getByRole('heading', { name: 'Reads a book', level: 1 }).waitFor()
    assert.match(
      (await code.textContent())!,
      /requests\.get\(\s+"http:\/\/localhost:3000\/book\/1"/,
      'the language stays',
    )
    await goTo(page, '/reference/listBooks', 'Lists books', root)
    await content.getByText('copies.gte').waitFor({ state: 'hidden' })
    await content.getByText('More parameters (1)').click()
    await content.getByText('copies.gte').waitFor()
    await goTo(page, '/reference/deleteBook', 'Removes a book', root)
    await page.locator('.samples').getByText('No body.').waitFor()
    await goTo(page, '/reference/nothing', 'No such operation', root)
    assert.deepEqual(complaints, [])
  })

  // In CI, read-openapi.test.ts runs the code of requests.
  longTest('explains how to get a token; the code gets one', async () => {
    await using opened = await world.open()
    const { page, complaints } = opened
    await page.goto(`${origin}${root}/reference?tab=authentication`)
    const code = await page.getByRole('region', { name: 'Code in curl' }).textContent()
    assert.match(code!, /^curl 'http:\/\/localhost:3000\/authorization\/token' .*-u "\$CLIENT_ID:\$CLIENT_SECRET"/s)
    const post = (path: string, body: object, headers = {}) =>
      world.call(path, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
    const login = await post('/consumer/login', { username: 'bea', password })
    const { token } = (await login.json()) as { token: string }
    const client = { name: 'shop', scopes: ['todo'], grants: ['client_credentials'] }
    const created = await post('/consumer/client', client, { authorization: `Bearer ${token}` })
    assert.equal(created.status, 201)
    const { id, secret } = (await created.json()) as { id: string; secret: string }
    const env = { ...process.env, CLIENT_ID: id, CLIENT_SECRET: secret }
    const command = code!.replace(origin, world.server.url)
    const { stdout } = await promisify(execFile)('sh', ['-c', command], { env })
    assert.equal((JSON.parse(stdout) as { scope: string }).scope, 'todo')
    await page.getByText('To change books').waitFor()
    await page.getByRole('tab', { name: 'Errors' }).click()
    await page.getByText('application/problem+json').waitFor()
    assert.deepEqual(complaints, [])
  })

  // In CI, the next test calls without a token too, and read-openapi.test.ts has the access.
  longTest('Try it calls a public operation for visitors, and asks them to sign in for others', async () => {
    await using opened = await world.open()
    const { page, complaints } = opened
    await page.goto(`${origin}${root}/reference/listBooks?tab=try`)
    const requests: Record<string, string>[] = []
    page.on('request', (request) => {
      if (/:3000\/book/.test(request.url())) requests.push({ url: request.url(), ...request.headers() })
    })
    await page.getByLabel('limit').fill('5')
    await send(page)
    await answer(page).getByText('The Lighthouse').waitFor()
    assert.deepEqual([requests[0]?.['authorization'], requests[0]?.['url']], [undefined, `${origin}/book?limit=5`])
    assert.equal(await page.getByLabel('Token', { exact: true }).count(), 0)

    await goTo(page, '/reference/createBook?tab=try', 'Adds a book', root)
    await page.getByText('You are not signed in').waitFor()
    await send(page)
    await answer(page).getByText('WP_AUTH_NO_TOKEN').waitFor()
    assert.equal(requests.at(-1)?.['authorization'], undefined)
    await storeScreenshot(page, 'portal try signed out')
    await page.locator('#content').getByRole('button', { name: 'Sign in' }).click()
    await logIn(page, 'bea')
    await page.getByRole('heading', { name: 'Adds a book', level: 1 }).waitFor()
    assert.equal(page.url(), `${origin}${root}/reference/createBook?tab=try`)
    assert.deepEqual(withoutRefused(complaints), [])
  })

  test('Try it sends a short-lived token of the user, never that of the portal, and names a missing scope', async () => {
    await using opened = await world.open()
    const { page, complaints } = opened
    await openPortal(page, '/reference/createBook?tab=try')
    const sent: Record<string, string>[] = []
    page.on('request', (request) => {
      if (/:3000\/book/.test(request.url())) sent.push(request.headers())
    })
    await send(page)
    await answer(page).getByText('The Lighthouse').waitFor()
    await page.locator('.try-status').getByText('201', { exact: true }).waitFor()
    await storeScreenshot(page, 'portal try')
    const [, payload = ''] = sent[0]!['authorization']!.split('.')
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as Record<string, unknown>
    assert.equal(claims['scope'], 'todo')
    assert.notEqual(claims['client_id'], '00000000-0000-4000-8000-000000000004')
    assert.equal(Number(claims['exp']) - Number(claims['iat']), 900)
    assert.equal(sent[0]!['cookie'], undefined)

    await page.getByLabel('Token', { exact: true }).selectOption('')
    await send(page)
    await answer(page).getByText('WP_AUTH_NO_TOKEN').waitFor()
    await goTo(page, '/reference/deleteBook?tab=try', 'Removes a book', root)
    await page.getByLabel('book_id').fill('1')
    await send(page)
    await page.getByText('Your account does not have the scope editor or owner.').waitFor()
    assert.equal(await page.getByRole('button', { name: /^(POST|DELETE) .book/ }).count(), 3, 'the last calls')
    await page.getByRole('tab', { name: 'Reference' }).click()
    await page.getByText('Your account does not have this access.').waitFor()
    await goTo(page, '/reference', 'API reference', root)
    await page.getByText('editor or owner · not in your account').waitFor()
    assert.deepEqual(withoutRefused(complaints), [])
  })

  // In CI, portal-hazards.test.ts does so on all pages.
  longTest('shows names, descriptions and answers as text', async () => {
    await using opened = await world.open()
    const { page, complaints } = opened
    await page.goto(`${origin}${root}/reference`)
    await page.getByRole('link', { name: /hostile/ }).click()
    const content = page.locator('#content')
    await content.getByText('<img src=x').first().waitFor()
    await page.getByRole('tab', { name: 'Try it' }).click()
    await send(page)
    await answer(page).getByText('<img src=x').waitFor()
    assert.equal(await content.locator('img, a[href^="javascript"]').count(), 0)
    assert.equal(await page.evaluate('window.ran'), undefined)
    assert.deepEqual(complaints, [])
  })

  test('is accessible in both colour schemes, also 390 pixels wide', async () => {
    await using opened = await world.open()
    const { page, complaints } = opened
    await page.goto(`${origin}${root}/reference`)
    await page.locator('.operations').first().waitFor()
    if (isLong) await checkPage(page, 'portal reference of a visitor') // looks as that of a user
    await openPortal(page, '/reference')
    const own = {
      '/reference?tab=authentication': 'API reference',
      '/reference?tab=errors': 'API reference',
      '/reference/createBook?tab=try': 'Adds a book',
    }
    // Outside of the long form only what the portal has of its own: docs-content.test.ts checks the same operations.
    const shared = {
      '/reference': 'API reference',
      '/reference/listBooks': 'Lists books',
      '/reference/createBook': 'Adds a book',
      '/reference/deleteBook': 'Removes a book',
      '/reference/getShelf': 'Reads a shelf',
    }
    await checkLooks(page, isLong ? { ...own, ...shared } : own, root)
    assert.deepEqual(complaints, [])
  })
})

describe('a reference that is not public', { timeout: 600_000 }, () => {
  // In CI, consumer/hostile-input.test.ts refuses such tokens, runtime/docs.test.ts reads a private reference.
  longTest('is shown to users without the scope of the account API, who get no token to try calls', async () => {
    await using world = await openPortalWorld({ files: files('private') })
    await addUser(world.server.host.system, { name: 'dan', password, scopes: ['todo'] })
    await using opened = await world.open()
    const { page, complaints } = opened
    await openPortal(page, '/reference', 'dan')
    await page.locator('.operations').first().waitFor()
    await goTo(page, '/reference/createBook?tab=try', 'Adds a book', root)
    await page.getByText('Your account does not have the scope “consumer”').waitFor()
    assert.equal(await page.getByLabel('Token', { exact: true }).count(), 0)
    await send(page)
    await answer(page).getByText('WP_AUTH_NO_TOKEN').waitFor()
    await goTo(page, '/reference/listBooks?tab=try', 'Lists books', root)
    await send(page)
    await answer(page).getByText('The Lighthouse').waitFor()
    assert.equal(await page.getByText('Your account has no scope').count(), 0, 'a public operation needs no token')
    await goTo(page, '/clients', 'Your account cannot use this page', root)
    assert.deepEqual(withoutRefused(complaints), [])
  })

  // In CI, test/runtime/docs.test.ts asks for a private one over HTTP.
  longTest('is shown to users if it is private, and not at all if it is off', async () => {
    await using world = await openPortalWorld({ files: files('private') })
    await using opened = await world.open()
    const { page, complaints } = opened
    await page.goto(`${origin}${root}/reference`)
    await page.locator('#content').getByText('Sign in to see this page.').waitFor()
    await page.locator('#content').getByRole('button', { name: 'Sign in' }).click()
    await logIn(page, 'bea')
    await page.locator('.operations').first().waitFor()

    await world.server.deploy(files('off'))
    await page.goto(`${origin}${root}/`)
    await page.getByRole('button', { name: 'Account' }).waitFor()
    assert.equal(await page.getByRole('link', { name: 'API reference' }).count(), 0)
    await page.goto(`${origin}${root}/reference`)
    await page.locator('#content').getByRole('heading', { level: 1 }).waitFor()
    assert.equal(await page.locator('.operations').count(), 0)
    assert.deepEqual(complaints, [])
  })
})
