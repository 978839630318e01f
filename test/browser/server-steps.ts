// The first API that someone builds with only a server and a browser, step by step.
import assert from 'node:assert/strict'
import { checkPage, origin } from './backend-world.ts'
import { password, type Server } from './server-world.ts'
import { isLong } from '../support/forms.ts'

/** Takes the code of the server and creates the administrator. */
async function enterCode({ page, serving, heading, button, dialog }: Server): Promise<void> {
  const [, code = ''] = await serving.waitFor(/Code\s+(\S+)/)
  await page.goto(`${origin}/backend`)
  await page.getByLabel('Code').fill(code)
  await page.getByLabel('Username').fill('ann')
  await page.getByLabel('Password').fill(password)
  await button('Create administrator').click()
  await heading('Overview').waitFor()
  await page.getByRole('heading', { name: 'No API yet' }).waitFor()
  await page.getByRole('link', { name: 'No changes' }).waitFor()
  await checkPage(page, 'server first run')
  await page.getByRole('button', { name: /^Empty/ }).click()
  await page.getByRole('dialog', { name: 'New route' }).getByLabel('Path').waitFor()
  await button('Cancel').click()
  await dialog().waitFor({ state: 'detached' })
}

/** Designs the table `app_todo` in the draft. */
async function designTable({ page, heading, button }: Server): Promise<void> {
  await page.getByRole('button', { name: /^From a table/ }).click()
  await heading('New table').waitFor()
  const column = (number: number) => page.getByLabel(`Column ${number}`, { exact: true })
  await page.getByLabel('Name', { exact: true }).fill('app_todo')
  await column(2).fill('title')
  await page.getByLabel('Length of title').fill('200')
  await button('Add column').click()
  await column(3).fill('content')
  await button('status').click()
  await button('insert_date').click()
  await page.getByText(/Writes migrations\/System\/\d+-create-app-todo\.yml\. It runs when you publish\./).waitFor()
  await button('Create table').click()
  await heading('app_todo').waitFor()
  await page.getByRole('link', { name: '1 change · Publish' }).waitFor()
}

/** Makes routes, a scope and an event of it. */
async function makeApi({ page, heading, button, dialog, openRoute, curl }: Server): Promise<void> {
  await button('Create routes').click()
  await dialog()
    .getByLabel(/todo is a new scope/)
    .fill('Create and change to-dos')
  await dialog().getByLabel('POST dispatches an event').check()
  await dialog().getByRole('combobox', { name: 'For holders of' }).click()
  await page.getByRole('option', { name: 'todo', exact: true }).click()
  await dialog().getByText('dispatch: todo_created').first().waitFor()
  const preview = await dialog().locator('.api-preview').textContent()
  assert.doesNotMatch(preview!, /public/, 'reading is private by default')
  await dialog().getByLabel('Anyone can read the rows, without a token').check()
  await dialog().getByText('public: true').first().waitFor()
  await button('Add index on status, insert_date, id', dialog()).click()
  await dialog().getByText('sort: [-insert_date, -id]').waitFor()
  await button('Add 5 methods', dialog()).click()
  await heading('Routes').waitFor()
  await page.getByRole('row', { name: /POST \/todo new/ }).waitFor()
  if (isLong) await checkPage(page, 'server draft routes')
  assert.equal((await curl('GET /todo')).status, 404)
  await openRoute('POST /todo')
  await page.getByRole('tab', { name: 'Try it' }).click()
  await page.getByRole('heading', { name: 'Publish to try' }).waitFor()
}

/** Lets subscriptions reach this machine. */
async function allowAddresses({ page, go }: Server): Promise<void> {
  await go('Settings')
  const field = page.getByRole('combobox', { name: 'Private addresses' })
  await field.fill('127.0.0.0/8')
  await field.press('Enter')
  await page.keyboard.press('Control+S')
  await page.getByText(/^Saved in the draft \d\d:\d\d/).waitFor()
}

/** Publishes all of it. */
async function publishFirst({ page, heading, button }: Server): Promise<void> {
  await page.getByRole('link', { name: /changes · Publish$/ }).click()
  await heading('Publish').waitFor()
  const plan = page.getByRole('complementary', { name: 'What publishing does' })
  await plan.getByText('No user has the scope todo').waitFor()
  assert.ok(await plan.getByLabel('Give me the scope todo').isChecked())
  await plan
    .getByText(/^resources\/routes\/.*:\d+$/)
    .first()
    .waitFor()
  assert.equal(await plan.getByRole('link', { name: /\/todo$/ }).count(), 2)
  await plan.getByText(/^System\/\d+-create-app-todo$/).click()
  await plan.getByText('create table').waitFor()
  await page.getByLabel('Message').fill('To-dos')
  await checkPage(page, 'server publish')
  await button('Migrate and publish').click()
  await heading('Published').waitFor()
  await page.getByText(/ serves it$/).waitFor()
  await page.reload()
  await heading('Published').waitFor()
  await page.getByText(/^Migrated System\/\d+-create-app-todo/).waitFor()
  await page.getByText(/^Activated [0-9a-f]+$/).waitFor()
  if (isLong) await checkPage(page, 'server published')
}

/** Calls it from its page. */
async function tryApi({ page, heading, button, curl }: Server): Promise<void> {
  await page.getByRole('link', { name: 'Try POST /todo' }).click()
  await heading('POST /todo').waitFor()
  await page.getByLabel('Body').fill('{ "title": "Buy milk", "content": "Two bottles" }')
  await button('Send').click()
  await page.getByText('201', { exact: true }).first().waitFor()
  assert.equal((await curl('GET /todo')).body.entry[0].title, 'Buy milk')
}

/** By what they do. Each continues where the last one ended. */
export const firstSteps = {
  'the first page takes the code of the server and creates the administrator': enterCode,
  'a table is designed in the draft': designTable,
  'it becomes an API in one sheet; its routes are marked as new and are not served': makeApi,
  'a setting is changed in the draft': allowAddresses,
  'publishing shows SQL, routes and the scope that no one has; its steps survive a reload': publishFirst,
  'Try it creates a row': tryApi,
}
