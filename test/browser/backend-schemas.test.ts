// A developer builds and changes schemas in `waypost dev`, in the browser.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { chooseMore, findFlaws, storeScreenshot } from '../support/browser.ts'
import { readTemplate } from '../support/template.ts'
import { until } from '../support/until.ts'
import { openEditing, savedText, showAll, type EditWorld } from './edit-world.ts'
import { chooseLooks } from './looks.ts'
import { longTest } from '../support/forms.ts'

const file = 'resources/schema.yml'

async function checkLooks(page: Page, name: string): Promise<void> {
  for (const [width, colorScheme] of chooseLooks()) {
    await page.setViewportSize({ width, height: 900 })
    await page.emulateMedia({ colorScheme })
    await page.locator(`html[data-mantine-color-scheme="${colorScheme}"]`).waitFor()
    await storeScreenshot(page, `schema editor ${name} ${width} ${colorScheme}`)
    await page.evaluate(showAll)
    // axe cannot judge a row that ends at the edge of the window.
    await page.setViewportSize({ width, height: await page.evaluate<number>('document.documentElement.scrollHeight') })
    assert.deepEqual(await findFlaws(page), [], `${name}, ${width}, ${colorScheme}`)
    const scroll = await page.evaluate('document.documentElement.scrollWidth - innerWidth')
    assert.ok(Number(scroll) <= 0, `${name} is wider than ${width} pixels`)
  }
  await page.setViewportSize({ width: 1440, height: 900 })
}

/** Chooses the type of a field. */
async function choose(page: Page, label: string, type: string): Promise<void> {
  const input = page.getByRole('combobox', { name: label, exact: true })
  await input.click()
  await input.fill(type)
  await page.getByRole('option', { name: type, exact: true }).click()
}

/** Replaces the text of a code editor as users do. */
async function write(page: Page, label: string, text: string): Promise<void> {
  await page.getByRole('textbox', { name: label }).press('Control+A')
  await page.keyboard.press('Delete')
  await page.keyboard.insertText(text)
}

/** Names the field that was just added. */
async function nameField(page: Page, name: string): Promise<void> {
  await page.locator('input.field-input.mono:focus').fill(name)
}

describe('the schema editor', { timeout: 600_000 }, () => {
  let world: EditWorld
  before(async () => {
    world = await openEditing()
  })
  after(() => world[Symbol.asyncDispose]())

  test('builds a schema with nested objects, lists, references and alternatives; the file keeps its comments', async () => {
    const before = `# What the API speaks\n${readTemplate('todo')[file]!.replace('    title: { type: string }\n', '    title: { type: string } # short\n')}`
    await world.start({ [file]: before })
    const { draft, page } = world
    await world.open('/schemas')
    await page.getByRole('button', { name: 'New schema' }).click()
    await page.getByLabel('Name').fill('Todo')
    await page.getByText('"Todo" already exists').waitFor()
    await page.getByLabel('Name').fill('Order')
    await page.getByRole('button', { name: 'Add schema' }).click()
    await page.getByRole('heading', { name: 'Order', exact: true }).waitFor()
    assert.equal(await draft.read(file), `${before}Order:\n  type: object\n`)

    await page.getByRole('button', { name: 'Add field to Order' }).click()
    await nameField(page, 'id')
    await choose(page, 'Type of id', 'integer')
    await page.getByRole('checkbox', { name: 'id is required' }).check()
    await page.getByLabel('Description of id').fill('Given by the database')

    await page.getByLabel('Name of id').press('Enter')
    await nameField(page, 'title')
    await page.getByRole('button', { name: 'Limits of title' }).click()
    await page.getByLabel('Minimum length of title').fill('1')
    await page.getByLabel('Maximum length of title').fill('64')
    await page.getByRole('button', { name: 'Limits of title' }).click()

    await page.getByLabel('Name of title').press('Enter')
    await nameField(page, 'address')
    await choose(page, 'Type of address', 'object')
    await page.getByRole('checkbox', { name: 'address may be null' }).check()
    await page.getByRole('button', { name: 'Add field to address' }).click()
    await nameField(page, 'city')

    await page.getByRole('button', { name: 'Add field to Order' }).click()
    await nameField(page, 'todos')
    await choose(page, 'Type of todos', 'list of …')
    await choose(page, 'Type of the items of todos', 'Todo')

    await page.getByLabel('Name of todos').press('Enter')
    await nameField(page, 'payment')
    await choose(page, 'Type of payment', 'one of …')
    await choose(page, 'Type of payment.Alternative 1', 'object')
    await page.getByRole('button', { name: 'Add alternative to payment' }).click()
    await choose(page, 'Type of payment.Alternative 2', 'object')
    await page.getByRole('button', { name: 'Limits of payment', exact: true }).click()
    await page.getByLabel('Distinguished by').fill('kind')
    await page.getByLabel('Distinguished by').press('Enter')
    await page.getByText('kind = option_2', { exact: true }).waitFor()

    await page.getByLabel('Name of todos').press('Alt+ArrowUp')
    await page.getByText('todos is number 3 of 5').waitFor()
    await page.getByRole('checkbox', { name: 'todos is required' }).check()
    await page.keyboard.press('Control+S')
    await page.getByText(savedText).waitFor()
    assert.equal(
      await draft.read(file),
      `${before}Order:
  type: object
  required: [id, todos]
  properties:
    id: { type: integer, description: Given by the database }
    title: { type: string, minLength: 1, maxLength: 64 }
    todos: { type: array, items: { $ref: schema:///Todo } }
    address:
      type: [object, "null"]
      properties:
        city: { type: string }
    payment:
      oneOf:
        - type: object
          required: [kind]
          properties:
            kind: { const: option_1 }
        - type: object
          required: [kind]
          properties:
            kind: { const: option_2 }
`,
    )
    await checkLooks(page, 'fields')
    assert.deepEqual(world.complaints, [])
  })

  // In CI, the first test edits schemas.
  longTest('an example is checked while it is typed, and kept', async () => {
    await world.start()
    const { draft, page } = world
    await world.open('/schemas/Todo-Input')
    await page.getByRole('tab', { name: 'Example' }).click()
    await page.getByText('The example fits the schema.').waitFor()
    const label = 'Example of Todo-Input'
    await write(page, label, '{\n  "title": "",\n  "done": true\n}')
    await page.getByText('3 problems').waitFor()
    const problems = await page.locator('.example-problems li').allTextContents()
    assert.deepEqual(problems, [
      'Line 1 The property "content" is missing',
      'Line 2 /title String is too short (0 < 1)',
      'Line 3 /done This property is not allowed',
    ])
    assert.ok(await page.getByRole('button', { name: 'Save in the schema' }).isDisabled())
    await checkLooks(page, 'example')
    await write(page, label, '{ "title": "Milk", "content": "Two litres" }')
    await page.getByText('The example fits the schema.').waitFor()
    await page.getByRole('button', { name: 'Save in the schema' }).click()
    await page.keyboard.press('Control+S')
    await page.getByText(savedText).waitFor()
    assert.match(await draft.read(file), /examples:/)
    assert.deepEqual(world.complaints, [])
  })

  // In CI, backend/schema-editor.test.ts has the edits.
  longTest('a field is renamed and moved with its comment, moved into an object, and removed', async () => {
    const before = readTemplate('todo')[file]!.replace(
      '    title: { type: string }\n',
      '    title: { type: string } # short\n',
    )
    await world.start({ [file]: before })
    const { draft, page } = world
    await world.open('/schemas/Todo')
    await page.getByLabel('Name of title').fill('heading')
    await page.getByLabel('Name of heading').press('Alt+ArrowUp')
    await page.getByText('heading is number 2 of 5').waitFor()
    await page.keyboard.press('Control+S')
    await page.getByText(savedText).waitFor()
    assert.equal(
      await draft.read(file),
      before
        .replace('status, title', 'status, heading')
        .replace(
          '    status: { type: integer, description: 1 is open }\n    title: { type: string } # short\n',
          '    heading: { type: string } # short\n    status: { type: integer, description: 1 is open }\n',
        ),
    )
    await page.getByRole('button', { name: 'Undo' }).click()
    await until('the file is as before', async () => (await draft.read(file)) === before)
    await page.getByLabel('Name of title').waitFor()
    await page.getByLabel('Name of title').fill('')
    await page.getByText('Enter a name').waitFor()
    await page.getByLabel('Name of title').press('Backspace')
    await page.getByText('title is removed').waitFor()
    await choose(page, 'Type of content', 'object')
    await page.getByLabel('Name of insert_date').press('Alt+Shift+ArrowRight')
    await page.getByText('insert_date is now a field of content').waitFor()
    await page.getByLabel('Name of content.insert_date').press('Alt+Shift+ArrowLeft')
    await page.getByLabel('Name of insert_date').waitFor()
    await page.getByRole('button', { name: 'Discard' }).click()
    await page.getByLabel('Name of title').waitFor()
  })

  // In CI, test/backend/schema-editor.test.ts finds uses.
  longTest('a schema that is used cannot be deleted; one that is not used can', async () => {
    await world.start()
    const { draft, page } = world
    await world.open('/schemas/Todo')
    await page.getByRole('tab', { name: 'Used by' }).click()
    await page.getByRole('link', { name: 'GET /todo/:todo_id' }).waitFor()
    await chooseMore(page, 'Delete Todo')
    const dialog = page.getByRole('dialog')
    await dialog.getByText('It is used here.').waitFor()
    assert.ok(await dialog.getByRole('button', { name: 'Delete Todo' }).isDisabled())
    await dialog.getByRole('button', { name: 'Cancel' }).click()

    await world.open('/schemas')
    await page.getByRole('button', { name: 'New schema' }).click()
    await page.getByLabel('Name').fill('Person')
    await page.getByText('An example', { exact: true }).click()
    await write(page, 'JSON', '{ "name": "Ann", "born": "1990-01-31", "tags": ["a"] }')
    await dialog.getByText('born', { exact: true }).waitFor()
    assert.deepEqual(await findFlaws(page), [])
    await page.getByRole('button', { name: 'Add schema' }).click()
    await page.getByRole('heading', { name: 'Person', exact: true }).waitFor()
    assert.match(
      await draft.read(file),
      /\nPerson:\n  type: object\n  required: \[name, born, tags\]\n  properties:\n    name: \{ type: string \}\n    born: \{ type: string, format: date \}\n/,
    )
    await chooseMore(page, 'Delete Person')
    await dialog.getByRole('button', { name: 'Delete Person' }).click()
    await page.getByRole('heading', { name: 'Schemas' }).waitFor()
    assert.equal(draft.git('diff'), '')
  })
})
