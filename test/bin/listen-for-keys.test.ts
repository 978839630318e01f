import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import { test } from 'node:test'
import { listenForKeys, readsTerminal } from '../../bin/cli/listen-for-keys.ts'

/** A fake terminal. */
class Terminal extends EventEmitter {
  readonly isTTY = true
  isRaw = false
  isPaused = true
  setRawMode(isRaw: boolean): void {
    this.isRaw = isRaw
  }
  setEncoding(): void {}
  resume(): void {
    this.isPaused = false
  }
  pause(): void {
    this.isPaused = true
  }
  type(text: string): void {
    this.emit('data', text)
  }
}

function listen() {
  const terminal = new Terminal()
  const done: string[] = []
  const stop = listenForKeys(terminal, {
    actions: { r: () => done.push('reload'), '\r': () => done.push('space') },
    send: (signal) => done.push(signal),
  })
  return { terminal, done, stop }
}

test('a key runs its action, lowercase or uppercase; other keys and pasted text do nothing', () => {
  const { terminal, done, stop } = listen()
  for (const text of ['r', 'R', '\r', 'x', 'error', '\u001B[A', '']) terminal.type(text)
  stop()
  assert.deepEqual(done, ['reload', 'reload', 'space'])
})

test('Ctrl-C and Ctrl-\\ are the signals that the terminal would have sent', () => {
  const { terminal, done, stop } = listen()
  terminal.type('\u0003')
  terminal.type('\u001C')
  stop()
  assert.deepEqual(done, ['SIGINT', 'SIGQUIT'])
})

test('the terminal is raw while keys are read, and is restored at the end in every case', () => {
  const exits = process.listenerCount('exit')
  const { terminal, done, stop } = listen()
  assert.deepEqual([terminal.isRaw, terminal.isPaused], [true, false])
  stop()
  stop()
  assert.deepEqual([terminal.isRaw, terminal.isPaused, terminal.listenerCount('data')], [false, true, 0])
  assert.equal(process.listenerCount('exit'), exits)
  terminal.type('r')
  assert.deepEqual(done, [])
})

test('Ctrl-Z restores the terminal before the process stops', () => {
  const { terminal, done, stop } = listen()
  terminal.type('\u001A')
  assert.deepEqual([terminal.isRaw, terminal.isPaused, done], [false, true, ['SIGTSTP']])
  stop()
})

test('a closed terminal is not an error', () => {
  const { terminal, stop } = listen()
  terminal.setRawMode = () => {
    throw new Error('EIO')
  }
  stop()
  assert.equal(terminal.listenerCount('data'), 0)
})

test('a process is in the foreground if its group is that of the terminal', () => {
  assert.equal(readsTerminal('7 (a (b) c) S 1 7 7 34816 7 4194304 0'), true)
  assert.equal(readsTerminal('7 (node) S 1 7 7 34816 9 4194304 0'), false)
})
