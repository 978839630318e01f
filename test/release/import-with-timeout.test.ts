import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sha256 } from '../../src/kit/index.ts'
import { importWithTimeout } from '../../src/release/import-with-timeout.ts'
import { registerArtifacts } from '../../src/release/load-artifacts.ts'
import { abortTimeoutMs, until } from '../support/until.ts'

function register(content: string): string {
  const hash = sha256(content)
  registerArtifacts([{ hash, content }])
  return hash
}

/** Imports must end for another reason, or the test never ends. */
const forever = 3_600_000

const waits = { code: 'WP_RUNTIME_IMPORT_WAITS', message: 'The import of src/a.ts did not finish' }

test('an import that waits forever times out, sooner on the next try; a fixed module is imported', async () => {
  const hash = register('await new Promise(() => {})\nexport default 1')
  await assert.rejects(importWithTimeout(hash, 'src/a.ts', { timeoutMs: 20 }), waits)
  await assert.rejects(importWithTimeout(hash, 'src/a.ts', { timeoutMs: forever }), waits)
  const mended = register('await new Promise((resolve) => setTimeout(resolve, 20))\nexport default 2')
  assert.deepEqual(
    { ...((await importWithTimeout(mended, 'src/a.ts', { timeoutMs: forever })) as object) },
    { default: 2 },
  )
})

test('an import times out soon after its signal; one without pending promises finishes anyway', async () => {
  const hash = register('await new Promise(() => {})\nexport default 3')
  const stop = new AbortController()
  const importing = importWithTimeout(hash, 'src/a.ts', { signal: stop.signal })
  stop.abort()
  await assert.rejects(importing, waits)
  await assert.rejects(importWithTimeout(hash, 'src/a.ts', { signal: stop.signal }), waits)
  const sound = register('export default 4')
  assert.deepEqual(
    { ...((await importWithTimeout(sound, 'src/b.ts', { signal: stop.signal, graceMs: abortTimeoutMs })) as object) },
    { default: 4 },
  )
})

test('an import that timed out and finished later is available', async () => {
  const hash = register(`await new Promise((resolve) => process.once('finish import', resolve))\nexport default 5`)
  await assert.rejects(importWithTimeout(hash, 'src/a.ts', { timeoutMs: 20 }), waits)
  await until('the module waits', () => process.emit('finish import' as never))
  assert.deepEqual(
    { ...((await importWithTimeout(hash, 'src/a.ts', { graceMs: abortTimeoutMs })) as object) },
    { default: 5 },
  )
})

test('errors of a module are thrown unchanged', async () => {
  await assert.rejects(importWithTimeout(register(`throw new Error('its own')`), 'src/a.ts'), { message: 'its own' })
})
