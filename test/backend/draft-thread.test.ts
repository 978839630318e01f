import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { DraftThread } from '../../src/backend/draft/thread/draft-thread.ts'
import { SystemDraft } from '../../src/backend/index.ts'
import { openHost } from '../../src/host/index.ts'
import { copySystem } from '../support/migrated.ts'

const by = { id: 'ann', name: 'ann' }
const texts = new Map([['waypost.yml', 'config: { title: Notes }\n']])

test('a draft that takes too long can be read as text, replaced and discarded', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'waypost-draft-thread-'))
  const variables = { WAYPOST_SYSTEM_URL: 'sqlite:system.db' }
  await copySystem(variables.WAYPOST_SYSTEM_URL, folder)
  const host = await openHost({ folder, variables, disposable: true })
  const draft = new SystemDraft(host, () => 'Slow', { timeoutMs: 1 }) // starting the thread takes longer
  try {
    const text = texts.get('waypost.yml')
    await draft.write([{ file: 'waypost.yml', text, before: undefined }], { by })
    assert.equal((await draft.read()).texts.get('waypost.yml'), text)
    const { problem, diagnostics } = await draft.status()
    assert.deepEqual([problem?.code, diagnostics], ['WP_BACKEND_DRAFT_LIMIT', []])
    assert.deepEqual(
      (await draft.readState()).changes.map(({ name }) => name),
      ['waypost.yml'],
    )
    await assert.rejects(draft.check([{ file: 'waypost.yml', text: 'config: {}\n' }]), {
      code: 'WP_BACKEND_DRAFT_LIMIT',
    })
    const next = 'config: { title: Other }\n'
    assert.ok(await draft.write([{ file: 'waypost.yml', text: next, before: text }], { by }))
    assert.equal((await draft.read()).texts.get('waypost.yml'), next)
    assert.deepEqual(await draft.discard(undefined, by), [])
    assert.equal((await draft.read()).texts.size, 0)
  } finally {
    draft.close()
    await host.close()
    await rm(folder, { recursive: true })
  }
})

test('a thread answers after other work of the process, and keeps what it was sent', async () => {
  const thread = new DraftThread({ folder: tmpdir(), root: undefined })
  try {
    const order: string[] = []
    const asked = thread.ask('value', { texts, at: '/config/title' }).then((found) => {
      order.push('draft')
      return found
    })
    await nextTurn()
    order.push('others')
    assert.equal((await asked)?.value, 'Notes')
    assert.deepEqual(order, ['others', 'draft'])
    const more = new Map([...texts, ['resources/a.yml', 'a: 1\n']])
    assert.deepEqual(
      (await thread.ask('diff', { before: texts, after: more })).map(({ file, status }) => [file, status]),
      [['resources/a.yml', 'added']],
    )
  } finally {
    thread.close()
  }
})

test('a limited number of tasks waits; a thread that was closed answers with an error', async () => {
  const thread = new DraftThread({ folder: tmpdir(), root: undefined, limits: { waiting: 1 } })
  const asked = thread.ask('includes', { texts, file: 'waypost.yml' })
  await assert.rejects(thread.ask('includes', { texts, file: 'a.yml' }), {
    code: 'WP_BACKEND_DRAFT_QUEUE',
    status: 503,
    retryAfterSeconds: 5,
  })
  await asked
  thread.close()
  await assert.rejects(thread.ask('includes', { texts, file: 'a.yml' }), { code: 'WP_BACKEND_DRAFT_THREAD' })
})

test('a thread without enough memory is replaced', async () => {
  const thread = new DraftThread({ folder: tmpdir(), root: undefined, limits: { memoryMb: 64 } })
  const values = Array.from({ length: 60_000 }, (_, index) => `k${index}: { a: [${index}], b: text }\n`).join('')
  try {
    const large = new Map([['waypost.yml', values]])
    await assert.rejects(thread.ask('value', { texts: large, at: '' }), { code: 'WP_BACKEND_DRAFT_LIMIT' })
    assert.equal((await thread.ask('value', { texts, at: '/config/title' }))?.value, 'Notes')
  } finally {
    thread.close()
  }
})
