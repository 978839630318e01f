import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import path from 'node:path'
import { test } from 'node:test'

const launcher = path.join(import.meta.dirname, '../../bin/run.js')

test('--version takes at most five times as long as a Node that does nothing', () => {
  const nothing: number[] = []
  const asked: number[] = []
  for (let i = 0; i < 20; i++) {
    nothing.push(time(['-e', '0']))
    asked.push(time([launcher, '--version']))
  }
  assert.ok(median(asked) <= 5 * median(nothing), `${median(asked)} ms against ${median(nothing)} ms`)
})

function time(args: readonly string[]): number {
  const start = performance.now()
  spawnSync(process.execPath, args)
  return performance.now() - start
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!
}
