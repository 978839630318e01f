import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { sha256 } from '../../src/kit/index.ts'
import { useArtifacts } from '../../src/release/artifact-uses.ts'
import {
  importArtifact,
  makeFileArtifact,
  pathOfFileArtifact,
  registerArtifacts,
} from '../../src/release/load-artifacts.ts'
import type { Artifact } from '../../src/release/index.ts'
import { until } from '../support/until.ts'

function artifact(content: string): Artifact {
  return { hash: sha256(content), content }
}

function importing({ hash }: Artifact, rest: string): Artifact {
  return artifact(`import { state } from 'waypost-artifact:${hash}'\n${rest}`)
}

/** What the modules of a test have done, which they find by its name. */
function record(name: string): string[] {
  const done: string[] = []
  Object.assign(globalThis, { [name]: done })
  return done
}

const lasting = { isDevelopment: false }
const develops = { isDevelopment: true }

test('what a module has given to onClose is called once, last first, when nothing uses the module any more', async () => {
  const done = record('closedInOrder')
  const shared = artifact(`import { onClose } from 'waypost'
export const state = {}
onClose(async () => { await null; closedInOrder.push('first') })
onClose(() => closedInOrder.push('second'))
`)
  const one = importing(shared, 'export default 1\n')
  const two = importing(shared, 'export default 2\n')
  const first = useArtifacts([shared, one], lasting)
  await importArtifact(one.hash)
  const second = useArtifacts([shared, two], lasting)
  await importArtifact(two.hash)
  assert.deepEqual([first.mustClose([shared, two]), first.mustClose([two])], [false, true])
  assert.deepEqual(await first.end(), { left: [], errors: [] })
  assert.deepEqual(done, [])
  await second.end()
  await second.end()
  assert.deepEqual(done, ['second', 'first'])
})

test('modules that were closed are evaluated again by the next use, with all that import them; others are not', async () => {
  const done = record('evaluated')
  const shared = artifact(`import { onClose } from 'waypost'
export const state = { isOpen: true }
evaluated.push('shared')
onClose(() => (state.isOpen = false))
`)
  const importer = importing(shared, 'export default () => state.isOpen\n')
  const other = artifact(`evaluated.push('other')\nexport default 3\n`)
  const isOpen = async () => ((await importArtifact(importer.hash)) as { default: () => boolean }).default()
  const lastingUse = useArtifacts([other], lasting)
  for (let round = 0; round < 2; round += 1) {
    const use = useArtifacts([shared, importer, other], lasting)
    assert.equal(await isOpen(), true)
    await importArtifact(other.hash)
    await use.end()
  }
  await lastingUse.end()
  assert.deepEqual(done, ['shared', 'other', 'shared'])
})

test('code that is evaluated again, or first after its file was served, finds its file', async () => {
  const file = makeFileArtifact('a.txt', Buffer.from(`a file ${import.meta.filename}`))
  const importer = artifact(`import { onClose } from 'waypost'
import file from 'waypost-artifact:${file.hash}'
export const state = file
onClose(() => undefined)
`)
  for (let round = 0; round < 3; round += 1) {
    const use = useArtifacts([file, importer], lasting)
    const served = pathOfFileArtifact(file.hash)
    const { state } = (await importArtifact(importer.hash)) as { state: string }
    assert.equal(fileURLToPath(state), served)
    await use.end()
  }
})

test('a rollback over several releases evaluates importers again that were unused before the module was closed', async () => {
  const pool = (version: string) =>
    artifact(`import { onClose } from 'waypost'
export const state = { isOpen: true, version: '${version}' }
onClose(() => (state.isOpen = false))
`)
  const [first, second] = [pool('first'), pool('second')]
  const release = (shared: Artifact, action: number) => {
    const importer = importing(shared, `export default () => [state.isOpen, ${action}]\n`)
    return { artifacts: [shared, importer], importer }
  }
  const releases = [release(first, 1), release(first, 2), release(second, 3)]
  const serve = async ({ artifacts, importer }: (typeof releases)[number]) => {
    const use = useArtifacts(artifacts, lasting)
    return { use, action: ((await importArtifact(importer.hash)) as { default: () => unknown }).default }
  }
  let serving = await serve(releases[0]!)
  for (const [index, next] of [releases[1]!, releases[2]!, releases[0]!, releases[1]!].entries()) {
    const served = await serve(next)
    await serving.use.end()
    assert.deepEqual(served.action(), [true, [2, 3, 1, 2][index]])
    serving = served
  }
  await serving.use.end()
})

test('timers that a module starts while it is loaded end with it, and are named', async () => {
  const done = record('ticks')
  const ticking = artifact(`export const timer = setInterval(() => ticks.push('tick'), 1)
const ended = setInterval(() => undefined, 1)
clearInterval(ended)
`)
  const use = useArtifacts([ticking], lasting)
  await importArtifact(ticking.hash)
  const { left } = await use.end()
  assert.deepEqual(left, [{ kind: 'timer', place: `waypost:///${ticking.hash}:1`, isEnded: true }])
  const count = done.length
  await new Promise((resolve) => setTimeout(resolve, 5))
  assert.equal(done.length, count)
})

test('what a shared module opens on a call stays open until the module itself is unused', async () => {
  const done = record('closedLate')
  const shared = artifact(`import { createServer } from 'node:net'
import { onClose } from 'waypost'
let server
export const state = () => (server ??= open())
function open() {
  onClose(() => (closedLate.push('closed'), server.close()))
  return createServer().listen(0)
}
`)
  const actions = [1, 2].map((number) =>
    importing(shared, `export default () => state()\nexport const n = ${number}\n`),
  )
  const [first, second] = actions.map((action) => useArtifacts([shared, action], develops))
  for (const { hash } of actions) ((await importArtifact(hash)) as { default: () => void }).default()
  assert.deepEqual(first!.mustClose([shared, actions[1]!]), false)
  assert.deepEqual([await first!.end(), done], [{ left: [], errors: [] }, []])
  assert.deepEqual([await second!.end(), done], [{ left: [], errors: [] }, ['closed']])
})

test('a timer that a shared module starts for the first that calls it ends with the shared module', async () => {
  const done = record('sweeps')
  const shared = artifact(`let timer
export const state = () => (timer ??= setInterval(() => sweeps.push('sweep'), 1))
`)
  const actions = [1, 2].map((number) => importing(shared, `state()\nexport default ${number}\n`))
  const [first, second] = actions.map((action) => useArtifacts([shared, action], lasting))
  for (const { hash } of actions) await importArtifact(hash)
  const timer = { kind: 'timer', place: `waypost:///${shared.hash}:2` }
  assert.equal(first!.mustClose([shared, actions[1]!]), false)
  assert.deepEqual(await first!.end(), { left: [{ ...timer, isEnded: false }], errors: [] })
  const before = done.length
  await until('the timer runs again', () => done.length > before)
  assert.equal(second!.mustClose([]), true)
  assert.deepEqual(await second!.end(), { left: [{ ...timer, isEnded: true }], errors: [] })
  const count = done.length
  await new Promise((resolve) => setTimeout(resolve, 5))
  assert.equal(done.length, count)
})

test('in development, what functions open later is known too, but neither timers of fetch nor what was closed', async () => {
  const opening = artifact(`import { createServer } from 'node:http'
import { setInterval as every } from 'node:timers/promises'
export const servers = []
async function loop() { for await (const _ of every(3600000)) {} }
export const open = async () => {
  void loop()
  for (let count = 0; count < 2; count += 1)
    await new Promise((resolve) => servers.push(createServer((_, response) => response.end('a')).listen(0, resolve)))
  const { port } = servers[0].address()
  await fetch(\`http://127.0.0.1:\${port}\`).then((answer) => answer.text())
  const { promise, resolve } = Promise.withResolvers()
  servers[1].close(resolve)
  await promise
  await new Promise((resolve) => setImmediate(resolve))
}
`)
  const use = useArtifacts([opening], develops)
  const module = (await importArtifact(opening.hash)) as { open(): Promise<void>; servers: { close(): void }[] }
  await module.open()
  const { left } = await use.end()
  module.servers[0]!.close()
  assert.deepEqual(left.map(({ kind, isEnded }) => `${kind} ${isEnded}`).toSorted(), ['server false', 'timer true'])
})

test('a function that fails is reported, and the others are still called', async () => {
  const done = record('closedAnyway')
  const failing = artifact(`import { onClose } from 'waypost'
onClose(() => closedAnyway.push('other'))
onClose(async () => { throw new Error('still busy') })
`)
  const use = useArtifacts([failing], lasting)
  await importArtifact(failing.hash)
  const { errors } = await use.end()
  assert.deepEqual([errors.map(({ message }) => /still busy/.test(message)), done], [[true], ['other']])
})

test('the contents of artifacts are freed with their last use, except those of migrations', async () => {
  const used = artifact('export default "used"\n')
  const permanent = artifact('export default "permanent"\n')
  registerArtifacts([permanent])
  const use = useArtifacts([used, permanent], lasting)
  await use.end()
  await assert.rejects(importArtifact(used.hash), { code: 'WP_RUNTIME_ARTIFACT_MISSING' })
  assert.equal(((await importArtifact(permanent.hash)) as { default: string }).default, 'permanent')
})
