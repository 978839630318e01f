import assert from 'node:assert/strict'
import { mock, test } from 'node:test'
import { ProgressLine } from '../../bin/cli/progress-line.ts'

const clear = '\r\u001B[2K'
const rest = '\u001B[K'

function open(isTTY: boolean) {
  const stream = { isTTY, columns: 20, text: '', write: (text: string) => (stream.text += text) }
  const state = { done: 0 }
  mock.timers.enable({ apis: ['setTimeout', 'setInterval'] })
  const line = new ProgressLine(stream as never, () => `  ${state.done} of many things to do`)
  return { stream, state, line }
}

test('is overwritten in place while the state changes, and removed at the end', () => {
  const { stream, state, line } = open(true)
  try {
    mock.timers.tick(300)
    mock.timers.tick(1000)
    state.done = 7
    mock.timers.tick(100)
    assert.equal(stream.text, `\r  0 of many things ${rest}\r  7 of many things ${rest}`)
    line.end()
    mock.timers.tick(1000)
    assert.ok(stream.text.endsWith(`things ${rest}${clear}`))
  } finally {
    mock.timers.reset()
  }
})

test('permanent lines are printed above it', () => {
  const { stream, line } = open(true)
  try {
    mock.timers.tick(300)
    line.above(() => stream.write('kept\n'))
    mock.timers.tick(100)
    line.end()
    assert.equal(stream.text, `\r  0 of many things ${rest}${clear}kept\n\r  0 of many things ${rest}${clear}`)
  } finally {
    mock.timers.reset()
  }
})

test('short work and pipes show no progress', () => {
  for (const [isTTY, ms] of [
    [true, 299],
    [false, 5000],
  ] as const) {
    const { stream, line } = open(isTTY)
    try {
      mock.timers.tick(ms)
      line.end()
      assert.equal(stream.text, '')
    } finally {
      mock.timers.reset()
    }
  }
})
