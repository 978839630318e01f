import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { Session } from 'node:inspector/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { DraftThread, type DraftLimits } from '../../src/backend/draft/thread/draft-thread.ts'
import { SystemDraft } from '../../src/backend/index.ts'
import { openHost } from '../../src/host/index.ts'
import { copySystem } from '../support/migrated.ts'

const by = { id: 'ann', name: 'ann' }
const texts = new Map([['waypost.yml', 'config: { title: Notes }\n']])

async function openDraft(limits?: DraftLimits) {
  const folder = await mkdtemp(path.join(tmpdir(), 'waypost-draft-thread-'))
  const variables = {
    WAYPOST_SYSTEM_URL: 'sqlite:system.db',
    WAYPOST_SECRET: 'a-secret-of-more-than-thirty-two-characters',
  }
  await copySystem(variables.WAYPOST_SYSTEM_URL, folder)
  const host = await openHost({ folder, variables, disposable: true })
  const draft = new SystemDraft(host, () => 'Notes', limits)
  return {
    draft,
    async close() {
      draft.close()
      await host.close()
      await rm(folder, { recursive: true })
    },
  }
}

// Starting the thread takes more than either.
for (const [what, limits] of Object.entries({ time: { timeoutMs: 1 }, memory: { memoryMb: 4 } }))
  test(`a draft that takes too much ${what} can be read as text, replaced and discarded`, async () => {
    const { draft, close } = await openDraft(limits)
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
      await close()
    }
  })

test('the thread of a draft has no environment variables, and neither a database nor a socket', async () => {
  const { draft, close } = await openDraft()
  const session = new Session()
  session.connect()
  const alive = setInterval(() => undefined, 1000) // neither the session nor the thread keeps the process alive
  try {
    // Other files of this process may have threads too.
    const attached = new Promise<{ readonly sessionId: string }>((resolve) => {
      session.on('NodeWorker.attachedToWorker', ({ params }) => {
        if (params.workerInfo.url.includes('draft-worker')) resolve(params)
      })
    })
    await session.post('NodeWorker.enable', { waitForDebuggerOnStart: false })
    // What reads most of it: the definition, its tables and the code of the active release.
    await draft.write([{ file: 'waypost.yml', text: texts.get('waypost.yml'), before: undefined }], { by })
    assert.deepEqual((await draft.status()).diagnostics, [])
    await draft.tables.load('System', 'note')
    assert.ok(await draft.loadManifest())
    const inThread = openWorkerSession(session, (await attached).sessionId)

    assert.deepEqual(await evaluate(inThread, 'Object.keys(process.env)'), [])
    assert.ok(Object.hasOwn(process.env, 'PATH'))
    const data = await evaluate(inThread, "process.getBuiltinModule('node:worker_threads').workerData")
    assert.deepEqual(Object.keys(data as object), ['folder'])
    const database = "process.getBuiltinModule('node:sqlite').DatabaseSync"
    for (const name of [database, "process.getBuiltinModule('node:net').Socket"])
      assert.equal(await countObjects(inThread, `${name}.prototype`), 0, name)
    await evaluate(inThread, `void (globalThis.opened = new (${database})(':memory:'))`)
    assert.ok((await countObjects(inThread, `${database}.prototype`)) > 0, 'one is found where there is one')
  } finally {
    clearInterval(alive)
    session.disconnect()
    await close()
  }
})

type Ask = (method: string, params: object) => Promise<never>

/** Sends commands of the inspector to a thread. */
function openWorkerSession(session: Session, sessionId: string): Ask {
  let last = 0
  return async (method, params) => {
    const id = (last += 1)
    const { promise, resolve } = Promise.withResolvers<never>()
    const receive = ({ params: received }: { readonly params: { readonly message: string } }) => {
      const message = JSON.parse(received.message) as { readonly id?: number; readonly result: never }
      if (message.id === id) resolve(message.result)
    }
    session.on('NodeWorker.receivedMessageFromWorker', receive)
    await session.post('NodeWorker.sendMessageToWorker', { sessionId, message: JSON.stringify({ id, method, params }) })
    const result = await promise
    session.off('NodeWorker.receivedMessageFromWorker', receive)
    return result
  }
}

async function evaluate(ask: Ask, expression: string): Promise<unknown> {
  const { result } = (await ask('Runtime.evaluate', { expression, returnByValue: true })) as {
    readonly result: { readonly value: unknown }
  }
  return result.value
}

/** Counts the objects that inherit from a prototype, without the prototypes of other classes. */
async function countObjects(ask: Ask, prototype: string): Promise<number> {
  const { result } = (await ask('Runtime.evaluate', { expression: prototype })) as {
    readonly result: { readonly objectId: string }
  }
  const { objects } = (await ask('Runtime.queryObjects', { prototypeObjectId: result.objectId })) as {
    readonly objects: { readonly objectId: string }
  }
  const counted = (await ask('Runtime.callFunctionOn', {
    objectId: objects.objectId,
    functionDeclaration: "function () { return this.filter((one) => !Object.hasOwn(one, 'constructor')).length }",
    returnByValue: true,
  })) as { readonly result: { readonly value: number } }
  return counted.result.value
}

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
