import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { describe, test } from 'node:test'
import { receiverCode } from '../../src/backend/ui/portal/receiver-code.ts'
import { openReceiver } from '../events/receiver.ts'
import { findFlaws, storeScreenshot } from '../support/browser.ts'
import { isLong, longTest } from '../support/forms.ts'
import { until } from '../support/until.ts'
import { checkLooks, checkPage } from './backend-world.ts'
import { isInjected, script, state, withEvents } from './portal-endpoints.ts'
import { openPortal, origin, root } from './portal-world.ts'

describe('events and subscriptions in the portal', { timeout: 600_000 }, () => {
  const { world, receiver, hidden, asBea, deliver, deliverUntilDead, subscribe, addTodo, problemOf } = withEvents()

  // First, because they use the real time.
  const hasPython = spawnSync('python3', ['--version']).status === 0
  const programs = [
    ['JavaScript', process.execPath, 'receiver.mjs', receiverCode.javascript, true],
    ['Python', 'python3', 'receiver.py', receiverCode.python, hasPython],
  ] as const
  for (const [language, command, file, code, canRun] of programs) {
    test(`the receiver in ${language} accepts what is signed and nothing else`, { skip: !canRun }, async () => {
      const spare = await openReceiver() // finds a free port
      const port = new URL(spare.url).port
      await spare.close()
      const folder = mkdtempSync(path.join(tmpdir(), 'waypost-receiver-'))
      writeFileSync(path.join(folder, file), code.replace('4000', port))
      const { id, secret } = await subscribe(`http://127.0.0.1:${port}/`, 'order_paid')
      const args = command === 'python3' ? ['-u', file] : [file]
      const program = spawn(command, args, { cwd: folder, env: { ...process.env, WEBHOOK_SECRET: secret } })
      try {
        let output = ''
        program.stdout.on('data', (part: Buffer) => (output += part))
        const post = (headers: Readonly<Record<string, string>>) =>
          fetch(`http://127.0.0.1:${port}/`, { method: 'POST', headers, body: '{}' }).catch(() => undefined)
        await until('it listens', async () => (await post({}))?.status === 401)
        const headers = { 'webhook-id': 'dlv_x', 'webhook-timestamp': String(Math.trunc(Date.now() / 1000)) }
        assert.equal((await post({ ...headers, 'webhook-signature': 'v1,AAAA v1,BBBB' }))?.status, 401)
        assert.equal(output, '')
        await asBea('POST', `/consumer/subscription/${id}/test`)
        await deliver()
        await until('it prints the event', () => output.includes('waypost.test dlv_'))
        const { entry } = await asBea('GET', `/consumer/subscription/${id}/deliveries`)
        assert.deepEqual([entry[0].status, entry[0].attempts[0].status], ['delivered', 204])
      } finally {
        program.kill()
        rmSync(folder, { recursive: true })
        await asBea('DELETE', `/consumer/subscription/${id}`)
      }
    })
  }

  test('an event is found and subscribed to, the secret is shown once, and deliveries are signed with it', async () => {
    receiver().choose = () => (response) => response.writeHead(200, { 'content-type': 'text/html' }).end(script)
    await using opened = await world().open()
    const { page, complaints } = opened
    await openPortal(page, '/events')
    const list = page.getByRole('table', { name: 'Events' })
    await list.getByText(script).waitFor()
    assert.equal(await list.getByText('secret_event').count(), 0)
    await page.goto(`${origin}${root}/events/order_paid`)
    await page.getByRole('heading', { name: 'Example' }).waitFor()
    await page.locator('.schema').getByText('note', { exact: true }).waitFor()
    assert.equal(await isInjected(page), false)
    await page.getByRole('link', { name: 'Events' }).first().click()
    await list.getByRole('link', { name: 'todo_created' }).click()
    await page.getByText('insert_date').first().waitFor()
    await page.getByText('webhook-signature', { exact: true }).waitFor()
    assert.equal(
      await page.getByRole('region', { name: 'Receiver in JavaScript' }).textContent(),
      receiverCode.javascript,
    )
    await page.getByLabel('Language').selectOption('Python')
    assert.equal(await page.getByRole('region', { name: 'Receiver in Python' }).textContent(), receiverCode.python)

    await page.getByRole('button', { name: 'Subscribe', exact: true }).click()
    const dialog = page.getByRole('dialog', { name: 'Subscribe to todo_created' })
    const endpoint = dialog.getByLabel('Your endpoint')
    for (const [typed, problem] of [
      ['ftp://example.com/', /not a valid endpoint URL/],
      ['https://10.0.0.1/hook', /not on the public internet/],
    ] as const) {
      await endpoint.fill(typed)
      await dialog.getByRole('button', { name: 'Subscribe' }).click()
      await dialog.locator('.mantine-InputWrapper-error').getByText(problem).waitFor()
      assert.equal(await page.evaluate('document.activeElement.name'), 'endpoint')
      assert.equal(await endpoint.inputValue(), typed)
    }
    await endpoint.fill(`${receiver().url}/hook`)
    await dialog.getByRole('button', { name: 'Subscribe' }).click()
    const shown = page.getByRole('dialog', { name: 'You are subscribed' })
    const secret = (await shown.getByText(/^whsec_/).textContent()) ?? ''
    assert.deepEqual(await findFlaws(page), [])
    await storeScreenshot(page, 'portal secret')
    await page.keyboard.press('Escape')
    await shown.getByRole('button', { name: 'Done' }).click()
    await page.getByRole('heading', { name: 'todo_created', level: 1 }).waitFor()
    await page.getByText('No deliveries yet').waitFor()
    assert.equal((await page.content()).includes(secret), false)
    const address = page.url()

    await page.getByRole('button', { name: 'Send test' }).click()
    await page.getByRole('heading', { name: 'waypost.test', level: 1 }).waitFor()
    await state(page, 'pending').waitFor()
    await deliver()
    await state(page, 'delivered').waitFor() // the page asks while it is pending
    await page.locator('.attempts').getByText(script).waitFor()
    assert.equal(problemOf(receiver().received.at(-1)!, secret), undefined)

    await addTodo(script)
    await deliver()
    assert.equal(problemOf(receiver().received.at(-1)!, secret), undefined)
    await page.goto(address)
    await page
      .getByRole('table', { name: 'Deliveries' })
      .getByRole('link', { name: /^todo_created / })
      .click()
    await page.locator('.code').getByText(JSON.stringify(script)).waitFor()
    assert.equal(await isInjected(page), false)

    await page.goto(`${origin}${root}/subscriptions?add=1`)
    const again = page.getByRole('dialog', { name: 'Subscribe' })
    await again.getByLabel('Event').selectOption('todo_created')
    await again.getByLabel('Your endpoint').fill(`${receiver().url}/hook`)
    await again.getByRole('button', { name: 'Subscribe' }).click()
    await page.getByText('You already have this subscription').waitFor()
    assert.equal(page.url(), address)
    const isRefusal = (line: string) => line.includes('status of 400') // of the first endpoints
    assert.deepEqual(
      complaints.filter((line) => !isRefusal(line)),
      [],
    )
  })

  // In CI, events/subscription-deliveries.test.ts hides it.
  longTest('what answers in a private network stays hidden', async () => {
    const { id } = await subscribe(`${receiver().url}/private`)
    receiver().choose = () => (response) => response.writeHead(500).end('the private answer')
    await asBea('POST', `/consumer/subscription/${id}/test`)
    await deliverUntilDead(hidden())
    await using opened = await world().open()
    const { page, complaints } = opened
    await openPortal(page, `/subscriptions/${id}`)
    await page.getByRole('link', { name: /^waypost.test / }).click()
    await page.getByText('hidden because the endpoint is not on the public internet').first().waitFor()
    assert.equal((await page.content()).includes('the private answer'), false)
    assert.deepEqual(new Set(await page.locator('.attempts .state').allTextContents()), new Set(['failed']))
    receiver().choose = () => 204
    await page.getByRole('button', { name: 'Replay' }).click()
    await deliver(hidden())
    await state(page, 'delivered').nth(1).waitFor() // of the delivery, and of its last attempt
    assert.equal(await state(page, 'null').count(), 0)
    assert.deepEqual(complaints, [])
    await asBea('DELETE', `/consumer/subscription/${id}`)
  })

  // In CI, test/events has each of these over HTTP.
  longTest('the secret is replaced with an overlap; it is paused, resumed, moved and deleted', async () => {
    const { id, secret: old } = await subscribe(`${receiver().url}/own`, 'order_paid')
    receiver().choose = () => 204
    await using opened = await world().open()
    const { page, complaints } = opened
    await openPortal(page, `/subscriptions/${id}`)
    const choose = async (name: string) => {
      await page.getByRole('button', { name: 'More actions' }).click()
      await page.getByRole('menuitem', { name }).click()
    }
    await choose('New secret')
    const asking = page.getByRole('dialog', { name: 'Replace the secret of this subscription?' })
    await asking.getByLabel('Old secret also signs for').selectOption('1h')
    await asking.getByRole('button', { name: 'Create new secret' }).click()
    const shown = page.getByRole('dialog', { name: 'The new signing secret' })
    const secret = (await shown.getByText(/^whsec_/).textContent()) ?? ''
    await shown.getByText(/^Until 20\d\d-.* UTC, requests are also signed with the previous secret/).waitFor()
    assert.deepEqual(await findFlaws(page), [])
    await shown.getByRole('button', { name: 'Done' }).click()
    assert.notEqual(secret, old)
    await page.locator('dl').getByText('Old secret signs until').waitFor()
    const test = async () => {
      await asBea('POST', `/consumer/subscription/${id}/test`)
      await deliver()
      return receiver().received.at(-1)!
    }
    const both = await test()
    assert.equal(both.headers['webhook-signature']?.toString().split(' ').length, 2)
    assert.deepEqual([problemOf(both, old), problemOf(both, secret)], [undefined, undefined])
    world().clock.forward(3_601_000)
    const later = await test()
    assert.deepEqual([problemOf(later, old), problemOf(later, secret)], ['wrong', undefined])

    await page.getByRole('button', { name: 'Pause' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Pause' }).click()
    await page.getByText('Events that are dispatched now are not delivered').waitFor()
    assert.equal(await page.getByRole('button', { name: 'Send test' }).isDisabled(), true)
    await page.getByRole('button', { name: 'Resume' }).click()
    await state(page, 'active').waitFor()

    await choose('Change endpoint')
    const moving = page.getByRole('dialog', { name: 'Change endpoint' })
    await moving.getByLabel('Endpoint').fill('https://10.0.0.1/')
    await moving.getByRole('button', { name: 'Save endpoint' }).click()
    await moving.locator('.mantine-InputWrapper-error').waitFor()
    await moving.getByLabel('Endpoint').fill(`${receiver().url}/moved`)
    await moving.getByRole('button', { name: 'Save endpoint' }).click()
    await page.locator('dd').getByText(`${receiver().url}/moved`).waitFor()
    assert.equal((await test()).path, '/moved')

    await choose('Delete')
    await page.getByRole('button', { name: 'Delete subscription' }).click()
    await page.getByRole('heading', { name: 'Subscriptions', level: 1 }).waitFor()
    await page.getByText('The subscription was deleted').waitFor()
    assert.equal(await page.getByRole('link', { name: /^order_paid / }).count(), 0)
    // Of the endpoint that is refused, and of the token that expires during the hour.
    assert.deepEqual(
      complaints.filter((line) => !/status of 40[01]/.test(line)),
      [],
    )
  })

  // In CI, portal-hazards.test.ts has such texts, events/subscription-deliveries.test.ts the pages.
  longTest('hostile endpoints are text, and lists have pages', async () => {
    const { db } = world().server.host.system
    const { id: user_id } = await db
      .selectFrom('waypost_user')
      .select('id')
      .where('name', '=', 'carl')
      .executeTakeFirstOrThrow()
    const rows = Array.from({ length: 51 }, (_, index) => ({
      id: `sub_zzz${String(index).padStart(3, '0')}`,
      user_id,
      event: 'todo_created',
      endpoint: `https://example.com/${index}/${script}`,
      secret: '',
      revision: 1,
      status: 'active' as const,
      created_at: Date.now(),
    }))
    await db.insertInto('waypost_subscription').values(rows).execute()
    await using opened = await world().open()
    const { page, complaints } = opened
    await openPortal(page, '/subscriptions', 'carl')
    const links = page.getByRole('table', { name: 'Subscriptions' }).getByRole('link', { name: /^todo_created / })
    await links.nth(49).waitFor()
    await page.getByRole('button', { name: 'Next' }).click()
    await until('the second page is shown', async () => (await links.count()) === 1)
    await links.click()
    await page.locator('dd').getByText(`https://example.com/50/${script}`).waitFor()
    assert.equal(await isInjected(page), false)
    assert.deepEqual(complaints, [])
    await db.deleteFrom('waypost_subscription').where('user_id', '=', user_id).execute()
  })

  // In CI, the first test subscribes to an event.
  longTest('an event without a schema can be subscribed to', async () => {
    await using opened = await world().open()
    const { page, complaints } = opened
    await openPortal(page, '/events/shelf_changed')
    await page.getByText('The data can be any JSON.').waitFor()
    assert.equal(await page.getByRole('heading', { name: 'Example' }).count(), 0)
    assert.deepEqual(await findFlaws(page), [])
    await page.getByRole('button', { name: 'Subscribe', exact: true }).click()
    await page.getByRole('dialog', { name: 'Subscribe to shelf_changed' }).waitFor()
    assert.deepEqual(complaints, [])
  })

  test('are accessible with data, in both colour schemes, also 390 pixels wide', async () => {
    receiver().choose = () => 500
    await addTodo('Order milk')
    await deliver()
    const { entry } = await asBea('GET', '/consumer/subscription')
    const { id } = entry[0]
    const log = await asBea('GET', `/consumer/subscription/${id}/deliveries`)
    await using opened = await world().open()
    const { page, complaints } = opened
    await openPortal(page)
    const titles = {
      '/events': 'Events',
      '/events/todo_created': 'todo_created',
      '/subscriptions': 'Subscriptions',
      [`/subscriptions/${id}`]: 'todo_created',
      [`/subscriptions/${id}/deliveries/${log.entry[0].id}`]: 'todo_created',
    }
    await checkLooks(page, titles, root)
    if (!isLong) return // the first test opens dialogs
    await page.goto(`${origin}${root}/events/todo_created`)
    await page.getByRole('button', { name: 'Subscribe', exact: true }).click()
    await page.getByRole('dialog').waitFor()
    await checkPage(page, 'portal subscribe')
    assert.deepEqual(complaints, [])
  })

  test('the receiver in JavaScript is that of docs/events.md', () => {
    const docs = readFileSync(new URL('../../docs/events.md', import.meta.url), 'utf8')
    assert.ok(docs.includes(receiverCode.javascript))
  })
})
