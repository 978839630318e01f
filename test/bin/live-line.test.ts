import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LiveLine } from '../../bin/cli/live-line.ts'

function makeStream(isTTY: boolean) {
  const stream = {
    isTTY,
    text: '',
    hasColors: () => true,
    get bytesWritten() {
      return stream.text.length
    },
    write(text: string) {
      stream.text += text
      return true
    },
  }
  return stream
}

function open(isTTY: boolean) {
  const out = makeStream(isTTY)
  const err = makeStream(isTTY)
  return { out, err, live: new LiveLine(out as never, err as never) }
}

const rewind = '\u001B[1A\r\u001B[2K'
const show = (times: number) => `a ×${times}`

test('a repeated event replaces its line and is counted', () => {
  const { out, live } = open(true)
  for (let i = 0; i < 3; i++) live.write('a', show)
  live.write('b', () => 'b')
  live.write('a', show)
  assert.equal(out.text, `a ×1\n${rewind}a ×2\n${rewind}a ×3\nb\na ×1\n`)
})

test('no line is replaced after other output to either stream, or if a line has two rows', () => {
  const { out, err, live } = open(true)
  live.write('a', show)
  out.write('from an action\n')
  live.write('a', show)
  err.write('from another\n')
  live.write('a', show)
  live.write('two', () => 'one\ntwo')
  live.write('two', () => 'one\ntwo')
  live.write(undefined, show)
  live.write(undefined, show)
  assert.ok(!out.text.includes(rewind))
})

test('no line is replaced without a terminal', () => {
  const { out, live } = open(false)
  live.write('a', () => 'a')
  live.write('a', () => 'a')
  assert.equal(out.text, 'a\na\n')
})
