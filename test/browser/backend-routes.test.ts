// A developer adds a route in `waypost dev` and changes who may call it, by clicking.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { parse } from 'yaml'
import { findFlaws } from '../support/browser.ts'
import { openEditing, savedText, type EditWorld } from './edit-world.ts'
import { until } from '../support/until.ts'

/** Higher than the page, because axe cannot decide about what is scrolled out. */
async function assertAccessible(page: Page): Promise<void> {
  await page.setViewportSize({ width: 1280, height: 3600 })
  assert.deepEqual(await findFlaws(page), [])
}

describe('the editors of routes, connections and cronjobs', { timeout: 600_000 }, () => {
  let world: EditWorld
  before(async () => {
    world = await openEditing()
  })
  after(() => world[Symbol.asyncDispose]())

  test('a new rate and a new event are added where a method chooses them, in the same save', async () => {
    await world.start()
    const { draft, page } = world
    await world.open('/routes/POST%20%2Ftodo')
    await page.getByRole('tab', { name: 'Form' }).click()
    const dialog = page.getByRole('dialog')
    await page.getByRole('button', { name: 'New rate…' }).click()
    await dialog.getByLabel('Name').fill('slow')
    await dialog.getByLabel('Requests').fill('5')
    await dialog.getByLabel('In each').fill('')
    await dialog.getByRole('button', { name: 'Add rate' }).click()
    await dialog.getByText('Enter a value').waitFor()
    await dialog.getByLabel('In each').fill('10m')
    assert.deepEqual(await findFlaws(page), [])
    await dialog.getByRole('button', { name: 'Add rate' }).click()
    await dialog.waitFor({ state: 'detached' })
    assert.equal(await page.getByRole('combobox', { name: 'Rate limit' }).inputValue(), 'slow')
    const [rate, button] = await Promise.all([
      page.getByRole('combobox', { name: 'Rate limit' }).boundingBox(),
      page.getByRole('button', { name: 'New rate…' }).boundingBox(),
    ])
    assert.ok(rate!.x < button!.x && rate!.width > button!.width, 'the button is behind the field')

    await page.getByRole('button', { name: 'New event…' }).click()
    await dialog.getByLabel('Name').fill('todo_added')
    await dialog.getByLabel('Description').fill('A to-do was added')
    await dialog.getByRole('button', { name: 'Add event' }).click()
    await dialog.waitFor({ state: 'detached' })
    assert.doesNotMatch(await draft.read('waypost.yml'), /rate:|todo_added/)
    await page.keyboard.press('Control+s')
    await page.getByText(/^Saved \d\d:\d\d/).waitFor()
    const text = await draft.read('waypost.yml')
    assert.match(text, /rate:\n {2}slow:\n {4}limit: 5\n {4}window: 10m\n/)
    assert.match(text, /todo_added:\n {4}description: A to-do was added\n {4}schema: Message\n {4}scopes: \[todo\]\n/)
    const route = await draft.read('resources/routes/todo/collection.yml')
    assert.match(route, /dispatch: todo_added/)
    assert.match(route, /rate: slow/)
  })

  test('a cronjob is added with its next runs', async () => {
    await world.start()
    const { draft, page } = world
    await world.open('/cronjobs')
    await page.getByRole('button', { name: 'New cronjob' }).click()
    await page.getByLabel('Name').fill('tidy')
    await page.getByLabel('Schedule').fill('30 4 * * 1')
    await page
      .getByText(/^Monday/)
      .first()
      .waitFor()
    await page.getByRole('button', { name: 'Add', exact: true }).click()
    await page.getByRole('heading', { name: 'tidy', level: 1 }).waitFor({ timeout: 20_000 })
    assert.match(await draft.read('waypost.yml'), /tidy:\s.*30 4 \* \* 1.*src\/tidy\.ts/s)
    await page.getByLabel('Schedule').fill('61 * * * *')
    await page
      .getByText(/minute/)
      .first()
      .waitFor()
    await assertAccessible(page)
    assert.deepEqual(world.complaints, [])
  })

  test('steps are added, ordered, shared by a path, left out and removed', async () => {
    const step = (name: string) => `export default class ${name} {\n  handle() {\n    return 1\n  }\n}\n`
    await world.start({ 'src/tenant.ts': step('Tenant'), 'src/count.ts': step('Count') })
    const { draft, page } = world
    const listed = async () => {
      const [, file = ''] = /\/todo: !include (\S+)/.exec(await draft.read('waypost.yml')) ?? []
      return parse(await draft.read(file)) as {
        steps?: object
        methods: { POST: { steps?: object; without?: object } }
      }
    }
    await world.open('/routes/POST%20%2Ftodo')
    const own = page.getByRole('region', { name: 'Steps of this method' })
    const shared = page.getByRole('region', { name: 'Steps of /todo' })
    const fill = async (region: typeof own, number: number, [name, file]: readonly [string, string]) => {
      await region.getByRole('button', { name: /^Add to/ }).click()
      await region.getByRole('textbox', { name: `Name of step ${number}` }).fill(name)
      await region
        .getByRole('textbox', { name: `Code of step ${number}` })
        .or(region.getByRole('combobox', { name: `Code of step ${number}` }))
        .click()
      await page.getByRole('option', { name: file }).click()
    }
    await fill(own, 1, ['tenant', 'src/tenant.ts'])
    await fill(own, 2, ['count', 'src/count.ts'])
    await own.getByRole('button', { name: 'Run count earlier' }).click()
    await fill(shared, 1, ['early', 'src/count.ts'])
    await page.getByRole('checkbox', { name: 'Leave out early of /todo' }).check()
    await page.keyboard.press('Control+S')
    await page.getByText(savedText).waitFor()
    const saved = await listed()
    assert.deepEqual(saved.methods.POST.steps, [{ count: 'src/count.ts' }, { tenant: 'src/tenant.ts' }])
    assert.deepEqual([saved.steps, saved.methods.POST.without], [[{ early: 'src/count.ts' }], ['early']])
    await own.getByRole('button', { name: 'Remove count' }).click()
    await own.getByRole('button', { name: 'Remove tenant' }).click()
    await page.keyboard.press('Control+S')
    await until('the steps are removed', async () => (await listed()).methods.POST.steps === undefined)
    assert.deepEqual(world.complaints, [])
  })

  test('media types are chosen when a route is added, and changed in its form', async () => {
    await world.start()
    const { draft, page } = world
    await world.open('/routes')
    await page.getByRole('button', { name: 'New route' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Path').fill('/album')
    await dialog.getByText('Anyone', { exact: true }).click()
    const request = dialog.getByLabel('Media types of the request')
    assert.equal(await request.count(), 0, 'a GET has no body')
    await dialog.getByLabel('Method').selectOption('POST')
    await request.fill('png')
    await page.keyboard.press('Enter')
    await dialog.getByText('“png” is not a media type').waitFor()
    await page.keyboard.press('Backspace')
    await request.fill('multi')
    await page.getByRole('option', { name: 'multipart/form-data' }).click()
    await dialog.getByLabel('Media types of the response').fill('text/csv')
    await page.keyboard.press('Enter')
    await dialog.getByLabel('Path').click() // closes the list of choices
    await page.getByRole('option', { name: 'image/png' }).waitFor({ state: 'detached' })
    assert.deepEqual(await findFlaws(page), [])
    await dialog.getByRole('button', { name: 'Add route' }).click()
    await page.getByRole('tab', { name: 'Form' }).waitFor()
    const file = /\/album: !include (\S+)/.exec(await draft.read('waypost.yml'))![1]!
    type Content = Readonly<Record<string, { readonly properties?: Readonly<Record<string, unknown>> } | string | null>>
    const read = async () => {
      const route = parse(await draft.read(file)) as { methods: { POST: Readonly<Record<string, unknown>> } }
      const { request, responses, response, body_limit: limit } = route.methods.POST
      const answer = (response ?? Object.values(responses as object)[0]) as { readonly content: Content }
      return { limit, request: (request as { readonly content: Content }).content, response: answer.content }
    }
    const first = await read()
    assert.deepEqual([Object.keys(first.request), Object.keys(first.response)], [['multipart/form-data'], ['text/csv']])
    assert.equal(first.limit, '6mb')

    const body = page.getByRole('region', { name: 'Body', exact: true })
    await body.getByRole('button', { name: 'Add field to multipart/form-data' }).click()
    await page.keyboard.type('pages')
    await body.getByRole('textbox', { name: 'Type of pages' }).or(body.getByRole('combobox', { name: 'Type of pages' })).click() // prettier-ignore
    await page.getByRole('option', { name: 'file', exact: true }).click()
    await body.getByRole('button', { name: 'Limits of pages' }).click()
    await body.getByLabel('Maximum size of pages').fill('200kb')
    await body.getByLabel('Media types of pages').fill('image/png')
    await page.keyboard.press('Enter')
    await body.getByLabel('Add media type to: Body').fill('application/zip')
    await body.getByRole('button', { name: 'Add', exact: true }).click()
    await body.getByText('The action reads a stream of bytes.').waitFor()
    const answer = page.getByRole('region', { name: /^Response 20/ })
    await answer.getByLabel(/^Add media type/).fill('text/event-stream')
    await page.keyboard.press('Enter')
    await answer.getByRole('button', { name: 'Remove text/csv' }).click()
    await answer.getByText('Schema of each item of text/event-stream').first().waitFor()
    await page.keyboard.press('Control+S')
    await page.getByText(savedText).waitFor()
    const saved = await read()
    const form = saved.request['multipart/form-data'] as { readonly properties: Readonly<Record<string, unknown>> }
    assert.deepEqual(form.properties['pages'], { type: 'file', maxSize: '200kb', types: ['image/png'] })
    assert.equal(saved.request['application/zip'], null)
    assert.deepEqual(Object.keys(saved.response), ['text/event-stream'])
    await assertAccessible(page)
    assert.deepEqual(world.complaints, [])
  })
})
