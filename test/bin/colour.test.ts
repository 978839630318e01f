import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import path from 'node:path'
import { test } from 'node:test'
import { isLong } from '../support/forms.ts'

const start = path.join(import.meta.dirname, 'fixture/start.ts')
// `script` of util-linux runs a command on a pseudo terminal.
const skip = spawnSync('script', ['--version']).status === 0 ? false : 'there is no script(1) to make a terminal'
const escape = '\u001b'
const red = `${escape}[31mError${escape}[39m: `

test('on a terminal the word Error is red', { skip }, () => {
  assert.ok(onTerminal('gret').startsWith(red))
})

test('on a terminal the headings of the help are bold', { skip }, () => {
  assert.ok(onTerminal('greet --help').includes(`${escape}[1mEXAMPLES${escape}[22m`))
})

for (const [name, words, env] of [
  ['NO_COLOR', 'gret', { NO_COLOR: '1' }],
  ['TERM=dumb', 'gret', { TERM: 'dumb' }],
  ['--no-color', 'gret --no-color', {}],
  ['NO_COLOR, in the help', 'greet --help', { NO_COLOR: '1' }],
  ['TERM=dumb, in the help', 'greet --help', { TERM: 'dumb' }],
  ['--no-color, in the help', 'greet --help --no-color', {}],
] as const) {
  // In CI, an error with each: the help asks the same function.
  const isOmitted = !isLong && name.endsWith(' help') && 'long form'
  test(`${name} turns colour off`, { skip: skip || isOmitted }, () => {
    assert.ok(!onTerminal(words, env).includes(escape))
  })
}

test('output to a pipe has no colour', () => {
  const { stderr } = spawnSync(process.execPath, [start, 'gret'], { encoding: 'utf8' })
  assert.match(stderr, /^Error: /)
})

function onTerminal(words: string, env: NodeJS.ProcessEnv = {}): string {
  const { NO_COLOR, FORCE_COLOR, CI, ...rest } = process.env
  const { stdout } = spawnSync('script', ['-qec', `${process.execPath} ${start} ${words}`, '/dev/null'], {
    encoding: 'utf8',
    env: { ...rest, TERM: 'xterm-256color', ...env },
  })
  return stdout
}

test('FORCE_COLOR also colours a pipe, unless NO_COLOR is set', () => {
  const { NO_COLOR, FORCE_COLOR, ...rest } = process.env
  const say = (env: NodeJS.ProcessEnv) =>
    spawnSync(process.execPath, [start, 'gret'], { encoding: 'utf8', env: { ...rest, ...env } }).stderr
  assert.ok(say({ FORCE_COLOR: '1' }).startsWith(red))
  assert.match(say({ FORCE_COLOR: '0' }), /^Error: /)
  const both = say({ FORCE_COLOR: '1', NO_COLOR: '1' })
  assert.match(both, /^Error: /m) // after a warning of Node
  assert.ok(!both.includes(escape))
})
