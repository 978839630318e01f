import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, openSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { checkout, cleanEnvironment, runShared } from '../support/cli.ts'
import { isLong } from '../support/forms.ts'

const fixture = path.join(import.meta.dirname, 'fixture')
const start = path.join(fixture, 'start.ts')
const launcher = [path.join(checkout, 'bin/cli/launch.ts'), fixture]
const run = (words: readonly string[]) =>
  runShared({ words, cwd: fixture, env: cleanEnvironment(), input: '' }, launcher)

interface Expected {
  readonly status: number
  readonly stdout?: string | RegExp
  readonly stderr?: string | RegExp
}

const behaviours: Record<string, [words: string[], expected: Expected]> = {
  'without arguments shows help': [
    [],
    { status: 0, stdout: /EXAMPLES[^]+COMMANDS\n[^]+greet {2}Greet somebody/, stderr: '' },
  ],
  'results go to stdout, the rest to stderr': [
    ['greet', 'Ann', '--loud'],
    { status: 0, stdout: 'HELLO ANN\n', stderr: 'greeting ...\n' },
  ],
  '--json prints what the command returns and nothing else': [
    ['greet', 'Ann', '--json'],
    { status: 0, stdout: '{"greeting":"Hello Ann","interactive":false}\n' },
  ],
  'global flags are allowed before the command': [
    ['--no-color', '--verbose', 'greet', 'Ann'],
    { status: 0, stdout: 'Hello Ann\n' },
  ],
  'help of a command leads with its examples': [
    ['greet', '--help'],
    {
      status: 0,
      stdout:
        /^Greet somebody\n\nEXAMPLES\n {2}\$ waypost greet Ann --loud\n\nUSAGE\n {2}\$ waypost greet NAME \[flags\]\n/,
    },
  ],
  '--help wins over wrong arguments': [['greet', '--nonsense', '--help'], { status: 0, stdout: /^Greet somebody\n/ }],
  'help names the command behind it': [['help', 'greet'], { status: 0, stdout: /^Greet somebody\n/ }],
  'help of an unknown command is wrong usage': [
    ['help', 'gret'],
    {
      status: 2,
      stdout: '',
      stderr: 'Error: Unknown command "gret"\n  Did you mean waypost greet? waypost --help lists the commands.\n',
    },
  ],
  'a mistyped command is wrong usage and names the nearest': [
    ['gret', 'Ann'],
    {
      status: 2,
      stdout: '',
      stderr: 'Error: Unknown command "gret"\n  Did you mean waypost greet? waypost --help lists the commands.\n',
    },
  ],
  'a command below a topic is found with a space too, by name only': [
    ['box', 'open'],
    { status: 2, stderr: 'Error: Unknown command "box open"\n  Did you mean waypost box:open?\n' },
  ],
  'a topic alone lists its commands on stderr': [
    ['box'],
    { status: 2, stdout: '', stderr: /^Boxes\n[^]+COMMANDS\n {2}box:open {2}Open a box\n/ },
  ],
  'help of a topic goes to stdout': [['box', '--help'], { status: 0, stdout: /box:open {2}Open a box/, stderr: '' }],
  'a topic without a command does not exist': [['empty'], { status: 2, stderr: /^Error: Unknown command "empty"\n/ }],
  'a flag instead of a command is wrong usage': [['--port'], { status: 2, stderr: /^Error: Unknown flag "--port"\n/ }],
  'a mistyped flag is wrong usage and names the nearest': [
    ['greet', 'Ann', '--lod'],
    {
      status: 2,
      stdout: '',
      stderr: 'Error: Unknown flag "--lod"\n  Did you mean --loud? waypost greet --help lists the flags.\n',
    },
  ],
  'a missing argument is wrong usage': [
    ['greet'],
    { status: 2, stderr: 'Error: Missing argument NAME\n  See waypost greet --help.\n' },
  ],
  'an extra argument is wrong usage': [
    ['greet', 'Ann', 'Bob'],
    { status: 2, stderr: /^Error: Unexpected argument "Bob"\n/ },
  ],
  'a value that does not match is wrong usage': [
    ['greet', 'Ann', '--times', 'x'],
    { status: 2, stderr: /^Error: --times: Expected an integer but received: x\n/ },
  ],
  'a flag without its value is wrong usage': [
    ['greet', 'Ann', '--times'],
    { status: 2, stderr: /^Error: Flag --times expects a value\n/ },
  ],
  'wrong usage is data with --json': [
    ['greet', '--json'],
    {
      status: 2,
      stdout:
        '{"error":{"code":"WP_CLI_USAGE","message":"Missing argument NAME","hint":"See waypost greet --help."}}\n',
    },
  ],
  'a user error shows what to do, without a stack': [
    ['fail', 'user'],
    { status: 1, stdout: '', stderr: 'Error: The box "red" is full\n  Empty it first.\n' },
  ],
  'a user error has its code with --verbose, and no stack: no code of the user threw it': [
    ['fail', 'user', '--verbose'],
    { status: 1, stdout: '', stderr: 'Error: The box "red" is full\n  Empty it first.\n\nWP_FIXTURE_FULL\n' },
  ],
  'an error of another system names its cause': [
    ['fail', 'external'],
    { status: 1, stderr: 'Error: The box "red" does not answer\n  connect ECONNREFUSED 127.0.0.1:1\n' },
  ],
  'an error is data with --json': [
    ['fail', 'user', '--json'],
    {
      status: 1,
      stdout: '{"error":{"code":"WP_FIXTURE_FULL","message":"The box \\"red\\" is full","hint":"Empty it first."}}\n',
      stderr: '',
    },
  ],
  'a bug shows no stack by default': [
    ['fail', 'bug'],
    { status: 1, stderr: 'Error: boxes is undefined\n  Run the command again with --verbose to see the stack.\n' },
  ],
  'a bug shows its stack with --verbose': [
    ['fail', 'bug', '--verbose'],
    { status: 1, stderr: /TypeError: boxes is undefined\n {4}at Fail\.run .+fail\.ts/ },
  ],
  'a command may choose its exit code': [['fail', 'exit'], { status: 7, stdout: '', stderr: '' }],
}

for (const [name, [words, expected]] of Object.entries(behaviours)) {
  test(name, async () => {
    const { code, stdout, stderr } = await run(words)
    for (const [actual, wanted] of [
      [stdout, expected.stdout],
      [stderr, expected.stderr],
    ] as const) {
      if (wanted instanceof RegExp) assert.match(actual, wanted)
      else if (wanted !== undefined) assert.equal(actual, wanted)
    }
    assert.equal(code, expected.status, stderr)
  })
}

const unwritable = '/dev/full'
const skip = existsSync(unwritable) ? false : `there is no ${unwritable}`
for (const words of [['greet', 'Ann', '--json'], ['--help'], ['greet', 'Ann'], ['greet', '--help']]) {
  // In CI, a result and a help: the others are written by the same code.
  const isOmitted = !isLong && !words.some((word) => word.startsWith('--') && words.length !== 2) && 'long form'
  test(`output that cannot be written is a failure: ${words.join(' ')}`, { skip: skip || isOmitted }, () => {
    const full = openSync(unwritable, 'w')
    const { status, stderr } = spawnSync(process.execPath, [start, ...words], {
      encoding: 'utf8',
      stdio: ['ignore', full, 'pipe'],
    })
    closeSync(full)
    assert.equal(status, 1)
    assert.match(stderr, /Cannot write the output: ENOSPC[^\n]*\n {2}Free some disk space[^\n]*\n$/)
  })
}

test('SIGINT ends a command with 130, SIGTERM with 143', async () => {
  assert.deepEqual(await stopAfterStart(['wait'], 'SIGINT'), { code: 130, output: 'waiting\n' })
  assert.deepEqual(await stopAfterStart(['wait'], 'SIGTERM'), { code: 143, output: 'waiting\n' })
})

test('a command that handles signals receives them', async () => {
  assert.deepEqual(await stopAfterStart(['wait', '--orderly'], 'SIGINT'), {
    code: 130,
    output: 'waiting\nended in order\n',
  })
  assert.deepEqual(await stopAfterStart(['wait', '--orderly'], 'SIGTERM'), {
    code: 0,
    output: 'waiting\nended in order\n',
  })
})

test('a second SIGINT ends a command that does not end', async () => {
  assert.deepEqual(await stopAfterStart(['wait', '--stubborn'], 'SIGINT', 2), { code: 130, output: 'waiting\n' })
})

test('of SIGTERM one that comes a second later ends it too', async () => {
  const { code } = await stopAfterStart(['wait', '--stubborn'], 'SIGTERM', 8)
  assert.equal(code, 143)
})

async function stopAfterStart(
  words: string[],
  signal: NodeJS.Signals,
  times = 1,
): Promise<{ code: number; output: string }> {
  const child = spawn(process.execPath, [start, ...words], { stdio: ['ignore', 'pipe', 'inherit'] })
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (text) => (output += text))
  const closed = once(child, 'close')
  await once(child.stdout, 'data')
  for (let i = 0; i < times; i++) {
    child.kill(signal)
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
  const [code] = await closed
  return { code, output }
}
