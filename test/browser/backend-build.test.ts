import assert from 'node:assert/strict'
import { stat } from 'node:fs/promises'
import { after, before, describe, test } from 'node:test'
import { findUser, loadUserScopes } from '../../src/auth/index.ts'
import { findFlaws, storeScreenshot } from '../support/browser.ts'
import { actionFile } from '../support/project-server.ts'
import { readTemplate } from '../support/template.ts'
import { until } from '../support/until.ts'
import { checkLooks, goTo, openBackendWorld, openSignedIn, type BackendWorld } from './backend-world.ts'
import { isLong, longTest } from '../support/forms.ts'

const script = '<title>x</title><script>window.ran = true</script><img src=x onerror="window.ran = true">'
const todo = readTemplate('todo')
const files = {
  ...todo,
  'waypost.yml':
    todo['waypost.yml']!.replace(
      'routes:\n',
      `routes:
  /page: { methods: { GET: { public: true, html: trusted, action: src/page.ts } } }
  /caught: { methods: { GET: { public: true, action: src/caught.ts } } }
  /away: { methods: { GET: { public: true, action: src/away.ts } } }
  /odd/:name:
    path: { name: { type: string } }
    methods:
      GET:
        public: true
        parameters: { tag: { type: array, items: { type: string } }, note: { type: string } }
        action: src/odd.ts
  /book/:id:
    path: { id: { type: integer, description: The number of the book } }
    methods:
      PUT:
        scopes: [editor]
        parameters: { lang: { enum: [en, ar], default: en } }
        request: { type: object, required: [title], properties: { title: { type: string } } }
        response: { type: object, additionalProperties: true }
        rate: gentle
        action: src/echo.ts
`,
    ) +
    `rate: { gentle: { limit: 100, window: 1m } }
static: { /assets: { folder: public, max_age: 1d } }
connection: { Stock: { class: http, config: { url: 'https://stock.invalid/v2', auth: { bearer: '\${env.STOCK_TOKEN}' } } } }
`,
  'public/a.txt': 'a',
  'src/page.ts': actionFile(`return context.respond(200, ${JSON.stringify(script)}, { 'content-type': 'text/html' })`),
  'src/away.ts': actionFile("return context.respond(302, undefined, { location: '/caught' })"),
  'src/caught.ts': actionFile('globalThis.wasFollowed = true\nreturn {}'),
  'src/odd.ts': actionFile(`const { params: { name }, query } = request
    const { signal } = context
    const aborted = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))
    if (name === 'slow') await aborted
    if (name === 'stream') {
      const lines = (async function* () { yield 'data: one\\n\\n'; await aborted })()
      return context.respond(200, lines, { 'content-type': 'text/event-stream' })
    }
    if (name === 'large') return context.respond(200, 'x'.repeat(10_000_000), { 'content-type': 'text/plain' })
    if (name === 'picture') return context.respond(200, Buffer.from([137, 80, 78, 71, 0]), { 'content-type': 'image/png' })
    return { name, query }`),
  'src/echo.ts': actionFile('return { ...request.params, ...request.query, ...request.body }'),
}

const titles = {
  '/routes': 'Routes',
  '/routes/PUT%20%2Fbook%2F%3Aid': 'PUT /book/:id',
  '/routes/PUT%20%2Fbook%2F%3Aid?tab=try': 'PUT /book/:id',
  '/routes/PUT%20%2Fbook%2F%3Aid?tab=definition': 'PUT /book/:id',
  '/routes/GET%20%2Ftodo?tab=traffic': 'GET /todo',
  '/schemas': 'Schemas',
  '/schemas/Todo': 'Todo',
  '/actions': 'Actions',
  '/tables': 'Tables',
  '/tables/System.app_todo': 'app_todo',
  '/events': 'Events',
  '/events/todo_created': 'todo_created',
  '/connections': 'Connections',
  '/static': 'Static files',
  '/settings': 'Settings',
}

describe('the pages of what a release contains', { timeout: 600_000 }, () => {
  let world: BackendWorld
  before(async () => {
    world = await openBackendWorld({ files, variables: { STOCK_TOKEN: 'stock-secret' }, isLive: true })
    for (const path of Array.from({ length: 12 }, () => ['/todo', '/todo/1']).flat())
      await fetch(world.server.url + path)
    await world.server.server.recordStatistics()
  })
  after(() => world[Symbol.asyncDispose]())

  test('are accessible in both colour schemes, also 390 pixels wide', async () => {
    await using opened = await world.open()
    const { page, complaints } = opened
    await openSignedIn(page, '/live')
    await fetch(`${world.server.url}/todo/2`)
    await page.getByRole('row').filter({ hasText: '/todo/2' }).getByText('404').waitFor()
    await checkLooks(page, titles)
    assert.deepEqual(complaints, [])
  })

  // In CI, the test above opens these pages, and test/backend/definition.test.ts has what they show.
  longTest('a route has access, source, calls and schemas; its address survives a reload', async () => {
    await using opened = await world.open({ viewport: { width: 1440, height: 900 } })
    const { page } = opened
    await openSignedIn(page, '/routes')
    const other = page.getByRole('row', {
      name: 'PUT /book/:id Tokens with editor · no users src/echo.ts',
    })
    await other.waitFor()
    await page.getByRole('searchbox', { name: 'Search' }).fill('todo GET')
    await other.waitFor({ state: 'detached' })
    await page.getByRole('row', { name: /^GET \/todo Anyone .*collection.ts 12 / }).waitFor()
    await page.getByRole('link', { name: 'GET /todo', exact: true }).click()
    await page.getByText('resources/routes/todo/collection.yml:').waitFor()
    await page.reload()
    await page.getByRole('heading', { name: 'GET /todo', exact: true }).waitFor()
    await page.getByRole('tab', { name: 'Traffic' }).click()
    await page.getByRole('img', { name: 'Requests in each hour' }).waitFor()
    await page.getByText('of them 4xx and 5xx').waitFor()
    assert.match(await page.locator('.chart-frame').innerText(), /12\s+0\s+24 h ago\s+18 h\s+12 h\s+6 h\s+now/)
    await goTo(page, '/routes/POST%20%2Ftodo', 'POST /todo')
    const rightOf = async (role: 'combobox' | 'textbox', name: string) => {
      const box = (await page.getByRole(role, { name, exact: true }).boundingBox())!
      return Math.round(box.x + box.width)
    }
    assert.equal(await rightOf('combobox', 'File'), await rightOf('textbox', 'Description'))
  })

  // In CI, test/backend/definition.test.ts lists them, and the first test opens the page.
  longTest('the static folders are listed with their files', async () => {
    await using opened = await world.open({ viewport: { width: 1440, height: 900 } })
    await openSignedIn(opened.page, '/static')
    await opened.page.getByRole('row', { name: /^\/assets public 1 24 hours .*waypost\.yml:\d+/ }).waitFor()
  })

  // In CI, test/backend tests connections over HTTP.
  longTest('a test of a connection shows why it does not work, without secrets', async () => {
    await using opened = await world.open()
    const { page } = opened
    await openSignedIn(page, '/connections')
    await page.getByRole('button', { name: 'Test System' }).click()
    await page.getByText(/^Works, /).waitFor()
    await page.getByRole('button', { name: 'Test Stock' }).click()
    await page.getByText(/^Does not work: /).waitFor()
    assert.doesNotMatch((await page.locator('#content').textContent()) ?? '', /stock-secret/)
  })

  // In CI, portal-reference.test.ts has the same sheet with a missing scope, backend/publish-gate.test.ts gives a scope.
  longTest(
    'Try it sends a request with a token of the user, offers a missing scope and keeps the last calls',
    async () => {
      await using opened = await world.open({ viewport: { width: 1440, height: 900 } })
      const { page } = opened
      await openSignedIn(page, '/routes/PUT%20%2Fbook%2F%3Aid?tab=try')
      await page.getByLabel('id').fill('7')
      await page.getByLabel('lang', { exact: true }).selectOption('ar')
      const body = page.getByLabel('Body')
      assert.match(await body.inputValue(), /"title"/)
      await body.fill('{ "title": "\u0643\u062A\u0627\u0628" }')
      await page.getByRole('button', { name: 'Send' }).click()
      const answer = page.getByRole('region', { name: 'Response' })
      await answer.getByText('WP_AUTH').waitFor()
      await page.getByText('ann does not have the scope editor.').waitFor()
      await storeScreenshot(page, 'backend try missing scope')
      assert.deepEqual(await findFlaws(page), [])
      await page.getByRole('button', { name: 'Give me editor and send again' }).click()
      await answer.getByText('"lang": "ar"').waitFor()
      await storeScreenshot(page, 'backend try')
      const { id } = await findUser(world.server.host.system, 'ann')
      assert.ok((await loadUserScopes(world.server.host.system.db, id)).includes('editor'))
      assert.equal(await page.getByRole('button', { name: /^PUT .book/ }).count(), 2)
      await page.getByText('Code of this request').click()
      const command = await page.getByRole('region', { name: 'Code in curl' }).textContent()
      assert.match(command!, /^curl -X PUT 'http:\/\/localhost:3000\/book\/7\?lang=ar' .*Bearer \$TOKEN"/s)
      assert.doesNotMatch(command!, /eyJ/)
      await page.reload()
      await page.getByRole('button', { name: 'Send' }).waitFor()
      assert.equal(await page.getByRole('button', { name: /^PUT .book/ }).count(), 0, 'in memory only')
    },
  )

  // In CI, the same sheet as above, and portal-reference.test.ts.
  longTest(
    'Try it sends lists and empty text, refuses what calls another operation, stops, and downloads',
    async () => {
      await using opened = await world.open({ viewport: { width: 1440, height: 1200 } })
      const { page } = opened
      await openSignedIn(page, '/routes/GET%20%2Fodd%2F%3Aname?tab=try')
      const name = page.getByRole('textbox', { name: 'name', exact: true })
      const answer = page.getByRole('region', { name: 'Response' })
      const button = (label: string) => page.getByRole('button', { name: label, exact: true })
      let count = 0
      page.on('request', (request) => void (count += request.url().includes(':3000/odd') ? 1 : 0))

      await name.fill('..')
      await page.getByText('This would call another operation').waitFor()
      await button('Send').click()
      await page.getByText('Code of this request').click()
      const code = page.getByRole('region', { name: 'Code in curl' })
      assert.match((await code.textContent())!, /'http:\/\/localhost:3000\/odd\/:name'/)
      assert.equal(count, 0)

      await name.fill('a b')
      await page.getByLabel('tag', { exact: true }).fill('x,y\n\nz')
      await button('Send note empty').click()
      assert.deepEqual(await findFlaws(page), [])
      await button('Send').click()
      await answer.getByText('"tag"').waitFor()
      const echoed = { name: 'a b', query: { tag: ['x,y', '', 'z'], note: '' } }
      assert.deepEqual(JSON.parse((await answer.textContent())!), echoed)
      await button('Send note empty').click()
      await page.getByLabel('tag', { exact: true }).fill('')

      await name.fill('stream')
      await button('Send').click()
      await answer.getByText('data: one').waitFor()
      await page.getByText('Receiving …').waitFor()
      await page.locator('.try-status').getByText('200', { exact: true }).waitFor()
      assert.deepEqual(await findFlaws(page), [])
      await button('Stop').click()
      await page.getByText('Stopped before the response was complete.').waitFor()
      await answer.getByText('data: one').waitFor()
      await name.fill('slow')
      await button('Send').click()
      await button('Stop').click()
      await page.getByText('Stopped. The server may have processed the request.').waitFor()
      await button('Stop').waitFor({ state: 'detached' })

      // A stream that begins only after somebody has left the page.
      await name.fill('stream')
      const held = Promise.withResolvers<void>()
      await page.route('**/odd/stream**', (route) => held.promise.then(() => route.continue()))
      const [late] = await Promise.all([page.waitForRequest('**/odd/stream**'), button('Send').click()])
      const ended = page.waitForEvent('requestfailed', (request) => request === late)
      await page.getByRole('link', { name: 'Schemas', exact: true }).click()
      await page.getByRole('heading', { name: 'Schemas', level: 1 }).waitFor()
      held.resolve()
      await ended
      await page.goBack()

      const download = async () => {
        const downloading = page.waitForEvent('download')
        await button('Download').click()
        const file = await downloading
        return [file.suggestedFilename(), (await stat(await file.path())).size]
      }
      await name.fill('large')
      await button('Send').click()
      await page.getByText('Only the first 256 KB are shown.').waitFor()
      await page.locator('.try-status').getByText('9,766 KB').waitFor()
      assert.equal((await answer.textContent())!.length, 256 * 1024)
      assert.deepEqual(await download(), ['large.txt', 10_000_000])
      await name.fill('picture')
      await button('Send').click()
      await page.getByText('The response is not text (image/png).').waitFor()
      assert.deepEqual(await download(), ['picture.png', 5])
    },
  )

  test('Try it shows HTML as text, sends no token of the session to routes and follows no redirect', async () => {
    await using opened = await world.open()
    const { page, complaints } = opened
    await openSignedIn(page, '/routes/GET%20%2Fpage?tab=try')
    const sent: Record<string, string>[] = []
    page.on('request', (request) => {
      if (/:3000\/(page|away)$/.test(request.url())) sent.push(request.headers())
    })
    await page.getByRole('button', { name: 'Send' }).click()
    await page.getByRole('region', { name: 'Response' }).getByText(script).waitFor()
    assert.equal(await page.evaluate('window.ran'), undefined)
    assert.equal(await page.locator('#content img').count(), 0)
    await page.evaluate("history.pushState({}, '', '/backend/ui/routes/GET%20%2Faway?tab=try')")
    await page.getByRole('heading', { name: 'GET /away', exact: true }).waitFor()
    await page.getByRole('button', { name: 'Send' }).click()
    await page.getByText('The response is a redirect.').waitFor()
    assert.equal('wasFollowed' in globalThis, false)
    assert.equal(sent.length, 2)
    for (const { authorization = '', cookie, referer } of sent) {
      const claims = JSON.parse(Buffer.from(authorization.split('.')[1]!, 'base64url').toString()) as { scope: string }
      assert.doesNotMatch(claims.scope, /backend|consumer/)
      assert.deepEqual([cookie ?? '', referer ?? ''], ['', ''])
    }
    assert.deepEqual(complaints, [])
  })
})

test(
  'the page Routes shows 1,000 methods in pages; filters and orders are over all of them',
  { skip: !isLong && 'backend-shell.test.ts filters and orders 300 of them', timeout: 600_000 },
  async () => {
    const routes = Array.from(
      { length: 1000 },
      (_, index) =>
        `  /many/r${String(index).padStart(4, '0')}: { methods: { GET: { public: true, action: src/echo.ts } } }`,
    )
    await using world = await openBackendWorld({
      files: { 'waypost.yml': `routes:\n${routes.join('\n')}\n`, 'src/echo.ts': files['src/echo.ts'] },
    })
    await using opened = await world.open({ viewport: { width: 1440, height: 900 } })
    const { page, complaints } = opened
    await openSignedIn(page, '/routes')
    const links = page.getByRole('table').locator('tbody a')
    await links.first().waitFor()
    await page.getByText('1,000 methods').waitFor()
    assert.equal(await links.count(), 100)
    await page.getByRole('button', { name: 'Next' }).click()
    await page.getByText('/many/r0100', { exact: true }).waitFor()
    assert.equal(await links.count(), 100)
    await page.getByLabel('Search').fill('r0999')
    await page.getByText('/many/r0999', { exact: true }).waitFor()
    await until('the filter', async () => (await links.count()) === 1)
    await page.getByLabel('Search').fill('')
    await page.getByRole('columnheader', { name: 'Route' }).getByRole('button').click()
    await page.getByText('/many/r0999', { exact: true }).waitFor()
    assert.deepEqual(complaints, [])
  },
)
