// Someone who has only a server and a browser changes an API that is used, and rolls back.
import assert from 'node:assert/strict'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { before, describe, test } from 'node:test'
import { Webhook } from 'standardwebhooks'
import { chooseMore, storeScreenshot } from '../support/browser.ts'
import { chooseKinds, type Kind } from '../support/forms.ts'
import { until } from '../support/until.ts'
import { checkPage, origin } from './backend-world.ts'
import { firstSteps } from './server-steps.ts'
import { run, withServer } from './server-world.ts'

/** Returns the files of a zip archive whose files are not compressed. */
function readStored(zip: Buffer): ReadonlyMap<string, string> {
  const files = new Map<string, string>()
  for (let at = 0; zip.readUInt32LE(at) === 0x04034b50;) {
    const [size, length] = [zip.readUInt32LE(at + 22), zip.readUInt16LE(at + 26)]
    const start = at + 30 + length
    files.set(zip.toString('utf8', at + 30, start), zip.toString('utf8', start, start + size))
    at = start + size
  }
  return files
}

/** Its System is the one that `init --template host` sets up; in the long form also on PostgreSQL. */
for (const kind of chooseKinds('sqlite'))
  describe(`releases of an API on a server by clicking, ${kind}`, { timeout: 600_000 }, () => changeApi(kind))

function changeApi(kind: Kind): void {
  const server = withServer(kind)
  const { heading, button, dialog, go, openRoute, curl, publishAll } = server
  before(async () => {
    for (const step of Object.values(firstSteps)) await step(server)
  })

  let token: string
  test('a client gets its secret once, and calls the API', async () => {
    const { serving } = server
    await go('Clients')
    await button('New client').click()
    await dialog().getByLabel('Name').fill('shop')
    await dialog().getByLabel('Owner').fill('ann')
    await dialog().getByLabel('todo', { exact: true }).check()
    await button('Create client').click()
    await dialog().getByText('Copy it now.').waitFor()
    // As it is shown; only the browser reaches the server at its issuer.
    const command = (await dialog().locator('pre').textContent())!
    await button('Done').click()
    const { stdout } = await run('sh', ['-c', command.replaceAll(origin, `http://127.0.0.1:${serving.port}`)])
    token = (JSON.parse(stdout) as { access_token: string }).access_token
    const bread = { title: 'Buy bread', content: 'Rye' }
    assert.equal((await curl('POST /todo', { body: bread })).status, 401)
    assert.equal((await curl('POST /todo', { body: bread, token })).status, 201)
    assert.equal((await curl('PUT /todo/1', { body: bread, token })).status, 200)
  })

  test('a subscription receives a signed test and an event', async () => {
    const { page, receiver } = server
    await go('Subscriptions')
    await button('Add subscription').click()
    await dialog().getByLabel('Event').selectOption('todo_created')
    await dialog().getByLabel('Endpoint').fill(receiver.url)
    await button('Add subscription', dialog()).click()
    const secret =
      (await dialog()
        .getByText(/^whsec_/)
        .textContent()) ?? ''
    await button('Done').click()
    await heading('todo_created').waitFor()
    await button('Send test').click()
    await page.locator('#content').getByText('delivered', { exact: true }).waitFor()
    assert.equal((await curl('POST /todo', { body: { title: 'Buy tea', content: 'Green' }, token })).status, 201)
    await until('the event is delivered', () => receiver.received.some(({ body }) => body.includes('Buy tea')))
    const delivery = receiver.received.find(({ body }) => body.includes('Buy tea'))!
    new Webhook(secret).verify(delivery.body, delivery.headers as Record<string, string>)
  })

  test('a change that breaks callers says so, and is published after a question', async () => {
    const { page } = server
    await openRoute('PUT /todo/:id')
    await chooseMore(page, 'Delete PUT /todo/:id')
    await button('Delete PUT /todo/:id', dialog()).click()
    await heading('Routes').waitFor()
    await page.getByRole('link', { name: '1 change · Publish' }).click()
    await heading('Publish').waitFor()
    await page.getByRole('heading', { name: '1 change that can break clients' }).waitFor()
    await checkPage(page, 'server breaking')
    assert.equal((await curl('PUT /todo/1', { body: {}, token })).status, 400, 'the draft is not served')
    await publishAll('Publish 1 breaking change', 'Publish')
    assert.equal((await curl('PUT /todo/1', { body: {}, token })).status, 405)
  })

  test('a rollback keeps rows, and what it undoes as a draft', async () => {
    const { page } = server
    await go('Releases')
    const rows = page.getByRole('row').filter({ hasText: 'To-dos' })
    await rows.getByRole('button', { name: /^Actions/ }).click()
    await page.getByRole('menuitem', { name: /^Roll back to/ }).click()
    await dialog().getByText('rows are kept').waitFor()
    assert.ok(await dialog().getByLabel('Keep the undone changes in the draft').isChecked())
    await dialog()
      .getByRole('button', { name: /^Roll back to/ })
      .click()
    await dialog().waitFor({ state: 'detached' })
    await until(
      'the route is served again',
      async () => (await curl('PUT /todo/1', { body: {}, token })).status === 400,
    )
    assert.equal((await curl('GET /todo')).body.entry.length, 3)
    await page.getByRole('link', { name: '1 change · Publish' }).click()
    await heading('Publish').waitFor()
    await page.getByText('removed', { exact: true }).waitFor()
    await button('Discard all').click()
    await button('Discard 1 change', dialog()).click()
    await page.getByRole('heading', { name: 'Nothing to publish' }).waitFor()
  })

  test('what someone else published meanwhile is a conflict: base, theirs and mine side by side', async () => {
    const { page } = server
    const describeEvent = async (text: string) => {
      await go('Events')
      await page.getByRole('link', { name: 'todo_created' }).first().click()
      await page.getByLabel('Description').fill(text)
      await page.keyboard.press('Control+S')
      await page.getByText(/^Saved in the draft/).waitFor()
    }
    await describeEvent('A to-do was created')
    const form = await page.context().newPage()
    await form.clock.install()
    // A request that the page cancels, because the release changes meanwhile, has a response that never finishes.
    const loadMethod = (isWanted = (_url: string) => true) =>
      form.waitForEvent(
        'requestfinished',
        (sent) => /\/release\/[0-9a-f]+\/method/.test(sent.url()) && isWanted(sent.url()),
      )
    const loading = loadMethod()
    await form.goto(`${origin}/backend/ui/routes/POST%20%2Ftodo?tab=try`)
    const before = (await loading).url()
    const typed = '{ "title": "Typed before the publication" }'
    await form.getByLabel('Body').fill(typed)
    await publishAll('Publish')
    const loaded = loadMethod((url) => url !== before)
    await form.clock.fastForward(60_000) // the page asks again when it gets the focus and its data are old
    await form.evaluate("window.dispatchEvent(new Event('visibilitychange'))")
    await loaded
    assert.equal(await form.getByLabel('Body').inputValue(), typed, 'what is typed stays after a publication')
    await form.close()
    await describeEvent('Sent for each, new to-do')
    await go('Releases')
    await page
      .getByRole('row')
      .filter({ hasText: 'Rollback' })
      .getByRole('button', { name: /^Actions/ })
      .click()
    await page.getByRole('menuitem', { name: /^Roll back to/ }).click()
    await dialog().getByText('Publish or discard them to keep the undone changes.').waitFor()
    await dialog()
      .getByRole('button', { name: /^Roll back to/ })
      .click()
    await dialog().waitFor({ state: 'detached' })
    await page.getByRole('link', { name: '1 change · Publish' }).click()
    await page.getByText('1 conflict with the active release').waitFor()
    await page.getByText('description', { exact: true }).waitFor()
    await page.getByRole('radio', { name: /^Published You changed this .* A row was added to todo/ }).waitFor()
    await checkPage(page, 'server conflict')
    await page.getByRole('radio', { name: /^In the draft You changed this .* Sent for each, new to-do/ }).click()
    await button('Continue with these').click()
    await page.getByRole('complementary', { name: 'What publishing does' }).waitFor()
    await publishAll('Publish')
  })

  test('the draft is downloaded, and a changed folder is imported', async () => {
    const { page, home } = server
    await go('Publish')
    await page.getByRole('button', { name: 'More actions' }).click()
    const downloading = page.waitForEvent('download')
    await page.getByRole('menuitem', { name: 'Download the draft' }).click()
    const zip = path.join(home, 'draft.zip')
    await (await downloading).saveAs(zip)
    const folder = path.join(home, 'downloaded')
    const files = readStored(await readFile(zip))
    assert.ok(files.has('waypost.yml'), [...files.keys()].join())
    for (const [name, text] of files) {
      await mkdir(path.dirname(path.join(folder, name)), { recursive: true })
      await writeFile(path.join(folder, name), text.replace('Sent for each, new to-do', 'Sent once for each to-do'))
    }
    await writeFile(path.join(folder, 'package.json'), '{}')
    await page.getByRole('menu').waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'More actions' }).click()
    await page.getByRole('menuitem', { name: 'Import files' }).click()
    await dialog().locator('input[type="file"]').setInputFiles(folder)
    await dialog().getByText('1 file differs').waitFor()
    await dialog().getByText('1 other file was skipped.').waitFor()
    await dialog().getByText('Sent once for each to-do').first().waitFor()
    await storeScreenshot(page, 'server import')
    await button('Import 1 file').click()
    await page.getByRole('link', { name: '1 change · Publish' }).waitFor()
    await page.getByRole('checkbox', { name: 'Publish todo_created' }).waitFor()
  })

  test('a save is undone; one of two changes is published, and the other one discarded', async () => {
    const { page } = server
    const changes = (count: string) => page.getByRole('link', { name: `${count} · Publish` }).waitFor()
    const allow = async (range: string) => {
      const field = page.getByRole('combobox', { name: 'Private addresses' })
      await field.fill(range)
      await field.press('Enter')
      await page.keyboard.press('Control+S')
      await changes('2 changes')
    }
    await go('Settings')
    await allow('10.0.0.0/8')
    await page.getByRole('button', { name: /^Undo/ }).click()
    await changes('1 change')
    await allow('10.0.0.0/16')
    await go('Publish')
    await page.getByRole('checkbox', { name: 'Publish todo_created' }).uncheck()
    await page.getByText('1 of 2 changes').waitFor()
    await button('Publish').click()
    await heading('Published').waitFor()
    await changes('1 change')
    await go('Publish')
    await page.getByRole('button', { name: 'Discard the change to todo_created' }).click()
    await button('Discard', dialog()).click()
    await page.getByRole('heading', { name: 'Nothing to publish' }).waitFor()
  })

  test('an earlier release is opened as draft', async () => {
    const { page } = server
    await go('Releases')
    const first = page.getByRole('row').filter({ hasText: 'Rollback' }).last()
    await first.getByRole('button', { name: /^Actions/ }).click()
    await page.getByRole('menuitem', { name: 'Open as draft' }).click()
    await button('Open as draft', dialog()).click()
    await heading('Publish').waitFor()
    await page.getByRole('checkbox', { name: 'Publish todo_created' }).waitFor()
  })

  test('the browser complained about nothing but the saves that were refused', () =>
    assert.deepEqual(
      server.opened.complaints.filter((one) => !one.includes('status of 422')),
      [],
    ))
}
