import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatServing, type ServingReport } from '../../bin/cli/index.ts'

const terminal = { columns: 80, isTTY: false } as NodeJS.WriteStream
const [next, old] = ['9b07d3c5'.padEnd(64, '0'), '4f1c9a2e'.padEnd(64, '0')]
type Outcome = ServingReport['servers'][number]
const serving = (name: string, ms = 300): Outcome => ({ name, state: 'serving', release: next, error: null, ms })
const failed: Outcome = {
  name: 'app-3',
  state: 'failed',
  release: old,
  error: 'The release 9b07d3c5 requires variables that are not set: ORDERS_URL',
  ms: 400,
}
const format = (servers: readonly Outcome[], more: Partial<ServingReport> = {}) =>
  formatServing({ release: next, before: old, servers, waitMs: 30_000, ...more }, terminal)

test('servers that serve a release are listed side by side, as many as fit', () => {
  assert.deepEqual(format([serving('app-1'), serving('app-2', 1450)]), ['  Serving    app-1 0.3 s   app-2 1.4 s'])
  const many = Array.from({ length: 9 }, (_, index) => serving(`app-${index + 1}`))
  assert.deepEqual(format(many), [
    '  Serving    app-1 0.3 s   app-2 0.3 s   app-3 0.3 s   app-4 0.3 s   app-5 0.3 s',
    '             app-6 0.3 s   app-7 0.3 s   app-8 0.3 s   app-9 0.3 s',
  ])
})

test('a failed server is shown with its cause, the release that it still serves, and the next step', () => {
  const missing = [{ name: 'ORDERS_URL', servers: ['app-3'] }]
  const lines = format([serving('app-1'), serving('app-2', 400), failed], { missing })
  assert.deepEqual(lines, [
    '  Serving    app-1 0.3 s   app-2 0.4 s',
    '             app-3 failed: The release 9b07d3c5 requires variables that are not\n             set: ORDERS_URL',
    '  2 of 3 servers serve 9b07d3c5; app-3 still serves 4f1c9a2e.',
    '  Set ORDERS_URL on app-3; servers retry automatically. To roll back:\n  waypost release:rollback 4f1c9a2e',
  ])
})

test('servers that fail for the same reason are named together', () => {
  const [one, other] = ['app-3:3000', 'app-3:3001']
  const missing = [{ name: 'ORDERS_URL', servers: [one, other] }]
  assert.deepEqual(
    format([serving('app-1'), { ...failed, name: one }, { ...failed, name: other, ms: 500 }], { missing }),
    [
      '  Serving    app-1 0.3 s',
      '             app-3:3000, app-3:3001 failed: The release 9b07d3c5 requires\n             variables that are not set: ORDERS_URL',
      '  1 of 3 servers serves 9b07d3c5; app-3:3000, app-3:3001 still serve 4f1c9a2e.',
      '  Set ORDERS_URL on app-3:3000 and app-3:3001; servers retry automatically. To\n  roll back: waypost release:rollback 4f1c9a2e',
    ],
  )
})

test('the way back names the target again, on a line that can be copied', () => {
  const targetFlags = ['--url', 'https://api.example.com']
  const [last] = format([failed], { targetFlags }).slice(-1)
  assert.equal(
    last,
    '  Servers retry automatically. To roll back:\n  waypost release:rollback 4f1c9a2e --url https://api.example.com',
  )
})

test('without a previous release no rollback is suggested', () => {
  assert.deepEqual(format([{ ...failed, release: null, error: 'Broken' }], { before: undefined }), [
    '  Serving    app-3 failed: Broken',
    '  0 of 1 server serves 9b07d3c5; app-3 still serves none.',
    '  Servers retry automatically.',
  ])
})

test('a late server is not reported as a failure without waiting', () => {
  const late: Outcome = { ...failed, state: 'late', error: null }
  assert.deepEqual(format([serving('app-1'), late], { waitMs: 0 }), [
    '  Serving    app-1 0.3 s   app-3 not ready yet',
    '  1 of 2 servers serves 9b07d3c5; app-3 still serves 4f1c9a2e.',
  ])
  assert.match(format([late]).join('\n'), /app-3 not ready within 30 s/)
})

test('says that no server is running', () => {
  assert.deepEqual(format([]), ['  Serving    no server is running; start one with waypost serve'])
})

test('texts of a server cannot move the cursor', () => {
  const text = format([{ ...failed, name: 'a\u001B[2Jb', error: 'x\ny\u202Ez' }]).join('\n')
  assert.doesNotMatch(text, /[\p{Cf}\p{Bidi_Control}]|x\ny/u)
  assert.ok(!text.includes('\u001B'))
})
