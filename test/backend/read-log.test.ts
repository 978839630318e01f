import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readLine } from '../../src/backend/ui/components/read-log.ts'

test('a line of a log is read, also if its fields are called like its parts', () => {
  const line = { level: 30, time: 1_795_000_000_000, msg: 'hello', left: 'a field' }
  const { level, time, msg, left } = line
  assert.deepEqual(readLine(JSON.stringify(line)), { level, time, msg, fields: { left } })
  assert.equal(readLine('{"left":5}'), 5)
  for (const other of ['no JSON', 'null', '5', '{"level":"high","time":1}', '{"level":30,"time":1e300}'])
    assert.equal(readLine(other), undefined, other)
})
