import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pino } from 'pino'
import { openLogKeeper } from '../../src/host/run-log.ts'

test('of a long log, the first and the last lines are kept, and long lines without their fields', async () => {
  let written = 0
  const logger = pino({ level: 'warn' }, { write: () => void written++ })
  const keepLog = await openLogKeeper(new Set(['a secret value']))
  const kept = keepLog(logger)
  assert.equal(kept.text(), null)
  kept.logger.debug('not kept')
  for (let n = 0; n < 1000; n++) kept.logger.info({ n }, 'a secret value')
  kept.logger.warn({ text: 'x'.repeat(5000) }, 'long')
  const text = kept.text()!
  assert.ok(text.length <= 16_100, String(text.length))
  const lines = text.split('\n').map((line) => JSON.parse(line) as Record<string, unknown>)
  assert.deepEqual([lines[0]!['n'], lines[0]!['msg']], [0, '[redacted]'])
  assert.deepEqual([lines.at(-2)!['n'], lines.at(-1)!['msg'], lines.at(-1)!['text']], [999, 'long', undefined])
  const gap = lines.find(({ left }) => left !== undefined)!
  assert.equal(lines.length - 1 + Number(gap['left']), 1001)
  assert.equal(written, 1, 'the log of the process has its own level')
})

test('a long line is kept, whatever its fields are called and wherever a secret was', async () => {
  const keepLog = await openLogKeeper(new Set(['12345678']))
  const kept = keepLog(pino({ level: 'silent' }))
  const text = 'x'.repeat(5000)
  kept.logger.info({ pin: 12345678, text }, 'a number')
  kept.logger.info({ level: 'y'.repeat(20_000), time: null }, 'a level')
  const lines = kept.text()!.split('\n')
  assert.equal(lines.length, 2)
  assert.doesNotMatch(lines.join(''), /12345678|yyy/)
  for (const line of lines) assert.deepEqual(Object.keys(JSON.parse(line)), ['level', 'time', 'msg', 'cut'])
})
