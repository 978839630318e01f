import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempDisposable } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { env } from 'node:process'
import { test } from 'node:test'
import { createTestApp } from 'waypost/testing'

const databases = env['WAYPOST_TEST_DATABASES']
const png = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 0])
const printer = { subject: 'The printer is offline', content: 'It was online yesterday.' }

// On PostgreSQL too, if WAYPOST_TEST_DATABASES names a server.
for (const system of databases === undefined ? (['sqlite'] as const) : (['sqlite', 'postgresql'] as const)) {
  test(`customers see their own tickets, agents all of their organization, on ${system}`, async () => {
    await using app = await createTestApp({ system, seed: true })
    const [agent, ann, bob] = ['dev', 'ann', 'bob'].map((user) => app.as(user, ['helpdesk'])) as [
      Caller,
      Caller,
      Caller,
    ]
    const opened = await bob.inject('POST /v1/ticket', { body: { subject: 'No paper', content: '=1+1' } })
    assert.equal(opened.status, 201)
    const { id: ticket_id } = opened.body
    assert.equal(app.events.delivered('ticket_created')[0]?.subject, 'No paper')

    const subjects = async (caller: Caller) => {
      const { body } = await caller.inject('GET /v1/ticket', { query: { status: 'open' } })
      return typeof body === 'string' ? [] : body.entry.map(({ subject }) => subject)
    }
    assert.deepEqual(await subjects(bob), ['No paper'])
    assert.deepEqual(await subjects(ann), [printer.subject])
    assert.deepEqual(await subjects(agent), ['No paper', printer.subject])
    assert.equal((await ann.inject('GET /v1/ticket/:ticket_id', { params: { ticket_id } })).status, 404)
    assert.equal((await app.as('eve', ['helpdesk']).inject('GET /v1/ticket')).status, 403)

    const params = { ticket_id }
    const comment = await agent.inject('POST /v1/ticket/:ticket_id/comment', {
      params,
      body: { content: 'On its way' },
    })
    assert.equal(comment.status, 201)
    const closed = await agent.inject('PATCH /v1/ticket/:ticket_id', { params, body: { status: 'closed' } })
    assert.equal(closed.body.status, 'closed')
    assert.deepEqual(
      app.events.delivered('ticket_closed').map(({ id }) => id),
      [ticket_id],
    )
    const shown = await bob.inject('GET /v1/ticket/:ticket_id', { params })
    assert.deepEqual(
      shown.body.comments.map(({ author, content }) => [author, content]),
      [['dev', 'On its way']],
    )
  })

  test(`a ticket that waits too long for a reply is escalated once, on ${system}`, async () => {
    await using app = await createTestApp({ system, seed: true })
    const [agent, ann] = [app.as('dev', ['helpdesk']), app.as('ann', ['helpdesk'])]
    const open = async () => (await ann.inject('POST /v1/ticket', { body: printer })).body.id
    const [waits, answered, closed] = [await open(), await open(), await open()]
    await agent.inject('POST /v1/ticket/:ticket_id/comment', {
      params: { ticket_id: answered },
      body: { content: 'Is it plugged in?' },
    })
    await agent.inject('PATCH /v1/ticket/:ticket_id', { params: { ticket_id: closed }, body: { status: 'closed' } })
    app.clock.forward('3h')
    assert.deepEqual(await app.run('escalate'), [])
    app.clock.forward('1h')
    const runs = await app.run('escalate')
    assert.deepEqual(
      runs.map(({ outcome }) => outcome),
      ['done'],
    )
    const priorityOf = async (ticket_id: number) =>
      (await ann.inject('GET /v1/ticket/:ticket_id', { params: { ticket_id } })).body.priority
    assert.deepEqual(await Promise.all([waits, answered, closed].map(priorityOf)), ['high', 'normal', 'normal'])
  })

  test(`a ticket is charged once, even if it is closed again, on ${system}`, async () => {
    await using app = await createTestApp({ system, seed: true })
    const agent = app.as('dev', ['helpdesk'])
    const params = { ticket_id: 1 }
    const chargeOf = async () => (await agent.inject('GET /v1/ticket/:ticket_id', { params })).body.charge
    for (const status of ['closed', 'open', 'closed'] as const)
      await agent.inject('PATCH /v1/ticket/:ticket_id', { params, body: { status } })
    assert.equal(await chargeOf(), undefined)
    const runs = await app.run('bill')
    assert.deepEqual(
      runs.map(({ outcome }) => outcome),
      ['done', 'done'],
    )
    assert.equal(await chargeOf(), 1500)
  })

  test(`the list of tickets is also a spreadsheet, on ${system}`, async () => {
    await using app = await createTestApp({ system, seed: true })
    const ann = app.as('ann', ['helpdesk'])
    await ann.inject('POST /v1/ticket', { body: { subject: '=HYPERLINK("x")', content: 'x' } })
    const { headers, body } = await ann.inject('GET /v1/ticket', { headers: { accept: 'text/csv' } })
    assert.match(headers.get('content-type') ?? '', /^text\/csv/)
    assert.match(String(body), /^id,status,author,subject,insert_date\r\n"2","open","ann","'=HYPERLINK\(""x""\)",/)
    assert.equal((await ann.inject('GET /v1/ticket', { headers: { accept: 'image/png' } })).status, 406)
  })
}

test('mails are posted to the mail API until it accepts them, with the same id', async () => {
  const posted: { id: unknown; key: unknown; to: string; subject: string }[] = []
  const answers = [503, 429, 202]
  await using api = createServer(async (request, response) => {
    const { 'idempotency-key': id, authorization: key } = request.headers
    const { to, subject } = JSON.parse(Buffer.concat(await request.toArray()).toString())
    posted.push({ id, key, to, subject })
    response.writeHead(answers[posted.length - 1] ?? 202).end()
  }).listen(0, '127.0.0.1')
  await once(api, 'listening')
  const env = { MAIL_URL: `http://127.0.0.1:${(api.address() as AddressInfo).port}/mail`, MAIL_KEY: 'key' }
  await using app = await createTestApp({ seed: true, env })
  await app.as('dev', ['helpdesk']).inject('POST /v1/ticket/:ticket_id/comment', {
    params: { ticket_id: 1 },
    body: { content: 'Is it plugged in?' },
  })
  const send = async () => (await app.run('send_mail')).map(({ outcome }) => outcome)
  assert.deepEqual(await send(), ['retrying'])
  app.clock.forward('1m')
  assert.deepEqual(await send(), ['postponed'])
  app.clock.forward('2m')
  assert.deepEqual(await send(), ['done'])
  const [first] = posted
  assert.deepEqual([first?.to, first?.subject, first?.key], ['ann@example.com', `Re: ${printer.subject}`, 'Bearer key'])
  assert.deepEqual(posted, [first, first, first])
})

test('without a mail API, mails are discarded, and can be replayed later', async () => {
  await using app = await createTestApp({ seed: true })
  const params = { ticket_id: 1 }
  await app.as('dev', ['helpdesk']).inject('PATCH /v1/ticket/:ticket_id', { params, body: { status: 'closed' } })
  const [run] = await app.run('send_mail')
  assert.deepEqual([run?.outcome, run?.reason], ['discarded', 'MAIL_URL is not set'])
})

test('files are attached to a ticket and downloaded again', async () => {
  await using folder = await mkdtempDisposable(path.join(tmpdir(), 'helpdesk-'))
  await using app = await createTestApp({ seed: true, env: { ATTACHMENTS: folder.path } })
  const ann = app.as('ann', ['helpdesk'])
  const params = { ticket_id: 1 }
  const files = [new File([png], '../screen.png', { type: 'image/png' })]
  const attached = await ann.inject('POST /v1/ticket/:ticket_id/attachment', { params, body: { files } })
  assert.equal(attached.status, 201)
  assert.deepEqual(
    attached.body.map(({ name, type, size }) => [name, type, size]),
    [['screen.png', 'image/png', 12]],
  )

  const attachment = { params: { attachment_id: attached.body[0]!.id } }
  const download = await ann.inject('GET /v1/attachment/:attachment_id', attachment)
  assert.deepEqual([...download.bytes], [...png])
  assert.match(download.headers.get('content-disposition') ?? '', /^attachment; filename="screen.png"/)
  const range = await ann.inject('GET /v1/attachment/:attachment_id', {
    ...attachment,
    headers: { range: 'bytes=1-3' },
  })
  assert.deepEqual([range.status, Buffer.from(range.bytes).toString()], [206, 'PNG'])
  assert.equal((await app.as('bob', ['helpdesk']).inject('GET /v1/attachment/:attachment_id', attachment)).status, 404)

  const text = [new File(['x'], 'note.png', { type: 'image/png' })]
  const wrong = await ann.inject('POST /v1/ticket/:ticket_id/attachment', { params, body: { files: text } })
  assert.equal(wrong.status, 400)
})

test('agents follow new tickets as they are opened', async () => {
  await using app = await createTestApp({ seed: true })
  const ann = app.as('ann', ['helpdesk'])
  assert.equal((await ann.inject('GET /v1/ticket/live')).status, 403)
  const live = await app.as('dev', ['helpdesk']).inject('GET /v1/ticket/live', { headers: { 'last-event-id': '1' } })
  await ann.inject('POST /v1/ticket', { body: printer })
  for await (const { id, data } of live.body) {
    assert.deepEqual([id, data.subject], ['2', printer.subject])
    break
  }
})

type Caller = ReturnType<Awaited<ReturnType<typeof createTestApp>>['as']>
